import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused, startWorld, type World } from '../support/world.js';

/** What somebody does at the provider, past the service, and what it holds. */
interface Past {
  service: Service;
  admin: Client;
  domain: number;
  /** makes the A records of a host these, all of them */
  put(host: string, values: string[]): Promise<void>;
  held(host: string): Promise<string[]>;
}

/** What holds wherever records are kept. @param past of the service under test */
function truths(past: () => Past): void {
  const path = (host: string) => `/api/domains/${past().domain}/rrsets/${host}/A` as const;
  const batch = async (changes: object[]) => {
    const { outcomes } = done(await past().admin.post(`/api/domains/${past().domain}/records/batch`, { changes }));
    return (outcomes ?? []).map(({ ok, changed }) => [ok, changed]);
  };
  const cached = async (host: string) => {
    const answer = await past().admin.get(`/api/domains/${past().domain}/records?host=${host}`);
    return done(answer).list.map(({ value }) => value);
  };

  it('a value that somebody added there goes with a PUT of the set, and is named', async () => {
    const { admin, put, held } = past();
    done(await admin.put(path('added'), { values: ['192.0.2.1'] }));
    await put('added', ['192.0.2.1', '192.0.2.66']);
    const answer = done(await admin.put(path('added'), { values: ['192.0.2.1', '192.0.2.2'] }));
    assert.deepEqual([answer.changed, answer.replaced?.map(({ value }) => value)], [true, ['192.0.2.66']]);
    assert.deepEqual(await held('added'), ['192.0.2.1', '192.0.2.2']);
    // the same, where the cache holds the set as it shall be
    await put('added', ['192.0.2.1', '192.0.2.2', '192.0.2.67']);
    const same = done(await admin.put(path('added'), { values: ['192.0.2.1', '192.0.2.2'] }));
    assert.deepEqual([same.changed, same.replaced?.map(({ value }) => value)], [true, ['192.0.2.67']]);
    assert.deepEqual(await held('added'), ['192.0.2.1', '192.0.2.2']);
    const again = done(await admin.put(path('added'), { values: ['192.0.2.1', '192.0.2.2'] }));
    assert.deepEqual([again.changed, again.replaced], [false, undefined]);
  });

  it('a value that somebody deleted there is made again', async () => {
    const { admin, put, held } = past();
    done(await admin.put(path('deleted'), { values: ['192.0.2.1', '192.0.2.2'] }));
    await put('deleted', ['192.0.2.1']);
    assert.equal(done(await admin.put(path('deleted'), { values: ['192.0.2.1', '192.0.2.2'] })).changed, true);
    assert.deepEqual(await held('deleted'), ['192.0.2.1', '192.0.2.2']);
    await put('deleted', []);
    assert.equal(done(await admin.put(path('deleted'), { values: ['192.0.2.1', '192.0.2.2'] })).changed, true);
    assert.deepEqual(await held('deleted'), ['192.0.2.1', '192.0.2.2']);
  });

  it('a DELETE of the set leaves nothing there, whoever made it', async () => {
    const { admin, put, held } = past();
    await put('unseen', ['192.0.2.5']);
    const answer = done(await admin.delete(path('unseen')));
    assert.deepEqual([answer.changed, answer.replaced?.map(({ value }) => value)], [true, ['192.0.2.5']]);
    assert.deepEqual([await held('unseen'), await cached('unseen')], [[], []]);
    assert.equal(done(await admin.delete(path('unseen'))).changed, false);
    // one that is gone there needs no deletion
    done(await admin.put(path('unseen'), { values: ['192.0.2.6'] }));
    await put('unseen', []);
    assert.equal(done(await admin.delete(path('unseen'))).changed, false);
    assert.deepEqual(await cached('unseen'), []);
  });

  it('an upsert makes a record again that somebody deleted there', async () => {
    const { put, held } = past();
    const upsert = { op: 'upsert', host: 'upsert', type: 'A', value: '192.0.2.1', ttl: 300 };
    assert.deepEqual(await batch([upsert]), [[true, true]]);
    assert.deepEqual(await batch([upsert]), [[true, false]]);
    await put('upsert', []);
    assert.deepEqual(await batch([upsert, { ...upsert, host: 'beside' }]), [
      [true, true],
      [true, true],
    ]);
    assert.deepEqual([await held('upsert'), await held('beside')], [['192.0.2.1'], ['192.0.2.1']]);
    // others of its set are not what it speaks of
    await put('upsert', ['192.0.2.1', '192.0.2.9']);
    assert.deepEqual(await batch([upsert]), [[true, false]]);
    assert.deepEqual(await held('upsert'), ['192.0.2.1', '192.0.2.9']);
  });

  it('what is gone there is deleted with success, alone and in a list', async () => {
    const { admin, domain, put } = past();
    const records = `/api/domains/${domain}/records` as const;
    const add = async (value: string) => made(await admin.post(records, { host: 'gone', type: 'A', value })).id;
    const ids = [await add('192.0.2.1'), await add('192.0.2.2'), await add('192.0.2.3')];
    await put('gone', []);
    assert.equal((await admin.delete(`${records}/${ids[0]}`)).status, 200);
    assert.deepEqual(
      (await batch(ids.slice(1).map((id) => ({ op: 'delete', id })))).map(([ok]) => ok),
      [true, true],
    );
    assert.deepEqual(await cached('gone'), []);
  });

  it('a DELETE under If-Match of what is gone there is refused', async () => {
    const { admin, domain, put } = past();
    const path = `/api/domains/${domain}/records` as const;
    const { id } = made(await admin.post(path, { host: 'tagged', type: 'A', value: '192.0.2.1' }));
    const tag = (await admin.get(`${path}/${id}`)).headers.get('etag') as string;
    await put('tagged', []);
    for (const seen of [tag, '*'])
      refused(await admin.delete(`${path}/${id}`, undefined, { 'if-match': seen }), 412, 412001);
    assert.equal((await admin.delete(`${path}/${id}`)).status, 200);
    // and so of one that this service holds no more either
    refused(await admin.delete(`${path}/${id}`, undefined, { 'if-match': tag }), 412, 412001);
    refused(await admin.delete(`${path}/${id}`), 404, 404001);
  });

  it('rights hold for what somebody added there, too', async () => {
    const { admin, put, held } = past();
    const token = async (values: object) => {
      const rules = [{ effect: 'allow', hosts: ['ruled'], types: ['A'], values }];
      return made(await admin.post('/api/tokens', { name: 'narrow', rules })).token;
    };
    const narrow = past().service.server.as(await token({ cidrs: ['192.0.2.0/24'] }));
    done(await narrow.put(path('ruled'), { values: ['192.0.2.1'] }));
    await put('ruled', ['192.0.2.1', '198.51.100.7']);
    for (const answer of [
      await narrow.put(path('ruled'), { values: ['192.0.2.1'] }),
      await narrow.put(path('ruled'), { values: ['192.0.2.2'] }),
      await narrow.delete(path('ruled')),
    ]) {
      refused(answer, 403, 403001);
      assert.doesNotMatch(JSON.stringify(answer), /198\.51/);
    }
    assert.deepEqual(await held('ruled'), ['192.0.2.1', '198.51.100.7']);
  });
}

