import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { route53 } from '../../../src/providers/route53/declaration.js';
import { type Answer, connectInPlace, connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startRoute53 } from './stand-in.js';

/** The same without the limit of 5 requests a second, which only makes a test wait. */
const fast = { ...route53, limits: { ...route53.limits, requests: 1000 } };
const connect = (standIn: StandIn, id = 'AKID', definition = fast): DnsProvider =>
  connectTo(definition, { access_key_id: id, secret_access_key: 'a-secret-key', endpoint: standIn.url });
const zone = { id: 'Z1', name: 'contract.example' };

const throttled: Answer = {
  status: 400,
  body: '<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>',
};

providerContract('Route 53 (stand-in)', async () => {
  const standIn = await startRoute53();
  standIn.most.sets = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'WRONG'),
    connect: (definition) => connect(standIn, 'AKID', definition),
    limited: throttled,
    setPages: (length) => {
      standIn.most.sets = length === 'long' ? 300 : 2;
    },
    ...{ definition: route53, zone, standIn, pageSize: 2, stop: standIn.stop },
    cannot: { 'an unknown field of a value survives': 'no JSON: tried below' },
  };
});

describe('Route 53', () => {
  const vendor = standInFor(startRoute53, connect);

  it('calls the host of the partition, signs for its region, and shows the token of a session', async () => {
    for (const [partition, host, region] of [
      ['aws', 'route53.amazonaws.com', 'us-east-1'],
      ['aws-cn', 'route53.amazonaws.com.cn', 'cn-northwest-1'],
      ['aws-us-gov', 'route53.us-gov.amazonaws.com', 'us-gov-west-1'],
    ] as const) {
      const credentials = {
        access_key_id: 'AKID',
        secret_access_key: 'a-secret-key',
        session_token: 'a-token',
        partition,
      };
      const { provider, origins } = connectInPlace(fast, credentials, vendor.standIn);
      assert.ok((await provider.listZones()).length);
      assert.deepEqual([...origins], [`https://${host}`]);
      const { headers } = vendor.standIn.requests.at(-1) as { headers: Record<string, unknown> };
      assert.match(`${headers.authorization}`, new RegExp(`/${region}/route53/aws4_request.*x-amz-security-token`));
      assert.equal(headers['x-amz-security-token'], 'a-token');
    }
    await vendor.provider.check();
    assert.ok(!('x-amz-security-token' in (vendor.standIn.requests.at(-1)?.headers ?? {})));
  });

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'WRONG').check(), { kind: 'auth', message: /security token/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'Z9', name: 'x.example' }), { kind: 'not_found' });
  });

  it('shows aliases and routed sets read-only, and leaves them alone', async () => {
    const name = 'special.contract.example.';
    const routed = '<SetIdentifier>eu</SetIdentifier><Weight>10</Weight>';
    const alias = '<AliasTarget><HostedZoneId>Z2</HostedZoneId><DNSName>lb.example.net.</DNSName></AliasTarget>';
    for (const [type, value, more, shown] of [
      ['A', '192.0.2.1', routed, '192.0.2.1 of set "eu"'],
      // a text would be read as one, whatever stands after it
      ['TXT', '"a text"', routed, '"a text" of set "eu"'],
      ['CNAME', 'a.example.net.', routed, 'a.example.net. of set "eu"'],
      ['A', null, alias, 'ALIAS lb.example.net.'],
      ['A', null, routed + alias, 'ALIAS lb.example.net. of set "eu"'],
    ] as const) {
      vendor.standIn.sets.set(`${name} ${type}`, { name, type, ttl: '60', values: value ? [value] : [], more });
      const found = (await vendor.provider.listRecords(zone)).filter((r) => r.host === 'special');
      assert.deepEqual(
        found.map((r) => [r.type, r.readOnly, r.value]),
        [[type, true, shown]],
      );
      const after = dnsRecord({ host: 'special', type, value: type === 'A' ? '192.0.2.2' : 'other' }, zone.name);
      const before = found[0] as RemoteRecord;
      for (const change of [
        { op: 'create', after },
        { op: 'update', before, after },
        { op: 'delete', before },
      ] as const) {
        const [outcome] = await vendor.provider.apply(zone, [change]);
        assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected', change.op);
      }
      assert.ok(vendor.standIn.sets.delete(`${name} ${type}`));
    }
  });

  it('tells private zones from public ones, of which it finds those', async () => {
    vendor.standIn.zones.unshift({ id: 'ZP', hidden: true });
    assert.deepEqual(await vendor.provider.listZones(), [{ ...zone, id: 'ZP', private: true }, zone]);
    assert.deepEqual(await vendor.provider.findZone?.(zone.name), zone);
    vendor.standIn.zones.shift();
  });

  it('gives back the elements of a set that it does not know', async () => {
    const [name, more] = ['more.contract.example.', '<HealthCheckId>h1</HealthCheckId>'];
    vendor.standIn.sets.set(`${name} A`, { name, type: 'A', ttl: '60', values: ['192.0.2.1', '192.0.2.2'], more });
    const held = async (value: string) =>
      (await vendor.provider.listRecords(zone)).find((r) => r.host === 'more' && r.value === value) as RemoteRecord;
    const before = await held('192.0.2.1');
    const after = dnsRecord({ host: 'more', type: 'A', value: '192.0.2.3', ttl: 60 }, zone.name);
    await vendor.provider.apply(zone, [{ op: 'update', before, after }]);
    const now = vendor.standIn.sets.get(`${name} A`);
    assert.deepEqual([now?.more, now?.values], [more, ['192.0.2.3', '192.0.2.2']]);
    // a deletion has to name what is there, element by element
    await vendor.provider.apply(zone, [
      { op: 'delete', before: await held('192.0.2.2') },
      { op: 'delete', before: await held('192.0.2.3') },
    ]);
    assert.equal(vendor.standIn.sets.has(`${name} A`), false);
  });

  it('does not write over what another writer made since it was read', async () => {
    const { handler } = vendor.standIn;
    const [name, ttl] = ['raced.contract.example.', '300'];
    const put = (type: string, values: string[]) =>
      vendor.standIn.sets.set(`${name} ${type}`, { name, type, ttl, values });
    const between = (type: string, values: string[] | null) => {
      vendor.standIn.handler = (request) => {
        if (request.method !== 'POST') return handler(request);
        vendor.standIn.handler = handler;
        if (values) put(type, values);
        else vendor.standIn.sets.delete(`${name} ${type}`);
        return handler(request);
      };
    };
    const a = (value: string) => dnsRecord({ host: 'raced', type: 'A', value, ttl: 300 }, zone.name);
    const values = () => vendor.standIn.sets.get(`${name} A`)?.values;
    // it is there already
    between('A', ['192.0.2.99']);
    assert.ok((await vendor.provider.apply(zone, [{ op: 'create', after: a('192.0.2.1') }]))[0]?.ok);
    assert.deepEqual(values(), ['192.0.2.99', '192.0.2.1']);
    const one = async (value: string) =>
      (await vendor.provider.listRecords(zone)).find((r) => r.value === value) as RemoteRecord;
    // it holds other values
    const before = await one('192.0.2.1');
    between('A', ['192.0.2.99', '192.0.2.1', '192.0.2.98']);
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'update', before, after: a('192.0.2.2') }]);
    assert.ok(outcome?.ok);
    assert.deepEqual(values(), ['192.0.2.99', '192.0.2.2', '192.0.2.98']);
    // it is gone
    const gone = await one('192.0.2.2');
    between('A', null);
    assert.ok((await vendor.provider.apply(zone, [{ op: 'delete', before: gone }]))[0]?.ok);
    assert.equal(values(), undefined);
  });

  it('changes the name servers of the zone, which are never taken out', async () => {
    const before = (await vendor.provider.listRecords(zone)).find((r) => r.type === 'NS') as RemoteRecord;
    const after = dnsRecord({ host: '@', type: 'NS', value: before.value, ttl: 3600 }, zone.name);
    assert.ok((await vendor.provider.apply(zone, [{ op: 'update', before, after }]))[0]?.ok);
    const [now] = (await vendor.provider.listRecords(zone)).filter((r) => r.type === 'NS') as [RemoteRecord];
    assert.equal(now.ttl, 3600);
    await vendor.provider.apply(zone, [{ op: 'update', before: now, after: { ...after, ttl: before.ttl } }]);
  });

  it('waits when it asks too often, which is a status of 400', async () => {
    const { handler } = vendor.standIn;
    let refused = 0;
    vendor.standIn.handler = (request) => (refused++ === 0 ? throttled : handler(request));
    assert.ok((await vendor.provider.listRecords(zone)).length > 0);
    assert.equal(refused, 2);
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const open = '<ListResourceRecordSetsResponse>';
    for (const body of [
      open,
      `${open}</ListResourceRecordSetsResponse>`,
      `${open}<ResourceRecordSets/></ListResourceRecordSetsResponse>`,
    ]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, body);
    }
    vendor.standIn.handler = handler;
  });
});
