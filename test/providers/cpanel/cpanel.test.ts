import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { cpanel } from '../../../src/providers/cpanel/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startCpanel } from './stand-in.js';

/** The same without the limit of requests a second, which only makes a test wait. */
const fast = { ...cpanel, limits: { ...cpanel.limits, requests: 1000 } };
const connect = (standIn: StandIn, token = 'a-token'): DnsProvider =>
  connectTo(fast, { url: `${standIn.url}/`, username: 'ada', token });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('cPanel (stand-in)', async () => {
  const standIn = await startCpanel();
  return {
    provider: connect(standIn),
    ...{ definition: fast, zone, standIn },
    stranger: connect(standIn, 'wrong'),
    cannot: {
      'an unknown field of a value survives':
        'an edit names the parts of a line, and its zone file has no other (API reference)',
    },
    stop: standIn.stop,
  };
});

describe('cPanel', () => {
  const vendor = standInFor(startCpanel, connect);
  beforeEach(() => {
    vendor.standIn.lines.splice(2);
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const at = async (host: string) => (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);
  const sent = () =>
    vendor.standIn.requests
      .filter((r) => r.method === 'POST')
      .map((r) => {
        const form = new URLSearchParams(`${r.body}`);
        return Object.fromEntries(
          ['add', 'edit', 'remove'].map((key) => [key, form.getAll(key).map((s) => JSON.parse(s))]),
        );
      });

  it('says in its words what is refused, whatever the status', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Access denied/ });
    const gone = { id: 'x.example', name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(gone), { kind: 'not_found', message: /do not control/ });
  });

  it('lists domains that have zones of their own', async () => {
    assert.deepEqual(
      (await vendor.provider.listZones()).map(({ name }) => name),
      ['contract.example', 'addon.example', 'parked.example'],
    );
  });

  it('writes the lines that change, and no other, while the serial is the one that was read', async () => {
    vendor.standIn.lines.push(
      { dname: 'www', record_type: 'TXT', ttl: 600, data: ['one ', 'text'] },
      { dname: 'www', record_type: 'TXT', ttl: 300, data: ['goes'] },
      { dname: 'www', record_type: 'TXT', ttl: 300, data: ['stays'] },
      { dname: 'www', record_type: 'MX', ttl: 300, data: ['10', 'mail'] },
    );
    const found = await at('www');
    assert.deepEqual(
      found.map((r) => [r.type, r.value, r.priority, r.ttl]),
      [
        ['TXT', 'one text', null, 600],
        ['TXT', 'goes', null, 300],
        ['TXT', 'stays', null, 300],
        ['MX', 'mail.contract.example', 10, 300],
      ],
    );
    const [text, goes] = found as [RemoteRecord, RemoteRecord];
    const outcomes = await vendor.provider.apply(zone, [
      { op: 'update', before: text, after: { ...text, value: 'another "one"' } },
      { op: 'delete', before: goes },
      { op: 'create', after: record('CAA', '0 issue "ca.example.net"') },
    ]);
    assert.ok(outcomes.every(({ ok }) => ok));
    const dname = 'www.contract.example.';
    assert.deepEqual(sent(), [
      {
        add: [{ dname, ttl: 300, record_type: 'CAA', data: ['0', 'issue', 'ca.example.net'] }],
        edit: [{ line_index: 4, dname, ttl: 600, record_type: 'TXT', data: ['another "one"'] }],
        remove: [5],
      },
    ]);
  });

  it('removes every line that says the same', async () => {
    const line = { dname: 'www', record_type: 'A', ttl: 300, data: ['192.0.2.1'] };
    vendor.standIn.lines.push(line, { ...line, dname: 'www.contract.example.' });
    const [before] = (await at('www')) as [RemoteRecord];
    assert.ok((await one({ op: 'delete', before })).ok);
    assert.deepEqual(await at('www'), []);
  });

  it('reads once more where another one was faster', async () => {
    const { handler } = vendor.standIn;
    let first = true;
    vendor.standIn.handler = (request) => {
      if (request.method === 'POST' && first) {
        first = false;
        vendor.standIn.lines.push({ dname: 'www', record_type: 'A', ttl: 300, data: ['192.0.2.9'] });
        (vendor.standIn.lines[0]?.data as string[])[2] = '2026020200';
      }
      return handler(request);
    };
    assert.ok((await one({ op: 'create', after: record('A', '192.0.2.1') })).ok);
    vendor.standIn.handler = handler;
    assert.deepEqual((await at('www')).map((r) => r.value).sort(), ['192.0.2.1', '192.0.2.9']);
  });

  it('shows what it cannot read, and keeps it', async () => {
    vendor.standIn.lines.push({ dname: 'www', record_type: 'A', ttl: 300, data: ['none'] });
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected');
    assert.ok((await one({ op: 'create', after: record('TXT', 'beside') })).ok);
    assert.deepEqual(
      (await at('www')).map((r) => [r.value, r.readOnly]),
      [
        ['none', true],
        ['beside', false],
      ],
    );
  });

  it('shows a line that is not understood as it came, and takes words in others for what they are', async () => {
    const { handler } = vendor.standIn;
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const line = {
      ...{ type: 'record', line_index: 9, record_type: 'A', ttl: 300 },
      ...{ dname_b64: base64('www'), data_b64: [base64('192.0.2.1')] },
    };
    const text = { ...line, line_index: 8, dname_b64: base64('null'), record_type: 'TXT' };
    const odd = [
      { ...line, data_b64: [{ form: 'of next year' }] },
      { ...line, data_b64: undefined },
      { ...line, dname_b64: undefined },
      { ...line, record_type: undefined },
    ];
    for (const one of odd) {
      vendor.standIn.handler = () => ({
        body: { status: 1, data: [{ ...text, data_b64: [base64('undefined is null')] }, one] },
      });
      const [fine, shown] = await vendor.provider.listRecords(zone);
      assert.deepEqual([fine?.host, fine?.value, fine?.readOnly], ['null', 'undefined is null', false]);
      assert.ok(shown?.readOnly && shown.readOnlyReason);
      assert.equal(shown.host, one.dname_b64 ? 'www' : '@');
      assert.ok(shown.value.includes(one.data_b64?.[0] === line.data_b64[0] ? (line.data_b64[0] as string) : 'www'));
    }
    for (const one of [null, {}]) {
      vendor.standIn.handler = () => ({ body: { status: 1, data: [line, one] } });
      const [fine, shown] = await vendor.provider.listRecords(zone);
      assert.deepEqual([fine?.readOnly, shown?.readOnly, shown?.value], [false, true, JSON.stringify(one)]);
    }
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of [undefined, {}, { status: 1, data: {} }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });
});
