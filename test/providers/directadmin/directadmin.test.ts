import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { directadmin } from '../../../src/providers/directadmin/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type Line, startDirectadmin } from './stand-in.js';

const connect = (standIn: StandIn, login_key = 'a-login-key'): DnsProvider =>
  connectTo(directadmin, { url: `${standIn.url}/`, user: 'panel-user', login_key });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('DirectAdmin (stand-in)', async () => {
  const standIn = await startDirectadmin();
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'another-key'),
    ...{ definition: directadmin, zone, standIn, stop: standIn.stop },
  };
});

describe('DirectAdmin', () => {
  const vendor = standInFor(startDirectadmin, connect);
  beforeEach(() => {
    vendor.standIn.lines.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (host: string, type: string, value: string, more = {}) =>
    dnsRecord({ host, type, value, ttl: 3600, ...more }, zone.name);
  const line = (type: string, name: string, value: string, ttl = '14400'): Line => ({ type, name, value, ttl });
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const list = () => vendor.provider.listRecords(zone);
  const writes = () =>
    vendor.standIn.requests.flatMap(({ method, body }) =>
      method === 'POST' ? [Object.fromEntries(new URLSearchParams(String(body)))] : [],
    );

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'another-key').check(), { kind: 'auth' });
    const missing = { id: 'none.example', name: 'none.example' };
    const words = /Cannot View Dns Record: Domain does not belong to you/;
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: words });
    const { handler } = vendor.standIn;
    for (const status of [200, 500]) {
      vendor.standIn.handler = (request) =>
        request.method === 'POST' ? { status, body: { error: 'No.', result: 'Read only' } } : handler(request);
      const outcome = await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
      assert.ok(outcome && !outcome.ok);
      assert.deepEqual([outcome.error.kind, outcome.error.mayHaveApplied], ['rejected', false]);
      assert.match(outcome.error.message, /No\.: Read only/);
    }
    vendor.standIn.handler = handler;
  });

  it('keeps rows apart that mean the same and differ, and takes equal ones for one', async () => {
    vendor.standIn.lines.push(
      ...[line('A', 'www', '192.0.2.1', '300'), line('A', 'www', '192.0.2.1', '600'), line('A', 'www', '192.0.2.2')],
      ...[line('A', 'same', '192.0.2.1'), line('A', 'same', '192.0.2.1')],
      ...[line('TXT', 'spf', '"v=spf1 a"'), line('TXT', 'spf', '"v=spf1" " a"')],
    );
    const shown = await list();
    assert.deepEqual(
      shown.map((r) => [r.host, r.value, r.ttl, r.readOnly, /several times/.test(r.readOnlyReason ?? '')]),
      [
        ['www', '192.0.2.1', 300, true, true],
        ['www', '192.0.2.1', 600, true, true],
        ['www', '192.0.2.2', 14400, false, false],
        ['same', '192.0.2.1', 14400, false, false],
        ['spf', 'v=spf1 a', 14400, true, true],
        ['spf', 'v=spf1 a', 14400, true, true],
      ],
    );
    assert.equal(new Set(shown.map((r) => r.remoteId)).size, shown.length);
  });

  it('makes no second line of what is there, and gives it the TTL that is wished', async () => {
    vendor.standIn.lines.push(line('A', 'www', '192.0.2.1'));
    assert.ok((await one({ op: 'create', after: record('www', 'A', '192.0.2.1') }))?.ok);
    assert.deepEqual(vendor.standIn.lines, [line('A', 'www.contract.example.', '192.0.2.1', '3600')]);
  });

  it('sends names with their final dot, texts in quotes, and the target of an MX in a field of its own', async () => {
    const www = record('www', 'CNAME', 'contract.example');
    await one({ op: 'create', after: www });
    await one({ op: 'create', after: record('@', 'MX', 'mx.example.net', { priority: 10 }) });
    await one({ op: 'create', after: record('@', 'TXT', 'say "hi"') });
    const sent = { action: 'add', name: 'contract.example.', ttl: '3600' };
    assert.deepEqual(writes(), [
      { ...sent, type: 'CNAME', name: 'www.contract.example.', value: 'contract.example.' },
      { ...sent, type: 'MX', value: '10', mx_value: 'mx.example.net.' },
      { ...sent, type: 'TXT', value: '"say \\"hi\\""' },
    ]);
  });

  it('reads names as a zone file does, and texts with quotes and without', async () => {
    vendor.standIn.lines.push(
      line('A', 'contract.example.', '192.0.2.1'),
      line('A', 'www', '192.0.2.2'),
      line('CNAME', 'docs.contract.example.', 'www'),
      line('MX', 'contract.example.', '10 mail'),
      line('TXT', '_acme-challenge', 'a-token'),
      line('TXT', 'spf', '"v=spf1 a mx" " -all"', '300'),
      line('TLSA', '_443._tcp', '3 1 1 ab'),
      line('NS', 'sub', 'ns1.example.net.'),
    );
    assert.deepEqual((await list()).map((r) => [r.host, r.type, r.value, r.priority, r.ttl, r.readOnly]).sort(), [
      ['@', 'A', '192.0.2.1', null, 14400, false],
      ['@', 'MX', 'mail.contract.example', 10, 14400, false],
      ['_443._tcp', 'TLSA', '3 1 1 ab', null, 14400, true],
      ['_acme-challenge', 'TXT', 'a-token', null, 14400, false],
      ['docs', 'CNAME', 'www.contract.example', null, 14400, false],
      ['spf', 'TXT', 'v=spf1 a mx -all', null, 300, false],
      ['sub', 'NS', 'ns1.example.net', null, 14400, true],
      ['www', 'A', '192.0.2.2', null, 14400, false],
    ]);
  });

  it('reads an MX of a server that shows its target in the place of the name, and deletes that one', async () => {
    vendor.standIn.lines.push(line('MX', 'contract.example.', '10 mail'));
    const { handler } = vendor.standIn;
    vendor.standIn.handler = ({ query: { full_mx_records: _full, ...query }, ...request }) =>
      handler({ ...request, query });
    const [mx] = await list();
    await one({ op: 'delete', before: mx as RemoteRecord });
    vendor.standIn.handler = handler;
    assert.deepEqual([mx?.host, mx?.priority, mx?.value], ['@', 10, 'mail.contract.example']);
    assert.deepEqual(writes(), [{ action: 'select', delete: 'yes', mxrecs0: 'name=mail&value=10' }]);
  });

  it('names the record that an update is of, keeps its TTL, and changes no other', async () => {
    vendor.standIn.lines.push(line('TXT', 'a', '"50% + 1 & more"', '77'), line('TXT', 'a', '"beside"', '88'));
    const before = (await list()).find(({ ttl }) => ttl === 77) as RemoteRecord;
    // the TTL was changed past the service
    (vendor.standIn.lines[0] as Line).ttl = '99';
    await one({ op: 'update', before, after: { ...before, value: 'new' } });
    assert.equal(writes()[0]?.txtrecs0, 'name=a&value=%2250%25%20%2B%201%20%26%20more%22');
    assert.deepEqual(vendor.standIn.lines, [
      line('TXT', 'a.contract.example.', '"new"', '99'),
      line('TXT', 'a', '"beside"', '88'),
    ]);
  });

  it('names a record itself where the list does not', async () => {
    vendor.standIn.lines.push(line('CAA', 'strict', '0 issue "ca.example.net"'), line('A', 'www', '192.0.2.1'));
    const { handler } = vendor.standIn;
    vendor.standIn.handler = async (request) => {
      const answer = await handler(request);
      const { records } = answer.body as { records?: object[] };
      return records ? { body: { records: records.map((r) => ({ ...r, combined: undefined })) } } : answer;
    };
    const caa = (await list()).find(({ type }) => type === 'CAA') as RemoteRecord;
    assert.ok((await one({ op: 'delete', before: caa }))?.ok);
    vendor.standIn.handler = handler;
    assert.deepEqual(vendor.standIn.lines, [line('A', 'www', '192.0.2.1')]);
  });

  it('deletes lines that mean the same together', async () => {
    vendor.standIn.lines.push(line('A', 'www', '192.0.2.1'), line('A', 'WWW.contract.example.', '192.0.2.1'));
    const [www, ...more] = await list();
    assert.deepEqual(more, []);
    assert.ok((await one({ op: 'delete', before: www as RemoteRecord }))?.ok);
    assert.deepEqual(vendor.standIn.lines, []);
  });

  it('does not believe a success after which the record is not as wished', async () => {
    vendor.standIn.lines.push(line('A', 'www', '192.0.2.1'));
    const [before] = (await list()) as [RemoteRecord];
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.method === 'POST' ? { body: { result: '', success: 'Records Deleted' } } : handler(request);
    for (const change of [
      { op: 'delete', before },
      { op: 'update', before, after: { ...before, value: '192.0.2.2' } },
      { op: 'create', after: { ...before, value: '192.0.2.3' } },
    ] as Change[]) {
      const outcome = await one(change);
      assert.ok(outcome && !outcome.ok, change.op);
      assert.deepEqual([outcome.error.kind, outcome.error.mayHaveApplied], ['rejected', true]);
    }
    vendor.standIn.handler = handler;
  });
});
