import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { route53 } from '../../../src/providers/route53/declaration.js';
import { type Answer, connectTo, type StandIn, standInFor } from '../../support/vendor.js';
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
    ...{ definition: route53, zone, standIn, pageSize: 2, stop: standIn.stop },
  };
});

describe('Route 53', () => {
  const vendor = standInFor(startRoute53, connect);

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
