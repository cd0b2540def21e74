import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { designate } from '../../../src/providers/designate/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredSet, startDesignate, ZONE } from './stand-in.js';

/** The same without the limit of requests a second, which only makes a test wait. */
const fast = { ...designate, limits: { ...designate.limits, requests: 1000 } };
const APPLICATION = { application_credential_id: 'an-id', application_credential_secret: 'a-secret' };
const connect = (standIn: StandIn, more: Record<string, string> = APPLICATION): DnsProvider =>
  connectTo(fast, { auth_url: `${standIn.url}/identity/v3/`, ...more });
const zone = { id: ZONE.id, name: 'contract.example' };

providerContract('OpenStack Designate (stand-in)', async () => {
  const standIn = await startDesignate();
  standIn.most.page = 3;
  return {
    provider: connect(standIn),
    ...{ definition: fast, zone, standIn },
    stranger: connect(standIn, { ...APPLICATION, application_credential_secret: 'another' }),
    cannot: {
      'NS at @': 'Designate makes the NS of the zone itself (its source 2024)',
      'an unknown field of a value survives': 'a PUT keeps what it does not name (its source 2024)',
    },
    stop: standIn.stop,
  };
});

describe('OpenStack Designate', () => {
  const vendor = standInFor(startDesignate, (standIn) => connect(standIn));
  beforeEach(() => {
    vendor.standIn.sets.splice(2);
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
  const writes = () => vendor.standIn.requests.filter((r) => r.method !== 'GET' && !r.path.endsWith('/auth/tokens'));

  it('says in the words of Keystone and Designate what is refused', async () => {
    const wrong = { ...APPLICATION, application_credential_id: 'other' };
    await assert.rejects(connect(vendor.standIn, wrong).check(), { kind: 'auth', message: /requires authentication/ });
    const gone = { id: ZONE.id.replace(/f$/, '0'), name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(gone), { kind: 'not_found', message: /Could not find Zone/ });
    const ns = record('NS', 'ns9.example.net', { host: '@' });
    const outcome = await one({ op: 'create', after: ns });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /root zone NS/.test(outcome.error.message));
  });

  it('takes a password with a project, and a region; the DNS service is that of the catalogue', async () => {
    const user = { username: 'ada', password: 'a-password', project: 'dns' };
    await connect(vendor.standIn, user).check();
    await connect(vendor.standIn, { ...user, region: 'one' }).check();
    await assert.rejects(connect(vendor.standIn, { ...user, region: 'three' }).check(), {
      ...{ kind: 'auth', message: /has no DNS service there/ },
    });
    await assert.rejects(connect(vendor.standIn, { ...user, project_domain: 'x', project: 'y' }).check(), {
      kind: 'auth',
    });
    const direct = connect(vendor.standIn, {
      ...user,
      region: 'two',
      endpoint: `${vendor.standIn.url}/dns/one/public/v2`,
    });
    assert.equal((await direct.listZones()).length, 1);
  });

  it('keeps its token, and fetches another one when that is refused', async () => {
    const fresh = connect(vendor.standIn);
    await fresh.check();
    await fresh.check();
    vendor.standIn.cloud.tokens.clear();
    await fresh.check();
    assert.equal(vendor.standIn.requests.filter((r) => r.path.endsWith('/auth/tokens')).length, 2);
  });

  it('leaves out zones that are copies or on their way out', async () => {
    assert.deepEqual(await vendor.provider.listZones(), [zone]);
  });

  it('sends of a set that is there what changes, so that its description and its own TTL stay', async () => {
    vendor.standIn.sets.push(
      vendor.standIn.make({ name: 'www.contract.example.', type: 'A', records: ['192.0.2.1'], description: 'ours' }),
    );
    const [before] = (await at('www')) as [RemoteRecord];
    assert.equal(before.ttl, 3600);
    await one({ op: 'update', before, after: { ...before, value: '192.0.2.2' } });
    const [now] = (await at('www')) as [RemoteRecord];
    await one({ op: 'update', before: now, after: { ...now, ttl: 60 } });
    assert.deepEqual(
      writes().map(({ method, body }) => [method, body]),
      [
        ['PUT', { records: ['192.0.2.2'] }],
        ['PUT', { records: ['192.0.2.2'], ttl: 60 }],
      ],
    );
    assert.equal(vendor.standIn.sets[2]?.description, 'ours');
    // a set that is made anew has it, too
    const [old] = (await at('www')) as [RemoteRecord];
    await one({ op: 'update', before: old, after: { ...old, host: 'moved' } });
    assert.equal(vendor.standIn.sets.find(({ name }) => name.startsWith('moved'))?.description, 'ours');
    await one({ op: 'create', after: record('TXT', 'a "b"') });
    const made = { name: 'www.contract.example.', type: 'TXT', ttl: 300, records: ['"a \\"b\\""'] };
    assert.deepEqual(writes().at(-1)?.body, made);
  });

  it('shows the NS of the zone read-only, and takes what is on its way out for gone', async () => {
    vendor.standIn.sets.push(vendor.standIn.make({ name: 'www.contract.example.', type: 'A', action: 'DELETE' }));
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => [r.type, r.host, r.readOnly]),
      [['NS', '@', true]],
    );
  });

  it('shows a set without a part read-only, and needs the TTL of the zone for sets without one of their own', async () => {
    const { handler, make, sets } = vendor.standIn;
    const { ttl: _ttl, ...odd } = make({ name: 'www.contract.example.', type: 'A', records: ['192.0.2.1'] });
    sets.push(odd as StoredSet);
    assert.deepEqual(
      (await at('www')).map((r) => [r.type, r.value, r.readOnly, r.readOnlyReason]),
      [['A', JSON.stringify(odd), true, 'It is not understood here']],
    );
    for (const body of [undefined, {}, { ttl: null }]) {
      vendor.standIn.handler = (request) => (request.path.endsWith(`/zones/${ZONE.id}`) ? { body } : handler(request));
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable', message: /TTL of the zone/ });
    }
    vendor.standIn.handler = handler;
  });

  it('reads once more when a set has gone meanwhile', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'PUT') vendor.standIn.sets.splice(2);
      return handler(request);
    };
    assert.ok((await one({ op: 'create', after: record('A', '192.0.2.2') })).ok);
    vendor.standIn.handler = handler;
    assert.deepEqual(
      (await at('www')).map((r) => r.value),
      ['192.0.2.2'],
    );
  });

  it('takes a list that is cut, and a token without its parts, for an error', async () => {
    const { handler } = vendor.standIn;
    const recordsets = vendor.standIn.sets;
    for (const body of [undefined, {}, { recordsets }, { recordsets, metadata: { total_count: 3 } }]) {
      vendor.standIn.handler = (request) => (request.path.endsWith('/tokens') ? handler(request) : { body });
      await assert.rejects(connect(vendor.standIn).listRecords(zone), { kind: 'unavailable' });
    }
    for (const body of [{}, { token: {} }]) {
      vendor.standIn.handler = () => ({ status: 201, body });
      await assert.rejects(connect(vendor.standIn).check(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });
});
