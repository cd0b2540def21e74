// A temporary instance of the built service for the tour and the benchmark: its own data directory, a free loopback
// port, and nothing of the caller's environment but PATH.
//   TOUR_SERVICE=<folder>    an unpacked release to start instead of this checkout
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ENTRY = join(process.env.TOUR_SERVICE ?? dirname(import.meta.dirname), 'dist/zoneward.cjs');
const OWN = { MALLOC_ARENA_MAX: '2', HOST: '127.0.0.1', PORT: '0', DRAIN_MS: '0' };
const START_MS = 90_000;
const STOP_MS = 10_000;

/** @returns {Promise<{url: string, pid: number, dataDir: string, log(): string, stop(): Promise<void>}>} */
export async function startThrowaway(env = {}, nodeArgs = []) {
  const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-'));
  const { PATH } = process.env;
  const child = spawn(process.execPath, [...nodeArgs, ENTRY], {
    cwd: dataDir, // without a .env file
    // with the heaps that `npm start` and the image give it
    env: { ...OWN, PATH, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  // a caller that fails before its `finally` leaves nobody behind
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-20_000);
    });
  }
  const stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
    process.off('exit', kill);
    rmSync(dataDir, { recursive: true, force: true });
  };
  // PORT=0 lets the system choose; the port is read from the log
  for (const deadline = Date.now() + START_MS; ; await new Promise((resolve) => setTimeout(resolve, 25))) {
    const port = /"port":(\d+),.*"msg":"listening"/.exec(output)?.[1];
    if (port) return { url: `http://127.0.0.1:${port}`, pid: child.pid, dataDir, log: () => output, stop };
    if (child.exitCode === null && child.signalCode === null && Date.now() < deadline) continue;
    await stop();
    throw new Error(`the service did not start:\n${output}`);
  }
}
