import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * What a name server on loopback answers, asked with `dig +short`: lines of rdata in presentation form.
 * @param name absolute, final dot optional
 */
export async function dig(port: number, name: string, type: string): Promise<string[]> {
  const target = ['@127.0.0.1', '-p', String(port), '-q', `${name.replace(/\.$/, '')}.`, type];
  const { stdout } = await run('dig', [...target, '+short', '+norecurse', '+time=2', '+tries=3']);
  return stdout.split('\n').filter((line) => line !== '');
}
