import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Change, RemoteRecord } from '../../../src/providers/provider.js';
import { ultradns } from '../../../src/providers/ultradns/declaration.js';
import { noFixtures, sampleAnswer } from '../../support/fixtures.js';
import { itUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startUltradns } from './stand-in.js';

const connect = (standIn: StandIn, password = 'secret', definition = ultradns) =>
  connectTo(definition, { username: 'joe', password, endpoint: standIn.url });
const zone = { id: 'contract.example.', name: 'contract.example' };

providerContract('UltraDNS (stand-in)', async () => {
  const standIn = await startUltradns();
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'secret', definition),
    values: { TXT: [{ value: 'v=spf1 -all' }, { value: 'changed; and more' }] },
    refuses: ({ type, value }) => type === 'TXT' && !/^(?! )[ !#-[\]-~]+(?<! )$/.test(value),
    ...{ definition: ultradns, zone, standIn, stop: standIn.stop },
  };
});

describe('UltraDNS', () => {
  const vendor = standInFor(startUltradns, connect);
  beforeEach(() => {
    vendor.standIn.sets.splice(2);
    vendor.standIn.requests.length = 0;
  });
  const record = (value: string, more = {}) =>
    dnsRecord({ host: 'www', type: 'A', value, ttl: 300, ...more }, zone.name);
  const apply = async (...changes: Change[]) => {
    const outcomes = await vendor.provider.apply(zone, changes);
    assert.ok(outcomes.every(({ ok }) => ok));
  };
  const at = async (host: string) =>
    (await vendor.provider.listRecords(zone)).filter((r) => r.host === host) as [RemoteRecord, ...RemoteRecord[]];
  const sent = () => vendor.standIn.requests.findLast(({ method }) => method !== 'GET');

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Invalid username/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example.', name: 'x.example' }), {
      ...{ kind: 'not_found', message: /Zone does not exist/ },
    });
  });

  it('fetches another token when the one it has is refused', async () => {
    await vendor.provider.check();
    vendor.standIn.tokens.now = 7;
    await vendor.provider.check();
    assert.equal(vendor.standIn.tokens.now, 8);
  });

  it('takes an account without zones for an empty one', async () => {
    const all = vendor.standIn.zones.splice(0);
    assert.deepEqual(await vendor.provider.listZones(), []);
    await vendor.provider.check();
    vendor.standIn.zones.push(...all);
  });

  it('takes a list of zones without its next page for one that is cut', async () => {
    const { handler } = vendor.standIn;
    const first = { cursorInfo: { next: '1' }, zones: [{ properties: { name: 'a.example.' } }] };
    const absent = { status: 404, body: [{ errorCode: 70002, errorMessage: 'Data not found.' }] };
    vendor.standIn.handler = (request) => {
      if (request.path !== '/v3/zones') return handler(request);
      return request.query.cursor ? absent : { body: first };
    };
    await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });

  it('makes a pool of several addresses, and sends back the one that is there', async () => {
    await apply({ op: 'create', after: record('192.0.2.1') });
    const rest = { ownerName: 'www.contract.example.', rrtype: 'A', ttl: 300 };
    assert.deepEqual(sent()?.body, { ...rest, rdata: ['192.0.2.1'] });
    await apply({ op: 'create', after: record('192.0.2.2') });
    const [set] = vendor.standIn.sets.slice(2);
    assert.equal(set?.profile?.order, 'ROUND_ROBIN');
    const profile = {
      '@context': 'http://schemas.ultradns.com/RDPool.jsonschema',
      order: 'FIXED',
      description: 'mine',
    };
    Object.assign(set as object, { profile });
    await apply({ op: 'create', after: record('192.0.2.3') });
    const { method, path, body } = sent() ?? {};
    assert.deepEqual([method, path], ['PUT', '/v2/zones/contract.example./rrsets/A/www.contract.example.']);
    assert.deepEqual(body, { ...rest, rdata: ['192.0.2.1', '192.0.2.2', '192.0.2.3'], profile });
  });

  it('sends back what else a set has', async () => {
    await apply({ op: 'create', after: record('192.0.2.1') });
    Object.assign(vendor.standIn.sets[2] as object, { of_next_year: 1 });
    await apply({ op: 'create', after: record('192.0.2.2') });
    assert.deepEqual((sent()?.body as { of_next_year?: number } | undefined)?.of_next_year, 1);
  });

  it('shows pools that choose read-only, and leaves them alone', async () => {
    const profile = { '@context': 'http://schemas.ultradns.com/DirPool.jsonschema' };
    vendor.standIn.sets.push({ ownerName: 'www.contract.example.', rrtype: 'A (1)', rdata: ['192.0.2.1'], profile });
    assert.deepEqual(
      (await at('www')).map((r) => [r.value, r.readOnly]),
      [['192.0.2.1', true]],
    );
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after: record('192.0.2.2') }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && /is a pool/.test(outcome.error.message));
    assert.equal(sent(), undefined);
  });

  it('sends texts raw, and back as they were', async () => {
    const name = { ownerName: 'www.contract.example.', rrtype: 'TXT (16)', ttl: 300 };
    vendor.standIn.sets.push({ ...name, rdata: ['"in quotes"'] });
    await apply({ op: 'create', after: record('v=spf1 -all', { type: 'TXT' }) });
    assert.deepEqual((sent()?.body as { rdata?: string[] } | undefined)?.rdata, ['"in quotes"', 'v=spf1 -all']);
    assert.deepEqual(
      (await at('www')).map(({ value }) => value),
      ['in quotes', 'v=spf1 -all'],
    );
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    await vendor.provider.check();
    const rrSets = [{ ownerName: 'a.contract.example.', rrtype: 'A (1)', ttl: 300, rdata: ['192.0.2.1'] }];
    for (const body of [undefined, {}, { rrSets }, { rrSets, resultInfo: { totalCount: 2 } }, { zones: [] }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });

  itUnless(noFixtures)('reads what others were answered', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      const page = request.query.offset === '0' ? 1 : 2;
      return request.path.includes('/rrsets')
        ? { body: sampleAnswer('ultradns', `ultra-records-page-${page}`) }
        : handler(request);
    };
    const all = await vendor.provider.listRecords({ id: 'octodns1.test.', name: 'octodns1.test' });
    const shown = (type: string) => all.filter((r) => r.type === type).map((r) => [r.host, r.value, r.readOnly]);
    assert.deepEqual(shown('SRV'), [['_srv._tcp', '20 443 cname.octodns1.test', false]]);
    assert.deepEqual(shown('CAA'), [['caa', '0 issue "symantec.com"', false]]);
    assert.deepEqual(shown('APEXALIAS'), [['@', 'www.octodns1.test.', true]]);
    assert.equal(shown('A').filter(([, , readOnly]) => readOnly).length, 3);
    vendor.standIn.handler = handler;
  });
});
