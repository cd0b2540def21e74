import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import type { Failure } from '../support/answers.js';
import { bindMissing, type NameServer, startBind } from '../support/bind.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, ask, done, made, refused, startWorld, type World } from '../support/world.js';

const trail = async (admin: Client) => done(await admin.get('/api/audit/logs?limit=1')).total;
const errorsOf = (answer: Answer<Failure>) => answer.data.errors.map((e) => `${e.path} ${e.code}`).toSorted();

describeUnless(noPowerdns)('a record that was read is sent back', () => {
  let world: World;
  let admin: Client;
  let records: World['records'];
  beforeAll(async () => {
    world = await startWorld('sqlite');
    ({ admin, records } = world);
  });
  afterAll(() => world?.stop());

  /** That a call writes nothing: not here, not at the provider, not in the audit log. */
  async function writesNothing(id: number, call: (path: string) => Promise<Answer>): Promise<void> {
    const path = `${records}/${id}`;
    const before = [done(await admin.get(path)), await trail(admin), world.proxy.requests.length];
    assert.deepEqual(done(await call(path)), before[0]);
    assert.deepEqual([done(await admin.get(path)), await trail(admin), world.proxy.requests.length], before);
  }

  it('unchanged, it changes nothing', async () => {
    const SEED: object[] = [
      { host: 'www', type: 'A', value: '192.0.2.1', remark: 'mine' },
      { host: '*.wild', type: 'AAAA', value: '2001:db8::1' },
      { host: 'bücher', type: 'CNAME', value: 'www' },
      { host: '@', type: 'MX', value: 'mail.example.net', priority: 5 },
      { host: '_sip._tcp', type: 'SRV', value: '1 2 5060 sip.example.net' },
      { host: '@', type: 'CAA', value: '0 issue "ca.example.net"' },
      { host: 'text', type: 'TXT', value: 'with "quotes" and \\ of its own' },
      { host: 'text', type: 'TXT', value: 'v=spf1 -all' },
    ];
    for (const record of SEED) made(await admin.post(records, record));
    // what stands at the provider need not be what the service would write
    const odd = { name: `api.${world.zone}.${world.zone}.`, type: 'A', ttl: 7, changetype: 'REPLACE' };
    const body = { rrsets: [{ ...odd, records: [{ content: '192.0.2.9', disabled: false }] }] };
    assert.equal((await world.pdns.api('PATCH', `/zones/${world.zone}.`, body)).status, 204);
    const { list } = done(await admin.get(`${records}?refresh=true`));
    assert.ok(list.length > SEED.length);
    for (const record of list) {
      await writesNothing(record.id, (path) => admin.put(path, record));
      await writesNothing(record.id, (path) => admin.put(path, {}));
      await writesNothing(record.id, (path) => admin.put(path, { value: record.value, type: record.type }));
      await writesNothing(record.id, (path) => admin.patch(`${path}/status`, { enabled: record.enabled }));
    }
    const strange = list.find((r) => r.host === `api.${world.zone}`) as RecordView;
    const { updated_at: _u, synced_at: _s, ...kept } = strange;
    const {
      updated_at: _v,
      synced_at: _t,
      ...now
    } = done(await admin.put(`${records}/${strange.id}`, { ...strange, ttl: 8 }));
    assert.deepEqual(now, { ...kept, ttl: 8 });
    const { host, ttl } = done(await admin.put(`${records}/${strange.id}`, { ttl: 9 }));
    assert.deepEqual([host, ttl], [strange.host, 9]);
    await world.agree();
  });

  it('what is only shown cannot be changed', async () => {
    const { id } = made(await admin.post(records, { host: 'shown', type: 'A', value: '192.0.2.1' }));
    const path = `${records}/${id}` as const;
    const record = done(await admin.get(path));
    const other = {
      id: id + 1,
      read_only: true,
      read_only_reason: 'x',
      unicode_host: 'x',
      synced_at: '2026-01-01T00:00:00.000Z',
      updated_at: null,
      created_at: 'x',
    };
    const answer = refused(await admin.put(path, { ...record, ...other, ttl: 77 }), 400, 400001);
    assert.deepEqual(
      errorsOf(answer),
      Object.keys(other)
        .map((key) => `${key} read_only`)
        .toSorted(),
    );
    assert.deepEqual(done(await admin.get(path)), record);
    refused(await admin.put(path, { ...record, nosuch: 1 }), 400, 400001);
    // a new name beside the old one's readable form is a change like any other
    assert.equal(done(await admin.put(path, { ...record, host: 'renamed' })).unicode_host, 'renamed');
  });

  it('a remark is kept here, and the provider is not asked', async () => {
    const { id } = made(await admin.post(records, { host: 'remark', type: 'A', value: '192.0.2.1' }));
    const before = [world.proxy.requests.length, await trail(admin)] as [number, number];
    assert.equal(done(await admin.put(`${records}/${id}`, { remark: 'new' })).remark, 'new');
    assert.deepEqual([world.proxy.requests.length, (await trail(admin)) - 1], before);
  });

  it('a neighbour that is disabled at the provider is in the set, too: its TTL is not moved without the right', async () => {
    const { id } = made(await admin.post(records, { host: 'quiet', type: 'A', value: '192.0.2.8', ttl: 900 }));
    done(await admin.patch(`${records}/${id}/status`, { enabled: false }));
    const rules = [{ effect: 'allow', hosts: ['quiet'], types: ['A'], values: { cidrs: ['192.0.2.7/32'] } }];
    const client = world.server.as(made(await admin.post('/api/tokens', { name: 'own value', rules })).token);
    const own = { host: 'quiet', type: 'A', value: '192.0.2.7' };
    assert.equal(
      refused(await client.post(records, { ...own, ttl: 60 }), 403, 403001).data.required,
      'record:update:A:quiet',
    );
    const joined = made(await client.post(records, own)).id;
    assert.equal(done(await client.get(`${records}/${joined}`)).ttl, 900);
    await world.agree();
  });

  it('the state is a field: with others in one change', async () => {
    const { id } = made(await admin.post(records, { host: 'state', type: 'A', value: '192.0.2.1' }));
    const path = `${records}/${id}` as const;
    const change = async (patch: object) => {
      const writes = () => world.proxy.requests.filter((r) => r.method === 'PATCH').length;
      const before = [writes(), await trail(admin)] as [number, number];
      const after = done(await admin.put(path, patch));
      assert.deepEqual([writes() - 1, (await trail(admin)) - 1], before);
      await world.agree();
      return [after.value, after.enabled];
    };
    assert.deepEqual(await change({ value: '192.0.2.2', enabled: false }), ['192.0.2.2', false]);
    assert.deepEqual(await change({ value: '192.0.2.3', enabled: true }), ['192.0.2.3', true]);
    assert.deepEqual(await change({ enabled: false }), ['192.0.2.3', false]);
    assert.deepEqual(await change({ ...done(await admin.get(path)), enabled: true }), ['192.0.2.3', true]);
    const { list } = done(await admin.get('/api/audit/logs?limit=1'));
    assert.equal(list[0].action, 'record.update');
    refused(await admin.put(path, { enabled: 'no' }), 400, 400001);
  });
});

