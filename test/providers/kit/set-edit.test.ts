import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { derivedId } from '../../../src/providers/kit/rrsets/record-set.js';
import { SetEdit } from '../../../src/providers/kit/rrsets/set-edit.js';

const zone = { id: 'z', name: 'example.com' };

describe('a set that is edited', () => {
  it('enables a disabled value when the same value is created', () => {
    const after = dnsRecord({ host: 'www', type: 'A', value: '192.0.2.1' }, zone.name);
    const member = { remoteId: derivedId(after), rdata: '192.0.2.1', enabled: false };
    const edit = new SetEdit(zone, [{ host: 'www', type: 'A', line: 'default', ttl: after.ttl, members: [member] }]);
    const [outcome] = edit.take([{ op: 'create', after }]);
    assert.equal(outcome?.ok, true);
    const members = edit.changed().flatMap(({ set }) => set.members);
    assert.deepEqual(
      members.map(({ rdata, enabled }) => [rdata, enabled]),
      [['192.0.2.1', true]],
    );
  });
});
