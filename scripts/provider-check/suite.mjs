import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** ms in which the suite has to end when it is told to */
const END_MS = 5_000;

/**
 * Runs the contract suite in a process of its own.
 * @param only a pattern of the names of checks, or ''
 * @param onResult called with each result as it comes
 * @returns the end of it, and how to break it off
 */
export function startSuite(root, kind, target, only, onResult) {
  const words = ['--testMatch', '<rootDir>/test/providers/live-check.ts', '--runInBand', '--testTimeout=1200000'];
  if (only) words.push('--testNamePattern', only);
  const reporter = '--reporters=<rootDir>/scripts/provider-check/reporter.cjs';
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...words, reporter], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // it asks for no database
    env: {
      ...process.env,
      ...{ CI: '', TEST_DATABASES: 'sqlite', NO_COLOR: '1', FORCE_COLOR: '0' },
      ...{ CHECK_KIND: kind, CHECK_TARGET: JSON.stringify(target) },
    },
  });
  const notTried = [];
  let [telling, errors] = [false, ''];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    if (line.startsWith('check: ')) onResult(JSON.parse(line.slice(7)));
    else if (/^contract: .*not tried or proved refused:$/.test(line)) telling = true;
    else if (telling && line.startsWith('  ')) notTried.push(line.trim());
    else telling = false;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const read = new Promise((resolve) => lines.once('close', resolve));
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', async (code) => {
      await read;
      resolve({ code, notTried, errors });
    });
  });
  const stop = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), END_MS).unref();
  };
  return { ended, stop };
}
