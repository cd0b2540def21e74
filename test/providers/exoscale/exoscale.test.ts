import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { exoscale } from '../../../src/providers/exoscale/declaration.js';
import { signExoscale } from '../../../src/providers/kit/signing/exoscale.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startExoscale, ZONE } from './stand-in.js';

const fast = { ...exoscale, limits: { ...exoscale.limits, requests: 1000 } };
const connect = (standIn: StandIn, api_secret = 'a-secret'): DnsProvider =>
  connectTo(fast, { api_key: 'a-key', api_secret, endpoint: standIn.url });
const zone = { id: ZONE.id, name: 'contract.example' };

providerContract('Exoscale (stand-in)', async () => {
  const standIn = await startExoscale();
  return {
    ...{ provider: connect(standIn), definition: fast, zone, standIn, stranger: connect(standIn, 'wrong') },
    refuses: ({ type, value }) => type === 'TXT' && (value === '' || value.split('"').length % 2 === 0),
    cannot: {
      'NS at @': 'Exoscale keeps them itself (dnscontrol 2022)',
      'MX with the root': 'refused by Exoscale (dnscontrol 2022)',
      'SRV with the root': 'refused by Exoscale (dnscontrol 2020)',
      'CAA with flag 128 and parameters': 'Exoscale takes no blanks there (dnscontrol 2022)',
    },
    stop: standIn.stop,
  };
});

describe('Exoscale', () => {
  const vendor = standInFor(startExoscale, connect);
  beforeEach(() => {
    vendor.standIn.records.splice(1);
    vendor.standIn.zones.splice(1);
    Object.assign(vendor.standIn.world, { looks: 0, ends: { state: 'success' } });
    vendor.standIn.requests.length = 0;
  });

  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    return outcome?.ok ? 'ok' : `${outcome?.error.kind} ${outcome?.error.mayHaveApplied}: ${outcome?.error.message}`;
  };
  const at = async (host: string) =>
    (await vendor.provider.listRecords(zone)).filter((r) => r.host === host) as [RemoteRecord, ...RemoteRecord[]];
  const writes = () => vendor.standIn.requests.filter(({ method }) => method !== 'GET');
  const stored = (more: Partial<StoredRecord>): StoredRecord => ({
    ...{ id: 'r1', name: 'www', type: 'A', content: '192.0.2.1', ttl: 300, 'created-at': '2026-01-01', ...more },
  });

  it('signs as the vectors of its own client say', () => {
    const [key, secret] = ['EXOxxxxxxxxxxxxxxxxxxxxxxxx', 'X'.repeat(43)];
    for (const [query, more, signature] of [
      ['', '', 'Ntbq/p0HVmA3Zg1HHY+Lq1vjFGi7HeMrrgXDS5jRNlY='],
      ['?k2=v2&k1=v1', 'signed-query-args=k1;k2,', 'iqOBz13+44L5j0uJclE8hmUhQQcvtCSoPEOXYK6liqY='],
    ]) {
      const url = new URL(`https://api.exoscale.com/v2/zone${query}`);
      const expires = Date.UTC(2077, 0, 1) / 1000;
      const { headers } = signExoscale({ method: 'GET', url, headers: {}, body: undefined }, key, secret, expires);
      const expected = `EXO2-HMAC-SHA256 credential=${key},${more}expires=${expires},signature=${signature}`;
      assert.equal(headers.authorization, expected);
    }
  });

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /request signature/ });
    const missing = { id: 'none', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /Domain not found/ });
    vendor.standIn.records.push(stored({}));
    assert.match(await one({ op: 'create', after: record('CNAME', 'a.example') }), /^rejected false: .*CNAME beside/);
    assert.match(await one({ op: 'create', after: record('NS', 'ns.example', { host: '@' }) }), /^rejected false/);
  });

  it('waits for the end of an operation, and tells how it ended', async () => {
    vendor.standIn.world.looks = 2;
    assert.equal(await one({ op: 'create', after: record('A', '192.0.2.1') }), 'ok');
    assert.equal(vendor.standIn.requests.filter(({ path }) => path.startsWith('/operation/')).length, 2);
    for (const [ends, said] of [
      [{ state: 'failure', reason: 'conflict' }, /^rejected true: .*failure: conflict/],
      [{ state: 'failure', reason: 'not-found' }, /^not_found true/],
      [{ state: 'timeout' }, /^unavailable true/],
    ] as const) {
      vendor.standIn.world.ends = ends;
      assert.match(await one({ op: 'create', after: record('A', '192.0.2.9') }), said);
      vendor.standIn.records.splice(2);
    }
  });

  it('sends of an update what is changed, and what is there now for the rest', async () => {
    vendor.standIn.records.push(stored({ type: 'MX', content: 'mx.example.net', priority: 10 }));
    const [before] = await at('www');
    vendor.standIn.records.splice(1, 1, stored({ type: 'MX', content: 'mx.example.net', priority: 20 }));
    assert.equal(await one({ op: 'update', before, after: { ...before, ttl: 600 } }), 'ok');
    assert.deepEqual(writes().at(-1)?.body, { name: 'www', content: 'mx.example.net', ttl: 600, priority: 20 });
  });

  it('makes no text twice that is there without quotes', async () => {
    vendor.standIn.records.push(stored({ type: 'TXT', content: 'hello' }));
    assert.equal(await one({ op: 'create', after: record('TXT', 'hello') }), 'ok');
    assert.equal(await one({ op: 'create', after: record('TXT', 'hello', { ttl: 600 }) }), 'ok');
    assert.deepEqual(
      (await at('www')).map(({ remoteId, value, ttl }) => [remoteId, value, ttl]),
      [['r1', 'hello', 600]],
    );
    assert.equal(writes().length, 1);
  });

  it('reads texts with quotes or without, and shows what is its own read-only', async () => {
    vendor.standIn.zones.push({ id: 'z2', 'unicode-name': 'bücher.example' });
    const names = (await vendor.provider.listZones()).map(({ name }) => name);
    assert.deepEqual(names, ['contract.example', 'xn--bcher-kva.example']);
    vendor.standIn.records.push(
      stored({ id: 'r1', type: 'TXT', content: 'plain text' }),
      stored({ id: 'r2', type: 'TXT', content: '"quoted" " text"' }),
      stored({ id: 'r3', name: '', type: 'TXT', content: 'ALIAS for lb.example.net' }),
      stored({ id: 'r4', name: '', type: 'NS', content: 'ns2.exoscale.io' }),
      stored({ id: 'r5', name: 'go', type: 'URL', content: 'https://example.net' }),
    );
    const shown = (await vendor.provider.listRecords(zone)).map((r) => [r.host, r.type, r.value, r.readOnly]);
    assert.deepEqual(shown, [
      ['@', 'NS', 'ns1.exoscale.ch', true],
      ['www', 'TXT', 'plain text', false],
      ['www', 'TXT', 'quoted text', false],
      ['@', 'TXT', 'ALIAS for lb.example.net', true],
      ['@', 'NS', 'ns2.exoscale.io', true],
      ['go', 'URL', 'https://example.net', true],
    ]);
  });
});
