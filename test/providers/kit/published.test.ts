import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from '@jest/globals';
import { published } from '../../../src/providers/kit/records/published.js';
import { type Outcome, ProviderError } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const refused = new ProviderError('rejected', 'no', false);

describe('writes that are published', () => {
  const none = { ok: false, error: refused, tried: true } as const;
  const some = { ok: true, remoteId: 'r1' } as const;

  it('are published once a list, and not when nothing was written', async () => {
    let calls = 0;
    const publish = async () => calls++;
    const of = (...outcomes: Outcome[]) =>
      published({ apply: async () => outcomes, listRecords: async () => [] }, publish);
    assert.deepEqual(await of(some, none).apply(zone, []), [some, none]);
    assert.equal(calls, 1);
    assert.deepEqual(await of(none).apply(zone, []), [none]);
    assert.equal(calls, 1);
    const maybe = { ...none, error: new ProviderError('unavailable', 'no answer', true) };
    const last = of(maybe);
    await last.apply(zone, []);
    assert.equal(calls, 2);
    // all is there: a list needs no other one
    await last.listRecords(zone);
    assert.equal(calls, 2);
  });

  it('that come while another list is being published wait for the next time', async () => {
    const ends: (() => void)[] = [];
    const provider = published(
      { apply: async () => [some], listRecords: async () => [] },
      () => new Promise<void>((resolve) => ends.push(resolve)),
    );
    const first = provider.apply(zone, []);
    await nextTurn();
    const second = provider.apply(zone, []);
    await nextTurn();
    ends[0]?.();
    await first;
    // the second is not in the refresh of the first
    const listing = provider.listRecords(zone);
    await nextTurn();
    assert.equal(ends.length, 3);
    for (const end of ends) end();
    await Promise.all([second, listing]);
  });

  it('have failed when they are not published, and no list says otherwise before they are', async () => {
    let works = false;
    const provider = published({ apply: async () => [some, none], listRecords: async () => [] }, () =>
      works ? Promise.resolve() : Promise.reject(refused),
    );
    const outcomes = await provider.apply(zone, []);
    await assert.rejects(provider.listRecords(zone), refused);
    // another process knows nothing of it: who decides by a list says so
    await assert.rejects(provider.listRecords({ id: 'other', name: 'other.example' }, { settles: true }), refused);
    assert.deepEqual(await provider.listRecords({ id: 'other', name: 'other.example' }), []);
    works = true;
    assert.deepEqual(await provider.listRecords(zone), []);
    assert.equal(outcomes[1], none);
    const [first] = outcomes;
    assert.ok(first && !first.ok && first.tried && first.error.mayHaveApplied);
    assert.match(first.error.message, /did not put it into DNS: no/);
  });
});
