import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { netcup } from '../../../src/providers/netcup/declaration.js';
import type { Change, DnsProvider } from '../../../src/providers/provider.js';
import { connectTo, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type NetcupRecord, startNetcup } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...netcup, limits: { ...netcup.limits, requests: 100_000 } };
const connect = (endpoint: string, more: Record<string, string> = {}): DnsProvider =>
  connectTo(fast, {
    ...{ customer_number: '12345', api_key: 'a-key', api_password: 'a-password', domains: 'contract.example' },
    ...{ endpoint, ...more },
  });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('netcup (stand-in)', async () => {
  const standIn = await startNetcup();
  const provider = connect(standIn.endpoint);
  await provider.check();
  return {
    ...{ provider, definition: netcup, zone, stranger: connect(standIn.endpoint, { api_password: 'wrong' }) },
    // one TTL for the zone; what is refused is compared by its words below
    ttls: [86400, 86400],
    refuses: ({ type, value }) => type === 'TXT' && value === '',
    stop: standIn.stop,
  };
});

describe('netcup', () => {
  const vendor = standInFor(startNetcup);
  let provider: DnsProvider;
  beforeEach(() => {
    provider = connect(vendor.standIn.endpoint);
    Object.assign(vendor.standIn.world, { records: [], logins: 0, keeps: (records: NetcupRecord[]) => records });
    vendor.standIn.requests.length = 0;
  });
  const create = (type: string, value: string, more = {}): Change => ({
    op: 'create',
    after: dnsRecord({ host: 'www', type, value, ttl: 86400, ...more }, zone.name),
  });
  const sent = () =>
    vendor.standIn.requests
      .map(({ body }) => body as { action: string; param: { dnsrecordset?: { dnsrecords: object[] } } })
      .filter(({ action }) => action === 'updateDnsRecords')
      .map(({ param }) => param.dnsrecordset?.dnsrecords);

  it('says in its words what is refused, all with a status of 200', async () => {
    await assert.rejects(connect(vendor.standIn.endpoint, { api_password: 'wrong' }).check(), {
      ...{ kind: 'auth', message: /Login failed.*\(code 5020\)/ },
    });
    await assert.rejects(connect(vendor.standIn.endpoint, { api_key: 'other' }).listRecords(zone), { kind: 'auth' });
    assert.equal(vendor.standIn.requests.length, 2, 'a password that is refused is not tried again');
    await assert.rejects(provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
    const { handler } = vendor.standIn;
    for (const body of ['', '{}', '<html>', '{"status":"success","statuscode":2000,"responsedata":{}}']) {
      vendor.standIn.handler = (request) =>
        JSON.stringify(request.body).includes('login') ? handler(request) : { body };
      await assert.rejects(provider.listRecords(zone), { kind: 'unavailable' }, body);
      await assert.rejects(provider.listZones(), { kind: 'unavailable' }, body);
    }
    const words = 'More than 180 requests per minute. Please wait and retry later.';
    const limited = { status: 'error', statuscode: 4013, shortmessage: 'Limit', longmessage: words, responsedata: '' };
    let refused = 0;
    vendor.standIn.handler = (request) => (refused++ ? handler(request) : { body: limited });
    await connect(vendor.standIn.endpoint).check();
    vendor.standIn.handler = handler;
  });

  it('logs in once, also when many calls need it at once, and anew when the session has ended', async () => {
    await Promise.all([provider.listRecords(zone), provider.listZones(), provider.listRecords(zone)]);
    assert.equal(vendor.standIn.world.logins, 1);
    vendor.standIn.world.sessions = [];
    const [outcome] = await provider.apply(zone, [create('A', '192.0.2.1')]);
    assert.ok(outcome?.ok);
    assert.equal(vendor.standIn.world.logins, 2);
  });

  it('has the zones that the account names, or that a reseller may list', async () => {
    assert.deepEqual(await provider.findZone?.(zone.name), zone);
    assert.equal(await provider.findZone?.('x.example'), null);
    await assert.rejects(connect(vendor.standIn.endpoint, { domains: `${zone.name} x.example` }).listZones(), {
      kind: 'not_found',
    });
    await assert.rejects(connect(vendor.standIn.endpoint, { domains: '' }).listZones(), { message: /Only resellers/ });
  });

  it('tells that the TTL is that of the zone', async () => {
    const [outcome] = await provider.apply(zone, [create('A', '192.0.2.1', { ttl: 60 })]);
    assert.equal(outcome?.ok && outcome.held?.ttl, 86400);
    assert.deepEqual(sent(), [
      [{ hostname: 'www', type: 'A', priority: '0', destination: '192.0.2.1', deleterecord: false }],
    ]);
  });

  it('reads SRV in both forms, the zone as a target, and what it does not write read-only', async () => {
    const record = (id: string, type: string, destination: string, priority = '0'): NetcupRecord => ({
      ...{ id, hostname: '@', type, priority, destination },
    });
    vendor.standIn.world.records = [
      record('1', 'SRV', '10 5 5060 sip.example.net'),
      record('2', 'SRV', '5 5061 sip.example.net', '20'),
      { ...record('3', 'CNAME', '@'), hostname: 'www' },
      record('4', 'MX', 'mail.example.net', '10'),
      record('5', 'TLSA', '3 1 1 abcd'),
      record('6', 'NS', 'root-dns.netcup.net'),
    ];
    assert.deepEqual(
      (await provider.listRecords(zone)).map((r) => [r.remoteId, r.value, r.priority, r.readOnly]),
      [
        ['1', '5 5060 sip.example.net', 10, false],
        ['2', '5 5061 sip.example.net', 20, false],
        ['3', 'contract.example', null, false],
        ['4', 'mail.example.net', 10, false],
        ['5', '3 1 1 abcd', null, true],
        ['6', 'root-dns.netcup.net', null, true],
      ],
    );
  });

  it('writes a list in one call, and does not believe a yes', async () => {
    const made = await provider.apply(zone, [create('A', '192.0.2.1'), create('A', '192.0.2.2'), create('TXT', 'x')]);
    assert.deepEqual(
      sent().map((list) => list?.length),
      [3],
    );
    const ids = new Set(made.map((o) => o.ok && o.remoteId));
    assert.deepEqual(ids, new Set(vendor.standIn.world.records.map(({ id }) => id)));
    vendor.standIn.world.keeps = (records) => records.filter(({ type }) => type !== 'CAA');
    const [lost] = await provider.apply(zone, [create('CAA', '0 issue "ca.example.net"')]);
    assert.ok(lost && !lost.ok && lost.error.kind === 'rejected' && lost.error.mayHaveApplied);
  });

  it('refuses an empty text before anything is written', async () => {
    const [outcome] = await provider.apply(zone, [create('TXT', '')]);
    assert.ok(outcome && !outcome.ok && !outcome.tried);
    assert.equal(vendor.standIn.requests.length, 0);
  });
});
