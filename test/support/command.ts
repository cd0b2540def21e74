import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** The command as it is built. */
export const COMMAND = join(import.meta.dirname, '../../packages/cli/dist/zoneward.js');

/** How a command ended, and what it said. */
export interface Ended {
  exit: number | null;
  out: string;
  err: string;
}

/** Runs a program. @param interruptAt text on standard error at which it gets a SIGINT */
export function runProgram(
  [program = '', ...args]: string[],
  env: Record<string, string>,
  { input = '', interruptAt, cwd }: { input?: string; interruptAt?: string; cwd?: string } = {},
): Promise<Ended> {
  const { PATH } = process.env;
  const child = spawn(program, args, { env: { PATH, ...env }, ...(cwd ? { cwd } : {}) });
  const ended: Ended = { exit: null, out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    ended.out += chunk;
  });
  let interrupted = false;
  child.stderr.on('data', (chunk) => {
    ended.err += chunk;
    if (interrupted || !interruptAt || !ended.err.includes(interruptAt)) return;
    interrupted = true;
    child.kill('SIGINT');
  });
  // a program that reads nothing may be gone before
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (exit) => resolve({ ...ended, exit })));
}
