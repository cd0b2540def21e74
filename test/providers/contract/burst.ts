import assert from 'node:assert/strict';
import type { Change } from '../../../src/providers/provider.js';
import type { Answer, Handler } from '../../support/vendor.js';
import type { Bench } from './bench.js';

const CHANGES = 200;
/** changes of a list */
const LIST = 20;
/** the window of a limit, as it is scaled down */
const WINDOW_S = 0.2;
/** Requests that a window lets through: more where the vendor lets very few, which would only take longer. */
const LEAST = 20;
/** requests that a window lets through at most: fewer where the vendor lets fewer through */
const MOST = 40;

/**
 * The declared limit, in a window so short that the burst ends soon, is kept by what stands before the stand-in: what
 * is beyond it gets the vendor's answer. Its window is a little shorter, since requests take their time on the way.
 */
function limitedTo(requests: number, beyond: Answer, count: { refused: number; most: number }) {
  const begun: number[] = [];
  return (real: Handler): Handler =>
    async (request) => {
      const now = performance.now();
      while (begun.length && (begun[0] as number) <= now - WINDOW_S * 800) begun.shift();
      // as if another client of the account had used the window up, once in the middle of it
      const other = count.refused === 0 && begun.length > requests / 2;
      if (other || begun.length >= requests) {
        count.refused++;
        return { ...beyond, injected: true };
      }
      begun.push(now);
      count.most = Math.max(count.most, begun.length);
      return real(request);
    };
}

/** The documented limit is honoured without anybody's help: a burst ends with all applied, none twice. */
export function burst(bench: Bench): void {
  bench.faulty(`a burst of ${CHANGES} changes beyond the limit ends with all applied, none twice`, async (standIn) => {
    const { definition, connect, provider } = bench.target;
    const requests = Math.min(MOST, Math.max(LEAST, definition.limits.requests));
    const limits = { requests, perSeconds: WINDOW_S, more: [], concurrency: definition.limits.concurrency };
    const limited = connect ? connect({ ...definition, limits }) : provider;
    const beyond = { ...(bench.target.limited ?? { status: 429, body: 'Too Many Requests' }) };
    beyond.headers = { ...beyond.headers, 'retry-after': '1' };

    const records = Array.from({ length: CHANGES }, (_, i) => bench.a(`burst${i}`, `192.0.2.${(i % 250) + 1}`));
    const lists = Array.from({ length: CHANGES / LIST }, (_, i) => records.slice(i * LIST, (i + 1) * LIST));
    const count = { refused: 0, most: 0 };
    await bench.through(standIn, limitedTo(requests, beyond, count), async () => {
      const write = async (list: typeof records) => {
        const outcomes = await limited.apply(
          bench.zone,
          list.map((after): Change => ({ op: 'create', after })),
        );
        for (const outcome of outcomes)
          assert.ok(outcome.ok, outcome.ok ? '' : `${outcome.error.kind}: ${outcome.error.message}`);
      };
      // whom the lock of the zone keeps apart do not write at once
      if (definition.capabilities.replaces === 'zone') for (const list of lists) await write(list);
      else await Promise.all(lists.map(write));
    });
    const there = (await bench.list()).filter((r) => /^burst\d+$/.test(r.host));
    const key = ({ host, value }: { host: string; value: string }) => `${host} ${value}`;
    assert.deepEqual(there.map(key).sort(), records.map(key).sort());
    assert.ok(count.most > 0);
    for (let i = 0; i < there.length; i += LIST) await bench.clear(there.slice(i, i + LIST));
  });
}
