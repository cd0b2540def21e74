import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { startCloudflare } from '../support/cloudflare.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Fault } from '../support/proxy.js';
import { type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import {
  addAccount,
  addDomain,
  made,
  providerFailed,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

const TIMEOUT_MS = 400;
/** how much later than its time limit a write is carried out */
const LATE_MS = 600;
const within = { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), UNCLEAR_AFTER_MS: '4000' };
const inAMinute = { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), UNCLEAR_AFTER_MS: '3600000' };

/** The next write of the provider is carried out when nobody waits for its answer any more. */
const lateOnce = (first: 'close' | 'late' = 'late'): Fault => {
  let writes = 0;
  return async ({ method }, forward) => {
    if (method === 'GET') return forward();
    const n = writes++;
    if (first === 'close' && n === 0) {
      await forward();
      return 'close';
    }
    if (n === (first === 'close' ? 1 : 0)) await sleep(TIMEOUT_MS + LATE_MS);
    return forward();
  };
};

/** The addresses that PowerDNS has at a name. */
const atPowerdns = async ({ pdns }: World, host: string): Promise<string[]> =>
  (await pdns.zone('example.com')).rrsets
    .filter(({ name, type }) => name === `${host}.example.com.` && type === 'A')
    .flatMap(({ records }) => records.map(({ content }) => content))
    .toSorted();

describeUnless(noPowerdns)('a write of a set that is carried out after its time limit', () => {
  let world: World;
  let admin: Client;
  beforeAll(async () => {
    world = await startWorld('sqlite', within);
    ({ admin } = world);
  });
  afterAll(() => world?.stop());
  const add = (host: string, value: string) => admin.post(world.records, { host, type: 'A', value });
  const held = (host: string) => atPowerdns(world, host);
  const settled = () =>
    until('the cache agrees', () =>
      world.agree().then(
        () => true,
        () => false,
      ),
    );

  it('takes nothing away that another one at its name was told is there', async () => {
    made(await add('www', '192.0.2.1'));
    world.proxy.fault = lateOnce();
    providerFailed(await add('www', '192.0.2.2'), /did not answer/);
    made(await add('www', '192.0.2.3'));
    await sleep(LATE_MS);
    assert.deepEqual(await held('www'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    await settled();
  });

  it('may be repeated at once, and takes nothing away that comes after that', async () => {
    made(await add('again', '192.0.2.1'));
    world.proxy.fault = lateOnce();
    providerFailed(await add('again', '192.0.2.2'), /did not answer/);
    made(await add('again', '192.0.2.2'));
    assert.deepEqual(await held('again'), ['192.0.2.1', '192.0.2.2']);
    made(await add('again', '192.0.2.3'));
    await sleep(LATE_MS);
    assert.deepEqual(await held('again'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    await settled();
  });

  it('brings nothing back that an earlier attempt had made and somebody has deleted', async () => {
    world.proxy.fault = lateOnce('close');
    providerFailed(await add('twice', '192.0.2.1'), /did not answer/);
    const { list } = (await admin.get(`${world.records}?host=twice&refresh=true`)).data as { list: { id: number }[] };
    // seen already, and still the later attempt is on its way
    assert.equal(list.length, 1);
    const gone = await admin.delete(`${world.records}/${list[0]?.id as number}`);
    assert.equal(gone.status, 200);
    await sleep(LATE_MS);
    assert.deepEqual(await held('twice'), []);
    await settled();
  });

  it('lets other names go on at once', async () => {
    world.proxy.fault = lateOnce();
    providerFailed(await add('slow', '192.0.2.1'), /did not answer/);
    made(await add('other', '192.0.2.1'));
    assert.deepEqual(await held('slow'), []);
    await until('it is there', async () => (await held('slow')).length === 1);
    await settled();
  });
});

describeUnless(noPowerdns)('a write of a set that may be carried out for long', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('sqlite', inAMinute);
  });
  afterAll(() => world?.stop());

  it('refuses others at its name, and says until when', async () => {
    const { admin, records, proxy } = world;
    const record = (value: string) => ({ host: 'www', type: 'A', value });
    proxy.fault = async ({ method }, forward) => (method === 'GET' ? forward() : new Promise(() => undefined));
    providerFailed(await admin.post(records, record('192.0.2.1')), /did not answer/);
    proxy.fault = null;
    const answer = refused(await admin.post(records, record('192.0.2.2')), 409, 409001);
    assert.match(answer.msg, /may still carry it out; try again after 20\d\d-/);
    const changes = [{ op: 'create', ...record('192.0.2.3') }];
    refused(await admin.post(`${records}/batch`, { changes }), 409, 409001);
    assert.deepEqual(await atPowerdns(world, 'www'), []);
    made(await admin.post(records, { ...record('192.0.2.2'), host: 'other' }));
  });
});

describe('a write of one record that may be carried out for long', () => {
  it('refuses others of this record, not those beside it', async () => {
    const cloudflare = await startCloudflare('example.com');
    const service = await startService('sqlite', inAMinute);
    const { admin } = service;
    const account = await addAccount(admin, 'cloudflare', { api_token: 't', endpoint: cloudflare.url });
    const records = `/api/domains/${await addDomain(admin, account, 'example.com')}/records` as const;
    const record = (value: string) => ({ host: 'www', type: 'A', value });
    const { id } = made(await admin.post(records, record('192.0.2.1')));
    cloudflare.fault = ({ method }, apply) => (method === 'GET' ? apply() : new Promise(() => undefined));
    providerFailed(await admin.put(`${records}/${id}`, { value: '192.0.2.2' }), /did not answer/);
    providerFailed(await admin.post(records, record('192.0.2.3')), /did not answer/);
    cloudflare.fault = null;
    refused(await admin.put(`${records}/${id}`, { value: '192.0.2.4' }), 409, 409001);
    refused(await admin.delete(`${records}/${id}`), 409, 409001);
    // the same once more does no harm
    made(await admin.post(records, record('192.0.2.3')));
    made(await admin.post(records, record('192.0.2.5')));
    await service.stop();
    await cloudflare.stop();
  });
});