describeUnless(noPowerdns)('what is asked of record sets is true at a vendor of sets', () => {
  let world: World;
  let past: Past;
  beforeAll(async () => {
    world = await startWorld();
    past = {
      service: world,
      admin: world.admin,
      domain: world.domain,
      async put(host, values) {
        const records = values.map((content) => ({ content, disabled: false }));
        const set = { name: `${host}.${world.zone}.`, type: 'A', ttl: 300, records };
        const body = { rrsets: [{ ...set, changetype: values.length ? 'REPLACE' : 'DELETE' }] };
        assert.equal((await world.pdns.api('PATCH', `/zones/${world.zone}.`, body)).status, 204);
      },
      async held(host) {
        const { rrsets } = await world.pdns.zone(world.zone);
        const set = rrsets.find(({ name, type }) => name === `${host}.${world.zone}.` && type === 'A');
        return (set?.records ?? []).map(({ content }) => content).toSorted();
      },
    };
  });
  afterAll(() => world?.stop());
  truths(() => past);

  it('a value that comes between the reading and the write goes with it', async () => {
    const path = `/api/domains/${world.domain}/rrsets/between/A` as const;
    done(await past.admin.put(path, { values: ['192.0.2.1'] }));
    let searches = 0;
    world.proxy.fault = async (request, forward) => {
      const answer = await forward();
      if (request.method === 'GET' && request.path.includes('between') && ++searches === 1)
        await past.put('between', ['192.0.2.1', '192.0.2.9']);
      return answer;
    };
    try {
      const answer = done(await past.admin.put(path, { values: ['192.0.2.2'] }));
      assert.deepEqual(
        answer.replaced?.map(({ value }) => value),
        ['192.0.2.9'],
      );
      assert.deepEqual(await past.held('between'), ['192.0.2.2']);
    } finally {
      world.proxy.fault = null;
    }
  });

  it('nothing is acknowledged that could not be asked for', async () => {
    const path = `/api/domains/${world.domain}/rrsets/away/A` as const;
    done(await past.admin.put(path, { values: ['192.0.2.1'] }));
    world.proxy.fault = async () => ({ status: 503, body: '{}' });
    try {
      const { data } = refused(await past.admin.put(path, { values: ['192.0.2.1'] }), 500, 500002);
      assert.equal(data.applied, 'no');
    } finally {
      world.proxy.fault = null;
    }
  });
});

describe('what is asked of record sets is true at a vendor of records with ids', () => {
  const zone = 'example.com';
  let vendor: Cloudflare;
  let service: Service;
  let past: Past;
  beforeAll(async () => {
    vendor = await startCloudflare(zone);
    service = await startService('sqlite', {});
    const account = await addAccount(service.admin, 'cloudflare', { api_token: 'a-token', endpoint: vendor.url });
    const domain = await addDomain(service.admin, account, zone);
    const records = () => vendor.zones.get(zone) ?? [];
    let last = 0;
    past = {
      service,
      admin: service.admin,
      domain,
      async put(host, values) {
        const name = `${host}.${zone}`;
        const rest = records().filter((record) => record.name !== name || values.includes(record.content));
        const there = rest.filter((record) => record.name === name).map(({ content }) => content);
        const more = values
          .filter((value) => !there.includes(value))
          .map((content) => ({ id: `past-${++last}`, name, type: 'A', content, ttl: 300, proxied: false }));
        vendor.zones.set(zone, [...rest, ...more]);
      },
      held: async (host) =>
        records()
          .flatMap(({ name, type, content }) => (name === `${host}.${zone}` && type === 'A' ? [content] : []))
          .toSorted(),
    };
  });
  afterAll(async () => {
    await service?.stop();
    await vendor?.stop();
  });
  truths(() => past);
});
