import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { startDigitalOcean } from '../providers/digitalocean/stand-in.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import type { StandIn } from '../support/vendor.js';
import { addAccount, addDomain, cacheLines, done, ended, startWorld, until, type World } from '../support/world.js';

const create = (host: string, more: object = {}) => ({ op: 'create', host, type: 'A', value: '192.0.2.1', ...more });

/** Sends a list. @returns what became of each change */
async function send(
  admin: Client,
  domain: number,
  changes: object[],
  atomic: boolean,
): Promise<(string | undefined)[]> {
  const { outcomes } = ended(await admin.post(`/api/domains/${domain}/records/batch`, { changes, atomic }));
  return (outcomes ?? []).map((outcome) => (outcome.ok ? 'ok' : outcome.state));
}

describeUnless(noPowerdns)('lists of which the provider refuses a change, where it carries them out whole', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    world.proxy.fault = async (request, forward) =>
      request.method === 'PATCH' && request.body.includes('refused') ? { status: 422, body: '{}' } : forward();
  });
  afterAll(() => world?.stop());

  it('an atomic one leaves nothing', async () => {
    const before = await cacheLines(world.admin, world.domain);
    const list = [create('one'), create('refused'), create('two')];
    assert.deepEqual(await send(world.admin, world.domain, list, true), ['failed', 'failed', 'failed']);
    assert.deepEqual(await cacheLines(world.admin, world.domain), before);
    await world.agree();
  });

  it('another one leaves what was not refused', async () => {
    const list = [create('one'), create('refused'), create('two')];
    assert.deepEqual(await send(world.admin, world.domain, list, false), ['ok', 'failed', 'ok']);
    await world.agree();
  });

  it('an atomic one of which a record is gone at the provider leaves nothing', async () => {
    await send(world.admin, world.domain, [create('gone')], true);
    const { list } = done(await world.admin.get(`${world.records}?host=gone`));
    const rrsets = [{ name: `gone.${world.zone}.`, type: 'A', changetype: 'DELETE' }];
    assert.equal((await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets })).status, 204);
    const edits = [create('three'), { op: 'update', id: list[0]?.id, ttl: 60 }];
    assert.deepEqual(await send(world.admin, world.domain, edits, true), ['not_tried', 'failed']);
    assert.equal(done(await world.admin.get(`${world.records}?host=three&refresh=true`)).total, 0);
    await world.agree();
  });
});

