import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type PlainSet, recordsIn, setsAt } from '../../../src/providers/kit/rrsets/plain-sets.js';

describe('record sets of a server', () => {
  it('are shown as their texts where they cannot be edited, whatever these would mean', async () => {
    const texts = ['"a" of set "eu"', '192.0.2.1'];
    const sets: PlainSet[] = ['TXT', 'A'].map((type, i) => ({
      ...{ name: 'www.example.com.', type, ttl: 60, readOnly: true },
      values: [{ rdata: texts[i] as string }],
    }));
    const shown = await recordsIn(sets, 'example.com');
    assert.deepEqual(
      shown.map((r) => [r.value, r.readOnly, r.host]),
      texts.map((text) => [text, true, 'www']),
    );
    const [set] = await setsAt([{ host: 'www', type: 'TXT' }], sets, 'example.com');
    assert.equal(set?.members[0]?.remoteId, shown[0]?.remoteId);
  });
});
