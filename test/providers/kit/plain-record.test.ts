import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { plainRecord } from '../../../src/providers/kit/records/plain-record.js';

const zone = { id: 'z', name: 'example.com' };

describe('a record of a vendor with ids', () => {
  const read = (type: string, value: string, priority?: number | string | null) => {
    const record = plainRecord({ id: 7, host: 'a', type, value, ttl: '300', priority: priority as never }, zone.name);
    return record && [record.value, record.priority, record.ttl, record.readOnly];
  };

  it('has its priority beside the value or in it, and the root with its dot or without', () => {
    assert.deepEqual(read('MX', 'mx.example.net', 5), ['mx.example.net', 5, 300, false]);
    assert.deepEqual(read('MX', '5 mx.example.net.', 9), ['mx.example.net', 5, 300, false]);
    assert.deepEqual(read('MX', '5 mx.example.net'), ['mx.example.net', 5, 300, false]);
    assert.deepEqual(read('MX', '', 0), ['.', 0, 300, false]);
    assert.deepEqual(read('MX', 'mx.example.net', null), ['mx.example.net', 0, 300, false]);
    assert.deepEqual(read('SRV', '1 5060 sip.example.net', '2'), ['1 5060 sip.example.net', 2, 300, false]);
    assert.deepEqual(read('SRV', '2 1 5060 sip.example.net', 0), ['1 5060 sip.example.net', 2, 300, false]);
    assert.deepEqual(read('CNAME', 'b.example.net', 10), ['b.example.net', null, 300, false]);
    assert.deepEqual(read('TXT', '"quoted" here', 10), ['"quoted" here', null, 300, false]);
  });

  it('is at the apex where its host is empty, has its own fields, and is read-only when either side says so', () => {
    const one = { id: 'x', type: 'A', value: '192.0.2.1', ttl: 60 };
    assert.equal(plainRecord({ ...one, host: '' }, zone.name)?.host, '@');
    assert.equal(plainRecord(one, zone.name)?.host, '@');
    assert.equal(plainRecord({ ...one, name: 'b.example.com.' }, zone.name)?.host, 'b');
    assert.equal(plainRecord({ ...one, name: 'b.example.net' }, zone.name), null);
    const own = plainRecord({ ...one, host: '@' }, zone.name, { enabled: false, line: 'x', readOnly: true });
    assert.deepEqual([own?.remoteId, own?.enabled, own?.line, own?.readOnly], ['x', false, 'x', true]);
    assert.equal(plainRecord({ ...one, type: 'NOVEL' }, zone.name, { readOnly: false })?.readOnly, true);
  });
});
