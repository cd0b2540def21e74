import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { changesOf, wishesOf } from '../../src/doors/powerdns/changes.js';
import { setJson } from '../../src/doors/powerdns/rrsets.js';
import { idOf, nameOfId } from '../../src/doors/powerdns/zone-views.js';
import type { ProviderDefinition } from '../../src/providers/provider.js';
import { providerOf } from '../../src/providers/registry.js';
import { row } from '../support/rows.js';

const place = { definition: providerOf('cloudflare') as ProviderDefinition, zone: 'example.com', defaultTtl: 300 };
const set = (contents: string[], more: object = {}) => ({
  ...{ name: 'www.example.com.', type: 'A', ttl: 300, changetype: 'REPLACE' },
  records: contents.map((content) => ({ content })),
  ...more,
});

describe('changes of a PowerDNS client', () => {
  it('touch no other line, and keep what the client has no word for', async () => {
    const members = [row(1, { proxied: true, weight: 5, extra: '{"a":1}' }), row(2, { proxied: true, weight: 7 })];
    const [wish] = wishesOf(await changesOf(place, [set(['192.0.2.2', '192.0.2.9'])]));
    assert.deepEqual(wish?.key, { host: 'www', type: 'A', line: 'default' });
    const [kept, added] = wish?.choose(members) ?? [];
    assert.deepEqual([kept?.record.weight, kept?.record.proxied], [7, true]);
    assert.deepEqual([added?.record.value, added?.record.proxied], ['192.0.2.9', true]);
    const [first] = wish?.choose([row(1), row(2, { proxied: true })]).toReversed() ?? [];
    assert.equal(first?.record.proxied, false);
  });

  it('take back what is shown and cannot be read, and refuse to make it', async () => {
    const odd = row(3, { type: 'TXT', value: '"\\255"', read_only: true });
    const shown = JSON.parse(setJson('example.com', [odd])) as { records: { content: string }[] };
    const contents = shown.records.map(({ content }) => content);
    assert.deepEqual(contents, ['"\\255"']);
    const pointing = [set(['elsewhere'], { type: 'CNAME' })];
    const [back] = wishesOf(await changesOf(place, pointing));
    assert.equal(back?.choose([row(4, { type: 'CNAME', value: 'elsewhere', read_only: true })]).length, 1);
    assert.throws(() => back?.choose([]), /canonical/);
  });

  it('have the TTL that is sent, and of challenges the nearest that the provider takes', async () => {
    const at = { ...place, definition: providerOf('godaddy') as ProviderDefinition };
    const { minTtl } = at.definition.capabilities;
    const text = { type: 'TXT', ttl: minTtl - 1 };
    const [challenge] = wishesOf(
      await changesOf(at, [set(['"x"'], { ...text, name: '_acme-challenge.example.com.' })]),
    );
    assert.equal(challenge?.choose([])[0]?.record.ttl, minTtl);
    const [other] = wishesOf(await changesOf(at, [set(['"x"'], text)]));
    assert.throws(() => other?.choose([]), /seconds/);
  });

  it('are made in their order, each on what those before it have left', async () => {
    const list = [set(['192.0.2.1'], { changetype: 'PRUNE' }), set(['192.0.2.7'], { changetype: 'EXTEND', ttl: 60 })];
    const [wish] = wishesOf(await changesOf(place, list));
    const values = wish?.choose([row(1), row(2)]).map(({ record }) => [record.value, record.ttl]);
    assert.deepEqual(values, [
      ['192.0.2.2', 300],
      ['192.0.2.7', 300],
    ]);
    const [anew] = wishesOf(await changesOf(place, [{ ...set([]), changetype: 'DELETE' }, set(['192.0.2.2'])]));
    assert.deepEqual(
      anew?.choose([row(1), row(2)]).map(({ record }) => record.value),
      ['192.0.2.2'],
    );
  });

  it('name zones by ids that PowerDNS has', () => {
    assert.equal(idOf('0/25.2.0.192.in-addr.arpa'), '0=2F25.2.0.192.in-addr.arpa.');
    assert.equal(idOf('_x.example.com'), '=5Fx.example.com.');
    for (const name of ['0/25.2.0.192.in-addr.arpa', '_x.example.com']) assert.equal(nameOfId(idOf(name)), `${name}.`);
    assert.equal(nameOfId('example.com'), 'example.com');
  });
});