describeUnless(bindMissing())('the state of records where the provider knows none', () => {
  const zone = 'example.com';
  let bind: NameServer;
  let service: Awaited<ReturnType<typeof startService>>;
  let admin: Client;
  let domain: number;
  let records: World['records'];
  beforeAll(async () => {
    bind = await startBind({ zones: [zone] });
    service = await startService('sqlite');
    ({ admin } = service);
    const { name, algorithm, secret } = bind.tsig;
    const key = { tsig_name: name, tsig_algorithm: algorithm, tsig_secret: secret };
    const account = await addAccount(admin, 'rfc2136', { server: '127.0.0.1', port: bind.port, zones: zone, ...key });
    domain = await addDomain(admin, account, zone);
    records = `/api/domains/${domain}/records`;
  });
  afterAll(async () => {
    await service?.stop();
    await bind?.stop();
  });
  const live = async (host: string) =>
    (await ask(bind.port, `${host}.${zone}`, 'A')).map((p) => `${p.rdata} ${p.ttl}`).toSorted();

  it('is changed with the rest, and checked like it', async () => {
    const post = async (body: object) => made(await admin.post(records, { type: 'A', ttl: 600, ...body })).id;
    const id = await post({ host: 'one', value: '192.0.2.1' });
    const put = (patch: object) => admin.put(`${records}/${id}`, patch);
    const parked = done(await put({ value: '192.0.2.2', enabled: false }));
    assert.deepEqual([parked.id, parked.value, parked.enabled], [id, '192.0.2.2', false]);
    assert.deepEqual(await live('one'), []);
    // parked, it is changed here only
    assert.equal(done(await put({ value: '192.0.2.3' })).value, '192.0.2.3');
    assert.deepEqual(await live('one'), []);
    await post({ host: 'one', value: '192.0.2.4' });
    refused(await put({ value: '192.0.2.4', enabled: true }), 409, 409001);
    const back = done(await put({ value: '192.0.2.5', enabled: true }));
    assert.deepEqual([back.id, back.value, back.enabled], [id, '192.0.2.5', true]);
    assert.deepEqual(await live('one'), ['192.0.2.4 600', '192.0.2.5 600']);
    // parked under a name that became an alias meanwhile, it cannot come back
    done(await put({ enabled: false, host: 'alias' }));
    made(await admin.post(records, { host: 'alias', type: 'CNAME', value: 'www.example.net' }));
    assert.equal(refused(await put({ enabled: true, ttl: 700 }), 400, 400001).data.errors[0].path, 'type');
    assert.equal(refused(await put({ enabled: true }), 400, 400001).data.errors[0].path, 'type');
    done(await admin.get(`${records}?refresh=true`));
    assert.equal(done(await admin.get(`${records}/${id}`)).enabled, false);
  });

  it('moving the TTL of a set leaves a neighbour alone that is kept here', async () => {
    const { id } = made(await admin.post(records, { host: 'mine', type: 'A', value: '192.0.2.1', ttl: 600 }));
    const { id: parked } = made(await admin.post(records, { host: 'mine', type: 'A', value: '192.0.2.2' }));
    done(await admin.patch(`${records}/${parked}/status`, { enabled: false }));
    const before = done(await admin.get(`${records}/${parked}`));
    const rules = [{ effect: 'allow', hosts: ['mine'], types: ['A'], values: { cidrs: ['192.0.2.1/32'] } }];
    const client = service.server.as(made(await admin.post('/api/tokens', { name: 'own value', rules })).token);
    assert.equal(done(await client.put(`${records}/${id}`, { ttl: 60 })).ttl, 60);
    assert.deepEqual(done(await admin.get(`${records}/${parked}`)), before);
  });

  it('enabling joins the TTL of the set; who names another one needs the rights on the neighbours', async () => {
    made(await admin.post(records, { host: 'set', type: 'A', value: '192.0.2.8', ttl: 600 }));
    const { id } = made(await admin.post(records, { host: 'set', type: 'A', value: '192.0.2.7' }));
    done(await admin.patch(`${records}/${id}/status`, { enabled: false }));
    const rules = [{ effect: 'allow', hosts: ['set'], types: ['A'], values: { cidrs: ['192.0.2.7/32'] } }];
    const { token } = made(await admin.post('/api/tokens', { name: 'own value', rules }));
    const client = service.server.as(token);
    // it stays here: nobody's TTL is moved
    assert.equal(done(await client.put(`${records}/${id}`, { ttl: 60 })).ttl, 60);
    const moving = await client.put(`${records}/${id}`, { enabled: true, ttl: 61 });
    assert.equal(refused(moving, 403, 403001).data.required, 'record:update:A:set');
    assert.deepEqual(await live('set'), ['192.0.2.8 600']);
    for (const call of [
      () => client.patch(`${records}/${id}/status`, { enabled: true }),
      () => client.put(`${records}/${id}`, { enabled: true }),
      () => client.put(`${records}/${id}`, { enabled: true, ttl: 600 }),
    ]) {
      assert.equal(done(await call()).ttl, 600);
      assert.deepEqual(await live('set'), ['192.0.2.7 600', '192.0.2.8 600']);
      done(await admin.patch(`${records}/${id}/status`, { enabled: false }));
      done(await admin.put(`${records}/${id}`, { ttl: 60 }));
    }
    done(await client.put(`${records}/${id}`, { enabled: true, ttl: 600 }));
    done(await client.patch(`${records}/${id}/status`, { enabled: false }));
    done(await client.patch(`${records}/${id}/status`, { enabled: true }));
    assert.deepEqual(await live('set'), ['192.0.2.7 600', '192.0.2.8 600']);
  });

  it('a change that is not allowed is refused before anything is said of the record', async () => {
    const secret = made(await admin.post(records, { host: 'held', type: 'TXT', value: 's3cret token!' })).id;
    const address = made(await admin.post(records, { host: 'held', type: 'A', value: '192.0.2.77' })).id;
    const rules = [{ effect: 'allow', hosts: ['_acme-challenge'], types: ['TXT'], actions: ['create'] }];
    const blind = service.server.as(made(await admin.post('/api/tokens', { name: 'blind', rules })).token);
    const calls = [secret, address].flatMap((id) => [
      blind.put(`${records}/${id}`, { type: 'CNAME' }),
      blind.put(`${records}/${id}`, { type: 'AAAA', ttl: 0 }),
      blind.patch(`${records}/${id}/status`, { enabled: false }),
      blind.delete(`${records}/${id}`),
    ]);
    for (const call of calls) {
      const answer = refused(await call, 404, 404001);
      assert.doesNotMatch(JSON.stringify([answer.msg, answer.data]), /s3cret|192\.0\.2/);
    }
  });

  it('a conflict names what the caller may read, and nothing else', async () => {
    const { id } = made(await admin.post(records, { host: 'taken', type: 'A', value: '192.0.2.33' }));
    const { id: alias } = made(
      await admin.post(records, { host: 'aliased', type: 'CNAME', value: 'hidden.example.net' }),
    );
    const actions = ['create'];
    const blind = { rules: [{ effect: 'allow', actions }] };
    const writer = { allowed_services: ['records:write'] };
    const as = async (more: object) =>
      service.server.as(made(await admin.post('/api/tokens', { name: 'x', ...more })).token);
    const twin = { host: 'taken', type: 'A', value: '192.0.2.33' };
    const over = { host: 'taken', type: 'CNAME', value: 'other.example.net' };
    const beside = { host: 'aliased', type: 'A', value: '192.0.2.1' };
    const seen = [
      [twin, 409, 409001, id],
      [over, 400, 400001, id],
      [beside, 400, 400001, alias],
    ] as const;
    for (const [body, status, code, inTheWay] of seen) {
      const { data, msg } = refused(await admin.post(records, body), status, code);
      assert.equal(data.errors[0].code, status === 409 ? 'duplicate' : 'conflict');
      assert.deepEqual(data.errors[0].params, { id: inTheWay });
      if (status === 409) assert.equal(data.id, inTheWay);
      assert.match(msg, new RegExp(`id ${inTheWay}`));
      for (const limits of [blind, writer]) {
        const answer = refused(await (await as(limits)).post(records, body), status, code);
        assert.equal(answer.data.errors[0].code, status === 409 ? 'duplicate' : 'conflict');
        const said = JSON.stringify([answer.msg, answer.data]);
        assert.doesNotMatch(said, /hidden|192\.0\.2|"id"|id \d|params/);
      }
    }
  });
});
