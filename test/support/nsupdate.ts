import { spawn } from 'node:child_process';

/** A TSIG key, as the service shows it once. */
export interface Key {
  name: string;
  algorithm: string;
  secret: string;
}

/** What a program has printed, and how it ended. */
export interface Ran {
  ok: boolean;
  output: string;
}

/** Runs a program with this input. */
export function run(program: string, args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env } });
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('close', (code) => resolve({ ok: code === 0, output }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** `name:secret` with the algorithm in front, as dig and nsupdate take it. */
export const keyText = ({ name, algorithm, secret }: Key): string => `${algorithm}:${name}:${secret}`;

/**
 * One update by nsupdate.
 * @param lines between `server` and `send`
 * @param args `-v` for TCP
 */
export const nsupdate = (
  port: number,
  key: Key | null,
  lines: readonly string[],
  args: readonly string[] = [],
): Promise<Ran> =>
  run(
    'nsupdate',
    [...(key ? ['-y', keyText(key)] : []), ...args],
    [`server 127.0.0.1 ${port}`, ...lines, 'send', 'answer', ''].join('\n'),
  );

/** What dig prints. */
export const dig = (port: number, key: Key | null, ...question: string[]): Promise<Ran> =>
  run('dig', ['@127.0.0.1', '-p', String(port), '+tries=1', ...(key ? ['-y', keyText(key)] : []), ...question]);