describe('lists of which the provider refuses a change, where a batch of records is carried out whole', () => {
  const zone = 'example.com';
  let vendor: Cloudflare;
  let service: Service;
  let domain: number;
  beforeAll(async () => {
    vendor = await startCloudflare(zone);
    vendor.fault = ({ method, body }, apply) =>
      method === 'POST' && JSON.stringify(body).includes('refused')
        ? { status: 400, body: { success: false, errors: [{ code: 1004, message: 'no' }], result: null } }
        : apply();
    service = await startService('sqlite', { UNCLEAR_AFTER_MS: '500' });
    const account = await addAccount(service.admin, 'cloudflare', { api_token: 'a-token', endpoint: vendor.url });
    domain = await addDomain(service.admin, account, zone);
  });
  afterAll(async () => {
    await service?.stop();
    await vendor?.stop();
  });
  const hosts = async () =>
    done(await service.admin.get(`/api/domains/${domain}/records`)).list.map((record: { host: string }) => record.host);

  it('an atomic one leaves nothing, there or here', async () => {
    const list = [create('one'), create('refused'), create('two'), create('here', { enabled: false })];
    assert.deepEqual(await send(service.admin, domain, list, true), ['failed', 'failed', 'failed', 'not_tried']);
    assert.deepEqual(vendor.zones.get(zone), []);
    assert.deepEqual(await hosts(), []);
  });

  it('another one leaves what was not refused', async () => {
    const list = [create('one'), create('refused'), create('two')];
    assert.deepEqual(await send(service.admin, domain, list, false), ['ok', 'failed', 'ok']);
    assert.deepEqual((await hosts()).sort(), ['one', 'two']);
  });

  it('what exists only here waits for the rest of an atomic one, and shares its end', async () => {
    const records = `/api/domains/${domain}/records` as const;
    await send(service.admin, domain, [create('k1', { enabled: false }), create('k2', { enabled: false })], true);
    const of = async (host: string) => done(await service.admin.get(`${records}?host=${host}`)).list;
    const { fault } = vendor;
    for (const carriedOut of [false, true]) {
      const [k1, k2] = [(await of('k1'))[0], (await of('k2'))[0]];
      vendor.fault = ({ method }, apply) => {
        if (method !== 'POST') return apply();
        if (carriedOut) apply();
        return { status: 500 };
      };
      const y = carriedOut ? 'y2' : 'y1';
      const list = [
        ...[
          { op: 'update', id: k1?.id, ttl: 61 },
          { op: 'delete', id: k2?.id },
        ],
        ...[create('k3', { enabled: false, remark: 'here' }), create(y), create(`${y}-more`)],
      ];
      assert.deepEqual(await send(service.admin, domain, list, true), Array(5).fill('unknown'));
      // what was carried out may have its end by now
      const still = [(await of('k1'))[0]?.ttl, (await of('k2')).length, (await of('k3')).length];
      if (!carriedOut) assert.deepEqual(still, [k1?.ttl, 1, 0]);
      vendor.fault = fault;
      await until('it has an end', async () => {
        const all = done(await service.admin.get(`${records}?refresh=true`)).list;
        return all.every((record) => !record.pending);
      });
      const now = [(await of('k1'))[0]?.ttl, (await of('k2')).length, (await of('k3')).length, (await of(y)).length];
      assert.deepEqual(now, carriedOut ? [61, 0, 1, 1] : [k1?.ttl, 1, 0, 0]);
    }
    assert.equal((await of('k3'))[0]?.remark, 'here');
  });
});

describe('lists of which the provider refuses a change, where it carries out one after the other', () => {
  const zone = 'contract.example';
  let vendor: StandIn;
  let service: Service;
  let domain: number;
  beforeAll(async () => {
    vendor = await startDigitalOcean();
    const { handler } = vendor;
    vendor.handler = (request) =>
      request.method === 'DELETE' || JSON.stringify(request.body ?? '').includes('refused')
        ? { status: 422, body: { id: 'unprocessable_entity', message: 'no' } }
        : handler(request);
    service = await startService('sqlite');
    const account = await addAccount(service.admin, 'digitalocean', { token: 'a-token', endpoint: vendor.url });
    domain = await addDomain(service.admin, account, zone);
  });
  afterAll(async () => {
    await service?.stop();
    await vendor?.stop();
  });

  it('of an atomic one nothing is tried behind it, nor kept here', async () => {
    const list = [create('one'), create('refused'), create('two'), create('here', { enabled: false })];
    assert.deepEqual(await send(service.admin, domain, list, true), ['ok', 'failed', 'not_tried', 'not_tried']);
    const { list: records } = done(await service.admin.get(`/api/domains/${domain}/records`));
    assert.deepEqual(
      records.map((record) => record.host),
      ['one'],
    );
    assert.deepEqual(await send(service.admin, domain, list.slice(1), false), ['failed', 'ok', 'ok']);
  });

  it('what is to be kept here does not take the place of the same record that did not go', async () => {
    const { list: before } = done(await service.admin.get(`/api/domains/${domain}/records?host=one`));
    const list = [{ op: 'delete', id: before[0]?.id }, create('one', { enabled: false })];
    assert.deepEqual(await send(service.admin, domain, list, false), ['failed', 'not_tried']);
    assert.deepEqual(done(await service.admin.get(`/api/domains/${domain}/records?host=one`)).list, before);
  });
});
