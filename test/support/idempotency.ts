import assert from 'node:assert/strict';
import type { Failure } from './answers.js';
import type { Answer } from './server.js';
import { refused } from './world.js';

let count = 0;

/** A new key, with the header that it stands in. */
export const key = (): { 'idempotency-key': string } => ({ 'idempotency-key': `key-${++count}` });

/** Whether an answer was given before. */
export const isReplay = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true';

/** What makes an answer the same for its client. */
const gist = ({ status, code, msg, data, headers }: Answer) => ({
  ...{ status, code, msg, data },
  headers: ['location', 'etag', 'content-type', 'content-language'].map((name) => headers.get(name)),
});

/** Asserts that the second answer is the first one, given again. */
export function again(first: Answer, second: Answer): void {
  assert.deepEqual(gist(second), gist(first));
  assert.deepEqual([isReplay(first), isReplay(second)], [false, true]);
  assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'));
}

/** Asserts that a call failed for this reason. @returns the values of its words */
export const because = (answer: Answer, code: number, reason: string): Failure['params'] => {
  const { data } = refused(answer, Number(String(code).slice(0, 3)), code);
  assert.equal(data.reason, reason);
  return data.params;
};
