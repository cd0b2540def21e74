import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { serializePerZone } from '../../../src/providers/kit/records/serialize-per-zone.js';
import type { Change, Outcome } from '../../../src/providers/provider.js';

const [A, B] = ['a.example', 'b.example'].map((name) => ({ id: name, name })) as [Zone, Zone];
type Zone = { id: string; name: string };
const list = (host: string): Change[] => [
  { op: 'create', after: dnsRecord({ host, type: 'A', value: '192.0.2.1' }, A.name) },
];
const soon = () => new Promise((resolve) => setImmediate(resolve));

/** A vendor whose lists take until they are ended. */
function slow() {
  const calls: { name: string; end(): void; fail(error: Error): void }[] = [];
  const apply = serializePerZone(
    (zone, changes) =>
      new Promise<Outcome[]>((resolve, reject) => {
        const [change] = changes;
        const host = change && 'after' in change ? change.after.host : '';
        calls.push({ name: `${host}.${zone.name}`, end: () => resolve([]), fail: reject });
      }),
  );
  return { calls, apply, names: () => calls.map(({ name }) => name) };
}

describe('lists of changes of one zone', () => {
  it('are applied one after another, also after a failure; other zones do not wait', async () => {
    const { calls, apply, names } = slow();
    const [one, two, three] = ['1', '2', '3'].map((host) => apply(A, list(host)));
    const other = apply(B, list('1'));
    assert.deepEqual(names(), ['1.a.example', '1.b.example']);
    calls[0]?.fail(new Error('no'));
    await assert.rejects(one as Promise<unknown>, /no/);
    await soon();
    assert.deepEqual(names().slice(2), ['2.a.example']);
    calls[2]?.end();
    await two;
    await soon();
    assert.deepEqual(names().slice(3), ['3.a.example']);
    for (const call of calls) call.end();
    await Promise.all([three, other]);
    // nobody is there any more
    void apply(A, list('4'));
    assert.deepEqual(names().slice(4), ['4.a.example']);
  });

  it('stop waiting at their deadline, and keep the order of those behind them', async () => {
    const { calls, apply, names } = slow();
    const first = apply(A, list('1'));
    const hasty = apply(A, list('2'), { deadline: performance.now() });
    const last = apply(A, list('3'));
    while (calls.length < 2) await soon();
    assert.deepEqual(names(), ['1.a.example', '2.a.example']);
    calls[1]?.end();
    await hasty;
    await soon();
    assert.equal(calls.length, 2);
    calls[0]?.end();
    await first;
    await soon();
    assert.deepEqual(names().slice(2), ['3.a.example']);
    calls[2]?.end();
    await last;
  });
});
