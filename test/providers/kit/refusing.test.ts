import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord } from '../../../src/dns/record.js';
import { NotBegun } from '../../../src/providers/kit/http/errors.js';
import { refusing } from '../../../src/providers/kit/rrsets/refusing.js';
import type { Change } from '../../../src/providers/provider.js';

describe('changes that a vendor cannot hold', () => {
  const zone = { id: 'z', name: 'example.com' };
  const a = (host: string): DnsRecord => dnsRecord({ host, type: 'A', value: '192.0.2.1' }, zone.name);
  const remote = (host: string) => ({ ...a(host), remoteId: host, readOnly: false });
  const given: string[][] = [];
  const hostOf = (change: Change) => (change.op === 'delete' ? change.before.host : change.after.host);
  const apply = refusing(
    ({ host }) => {
      if (host === 'no') throw new NotBegun('rejected', 'never');
    },
    async (_zone, changes) => {
      given.push(changes.map(hostOf));
      return changes.map((change) => ({ ok: true, remoteId: hostOf(change) }));
    },
  );
  const list: Change[] = [
    { op: 'create', after: a('one') },
    { op: 'update', before: remote('x'), after: a('no') },
    { op: 'delete', before: remote('no') },
  ];
  const words = async (changes: Change[], atomic = false) =>
    (await apply(zone, changes, { atomic })).map((o) => (o.ok ? o.remoteId : `${o.error.message} ${o.tried}`));

  it('fail alone, without being sent', async () => {
    assert.deepEqual(await words(list), ['one', 'never false', 'no']);
    assert.deepEqual(given.splice(0), [['one', 'no']]);
    assert.deepEqual(await words(list.slice(1, 2)), ['never false']);
    assert.deepEqual(given, []);
  });

  it('take a list with them that is atomic', async () => {
    const [one, no, gone] = await words(list, true);
    assert.equal(no, 'never false');
    for (const other of [one, gone]) assert.match(String(other), /^Not tried.*never false$/);
    assert.deepEqual(given, []);
  });
});
