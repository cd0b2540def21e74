import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll } from '@jest/globals';

/** A line of master-file text. */
export interface Line {
  /** Absolute, with final dot. */
  owner: string;
  ttl: number;
  type: string;
  /** Presentation form. */
  rdata: string;
}

/** Parses master-file text as written by dig and named-checkzone. */
export const linesOf = (text: string): Line[] =>
  text.split('\n').flatMap((line) => {
    const [, owner, ttl, type, rdata] = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s*(.*)$/.exec(line) ?? [];
    return owner ? [{ owner, ttl: Number(ttl), type: type as string, rdata: (rdata as string).trim() }] : [];
  });

/** One `dig` process for all questions of a test file: starting one takes thirty times as long as an answer. */
let started: ChildProcessWithoutNullStreams | undefined;
let last: Promise<unknown> = Promise.resolve();

afterAll(async () => {
  if (!started || started.exitCode !== null) return;
  started.stdin.end();
  await once(started, 'exit');
});

/**
 * Queries a name server on loopback with dig.
 * @param name absolute, final dot optional
 * @param sections of the answer, `+answer` for one
 * @throws Error when it does not answer, or neither with the name nor with its absence
 */
export function digLines(port: number, name: string, type: string, ...sections: string[]): Promise<Line[]> {
  const question = ['-p', String(port), '-q', `${name.replace(/\.$/, '')}.`, type, '+noall', ...sections].join(' ');
  const answer = last.then(() => asked(question));
  last = answer.catch(() => undefined);
  return answer;
}

function asked(question: string): Promise<Line[]> {
  started ??= spawn('dig', ['-f', '-']);
  const { stdout, stderr, stdin } = started;
  return new Promise<Line[]>((resolve, reject) => {
    let text = '';
    const end = (finish: () => void) => {
      stdout.off('data', read);
      stderr.off('data', read);
      started?.off('exit', failed);
      finish();
    };
    const failed = () => end(() => reject(new Error(`dig ${question}: ${text}`)));
    const read = (chunk: Buffer) => {
      text += chunk;
      if (/^;; .*no servers could be reached|, status: (?!NOERROR|NXDOMAIN)\w+,/m.test(text)) failed();
      // the last line of dig's statistics
      else if (/^;; MSG SIZE .*\n/m.test(text)) end(() => resolve(linesOf(text)));
    };
    stdout.on('data', read);
    stderr.on('data', read);
    started?.on('exit', failed);
    stdin.write(`@127.0.0.1 ${question} +comments +stats +norecurse +time=2 +tries=3\n`);
  });
}

/** The rdata that a name server on loopback answers, as in `dig +short`. */
export const dig = async (port: number, name: string, type: string): Promise<string[]> =>
  (await digLines(port, name, type, '+answer')).map((line) => line.rdata);
