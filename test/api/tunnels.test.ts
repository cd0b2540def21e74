import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { addAccount, addDomain, done, made, providerFailed, refused, until } from '../support/world.js';

const ZONE = 'example.com';
const SUB = 'dev.example.com';
const CATCH_ALL = { service: 'http_status:404' };
const NOBODY = '00000000-0000-4000-8000-000000000000';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`tunnels on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let cloudflare: Cloudflare;
    let account: number;
    let domain: number;
    let names = 0;

    beforeAll(async () => {
      cloudflare = await startCloudflare(ZONE, SUB, 'other.example');
      service = await startService(kind);
      ({ admin } = service);
      account = await addAccount(admin, 'cloudflare', { api_token: 'token-of-tests', endpoint: cloudflare.url });
      domain = await addDomain(admin, account, ZONE);
      await addDomain(admin, account, SUB);
    });
    afterAll(async () => {
      await service?.stop();
      await cloudflare?.stop();
    });
    afterEach(async () => {
      cloudflare.fault = null;
      cloudflare.tunnels.readOnly = false;
      cloudflare.tunnels.owners.splice(1);
      // what a test that failed left is no affair of the next one
      for (const one of cloudflare.tunnels.kept) one.connectors = [];
      for (const { id } of done(await admin.get('/api/tunnels'))) {
        const gone = async () => [200, 404].includes((await admin.delete(`/api/tunnels/${id}?force=true`)).status);
        await until('nothing is left', gone);
      }
      for (const kept of cloudflare.zones.values()) kept.length = 0;
      // other credentials have limits of their own: all tests together ask more than the vendor lets in five minutes
      const credentials = { api_token: `token-of-tests-${++credentialsOf}`, endpoint: cloudflare.url };
      done(await admin.put(`/api/accounts/${account}`, { credentials }));
    });

    let credentialsOf = 0;
    const fresh = () => `tunnel-${++names}`;
    const rule = (hostname: string, more: object = {}) => ({ hostname, service: 'http://localhost:8080', ...more });
    const add = async (body: object = {}) =>
      made(await admin.post('/api/tunnels', { account_id: account, name: fresh(), ...body }));
    const remote = (tunnel_id: string | null) => cloudflare.tunnels.kept.find(({ id }) => id === tunnel_id);
    const records = (zone: string) => cloudflare.zones.get(zone) ?? [];
    const cnames = (zone = ZONE) =>
      records(zone)
        .filter(({ type }) => type === 'CNAME')
        .map(({ name, content }) => `${name} ${content}`)
        .toSorted();
    const stored = (where = '1 = 1') => rowsOf(service, `SELECT * FROM tunnels WHERE ${where}`);
    const audit = async (action: string) => done(await admin.get(`/api/audit/logs?action=${action}&limit=1`)).list[0];
    const remove = async (id: number) => done(await admin.delete(`/api/tunnels/${id}`));
    /** Has a job done from now on, and waits for its end; a run that is under way does not count. */
    const run = async (name: string) => {
      const job = async () => done(await admin.get(`/api/system/jobs?name=${name}`)).list[0];
      let before = 0;
      await until('it is asked for', async () => {
        const { id = 0, runs = 0 } = (await job()) ?? {};
        before = runs;
        return (await admin.post(`/api/system/jobs/${id}/retry`)).status === 200;
      });
      await until('it has run', async () => {
        const { state, runs = 0 } = (await job()) ?? {};
        return state === 'waiting' && runs > before;
      });
    };
    const at = (path: string, method?: string, nth = 1) => {
      let seen = 0;
      return (request: { path: string; method: string }) =>
        request.path.endsWith(path) && (!method || request.method === method) && ++seen === nth;
    };

    const unanswered = { status: 500, body: { success: false, errors: [{ code: 1, message: 'late' }] } };

    it('are made with their rules, proxied CNAMEs and a run token that is shown once', async () => {
      const app = {
        ...rule('App.Example.com'),
        path: '^/api',
        originRequest: { noTLSVerify: true, connectTimeout: 5 },
      };
      const tunnel = await add({
        ingress: [app, rule('*.dev.example.com'), rule('bücher.example.com'), rule('x.nowhere.test')],
      });
      const kept = remote(tunnel.tunnel_id);
      assert.ok(kept);
      assert.deepEqual(
        [kept.config_src, kept.name, tunnel.adopted, tunnel.state],
        ['cloudflare', tunnel.name, false, 'ready'],
      );
      const ingress = [
        { ...app, hostname: 'app.example.com' },
        rule('*.dev.example.com'),
        rule('xn--bcher-kva.example.com'),
        rule('x.nowhere.test'),
        CATCH_ALL,
      ];
      assert.deepEqual(kept.config?.ingress, ingress);
      assert.deepEqual(tunnel.ingress, ingress);
      const target = `${kept.id}.cfargotunnel.com`;
      assert.deepEqual(cnames(), [`app.example.com ${target}`, `xn--bcher-kva.example.com ${target}`]);
      assert.deepEqual(cnames(SUB), [`*.dev.example.com ${target}`], 'in the longest zone');
      assert.ok(records(ZONE).every(({ proxied, ttl }) => proxied && ttl === 1));
      assert.deepEqual(
        tunnel.unmanaged.map(({ hostname }) => hostname),
        ['x.nowhere.test'],
      );
      const { s } = JSON.parse(Buffer.from(`${tunnel.token}`, 'base64').toString());
      assert.equal(s, kept.secret);
      // by the one road: in the cache, in change sets, in the audit log
      const { list } = done(await admin.get(`/api/domains/${domain}/changes?limit=1`));
      assert.deepEqual([list[0]?.door, list[0]?.comment], ['tunnel', `tunnel ${tunnel.name}`]);
      const entry = await audit('tunnel.create');
      assert.deepEqual([entry?.result, entry?.target?.id], ['ok', tunnel.id]);
      const told = done(await admin.get(`/api/tunnels/${tunnel.id}`));
      const { token, adopted: _, ...view } = tunnel;
      assert.deepEqual(told, view);
      assert.deepEqual(done(await admin.get(`/api/tunnels?account_id=${account}`)), [view]);
      const secrets = [token as string, kept.secret];
      const places = [await stored(), await rowsOf(service, 'SELECT * FROM audit_logs'), service.server.log, told];
      for (const place of places) for (const secret of secrets) assert.ok(!JSON.stringify(place).includes(secret));
      await remove(tunnel.id);
      assert.deepEqual([cnames(), cnames(SUB), await stored()], [[], [], []]);
      assert.ok(remote(tunnel.tunnel_id)?.deleted_at);
      assert.equal((await audit('tunnel.delete'))?.result, 'ok');
    });

    it('without rules get a catch-all rule, and records of others are not touched', async () => {
      const tunnel = await add();
      assert.deepEqual(remote(tunnel.tunnel_id)?.config?.ingress, [CATCH_ALL]);
      const other = await add({ ingress: [{ service: 'http://localhost' }] });
      assert.deepEqual(other.ingress, [{ service: 'http://localhost' }]);
      await remove(tunnel.id);
      await remove(other.id);
    });

    it('judges rules as cloudflared does, and names each that is wrong', async () => {
      const ingress: [object, string, RegExp][] = [
        [rule('*x.example.com'), 'hostname', /first label/],
        [rule('a.*.example.com'), 'hostname', /first label/],
        [rule('a.example.com:8080'), 'hostname', /port/],
        [rule('a..example.com'), 'hostname', /empty label/],
        [rule('a.example.com', { path: '*' }), 'path', /RE2/],
        [rule('a.example.com', { path: '(?=x)' }), 'path', /RE2/],
        [rule('a.example.com', { path: '(x{0,1000})'.repeat(23) }), 'path', /too long to compile/],
        [rule('a.example.com', { path: '(x)\\Q\\E{2}'.repeat(9) }), 'path', /too long to compile/],
        [rule('a.example.com', { path: `(?i)[${'b-\\x{1e943}'.repeat(22)}]` }), 'path', /too long to compile/],
        [{ service: 'http://localhost' }, 'hostname', /only the last rule/],
        [{ hostname: '*', service: 'http://localhost' }, 'hostname', /only the last rule/],
        [rule('a.example.com', { service: 'localhost:8080' }), 'service', /scheme/],
        [rule('a.example.com', { service: 'http://localhost/x' }), 'service', /path/],
        [rule('a.example.com', { service: 'http://localhost:80 ' }), '', /./],
        [rule('a.example.com', { service: 'http://localhost: 80' }), 'service', /./],
        [rule('a.example.com', { service: 'http_status:99' }), 'service', /100 to 999/],
        [rule('a.example.com', { service: 'hello_world' }), 'service', /file/],
        [rule('a.example.com', { service: 'unix:relative' }), 'service', /unix/],
        [
          rule('a.example.com', { originRequest: { connectTimeout: '30s' } }),
          'originRequest.connectTimeout',
          /seconds/,
        ],
        [rule('a.example.com', { originRequest: { tlsTimeout: 1.5 } }), 'originRequest.tlsTimeout', /seconds/],
        [rule('a.example.com', { originRequest: { noTlsVerify: true } }), 'originRequest.noTlsVerify', /known/],
        [rule('a.example.com', { originRequest: { access: { required: 'yes' } } }), 'originRequest.access', /required/],
      ];
      const before = cloudflare.requests.length;
      const body = { account_id: account, name: fresh(), ingress: [...ingress.map(([one]) => one), CATCH_ALL] };
      const { errors } = refused(await admin.post('/api/tunnels', body), 400, 400001).data;
      const wanted = ingress.flatMap(([, field], i) => (field ? [`ingress.${i}.${field}`] : []));
      assert.deepEqual(errors.map(({ path }) => path).toSorted(), wanted.toSorted());
      for (const [i, [, field, words]] of ingress.entries()) {
        if (field) assert.match(errors.find(({ path }) => path === `ingress.${i}.${field}`)?.message ?? '', words);
      }
      // one is not, a hundred of them are
      const many = Array.from({ length: 100 }, (_, i) => rule('a.example.com', { path: `^/${i}/(a?[0-9]{30}){10}$` }));
      const long = refused(await admin.post('/api/tunnels', { ...body, ingress: many }), 400, 400001).data.errors;
      assert.ok(long.length > 10 && long.length < 100, `${long.length}`);
      assert.ok(long.every(({ path, message }) => /^ingress\.\d+\.path$/.test(path) && /too long/.test(message)));
      assert.equal(cloudflare.requests.length, before, 'nothing was asked for');
      const fine = [
        'https://[::1]:8443',
        'ws://a',
        'tcp://db.local:5432',
        'smb://x:445',
        'unix:/run/x',
        'unix+tls:/run/x',
      ];
      const all = ['bastion', 'socks-proxy', 'http_status:503', 'http://localhost:8080', ...fine];
      const rules = all.map((one, i) => rule(`s${i}.nowhere.test`, { service: one, path: `\\.(jpg|css)${i}$` }));
      const tunnel = await add({ ingress: rules });
      await remove(tunnel.id);
    });

    it('refuses an account that cannot hold tunnels, a wrong name, and an ambiguous account at the provider', async () => {
      const files = await addAccount(admin, 'zonefile', {});
      const first = async (body: object) =>
        refused(await admin.post('/api/tunnels', { account_id: account, name: fresh(), ...body }), 400, 400001).data
          .errors[0];
      const no = await first({ account_id: files });
      assert.deepEqual([no?.path, no?.code], ['account_id', 'unsupported']);
      assert.match(no?.message ?? '', /cannot hold tunnels/);
      for (const name of [NOBODY, ' ', 'two\nlines']) assert.equal((await first({ name }))?.path, 'name', name);
      refused(await admin.post('/api/tunnels', { account_id: 9999, name: 'x' }), 404, 404001);
      const other = { id: 'b'.repeat(32), name: 'Bob' };
      cloudflare.tunnels.owners.push(other);
      const which = await first({});
      assert.equal(which?.path, 'cloudflare_account');
      assert.match(which?.message ?? '', /Ada.*Bob/);
      assert.equal((await first({ cloudflare_account: 'ccc' }))?.code, 'choice');
      // a CNAME works in zones of the same account only
      const tunnel = await add({ cloudflare_account: other.id, ingress: [rule('far.example.com')] });
      assert.equal(remote(tunnel.tunnel_id)?.account_tag, other.id);
      assert.match(tunnel.unmanaged[0]?.reason ?? '', /another account/);
      assert.deepEqual(cnames(), []);
      await remove(tunnel.id);
      cloudflare.tunnels.owners.pop();
      // a token that may not list accounts sees that of its zones
      cloudflare.fault = (request, apply) =>
        request.path === '/accounts'
          ? { status: 403, body: { success: false, errors: [{ code: 9109, message: 'no' }] } }
          : apply();
      await remove((await add()).id);
    });

    it('never overwrites a record: nothing is changed anywhere', async () => {
      // made at the provider, and not known here yet
      records(SUB).push({ id: 'foreign', name: 'a.dev.example.com', type: 'A', content: '192.0.2.1', ttl: 300 });
      const body = {
        account_id: account,
        name: fresh(),
        ingress: [rule('free.example.com'), rule('a.dev.example.com')],
      };
      const before = cloudflare.tunnels.kept.length;
      const { errors } = refused(await admin.post('/api/tunnels', body), 409, 409001).data;
      assert.deepEqual(
        errors.map(({ path }) => path),
        ['ingress.1.hostname'],
      );
      assert.match(errors[0]?.message ?? '', /a\.dev\.example\.com has a A record already: 192\.0\.2\.1/);
      assert.deepEqual([cloudflare.tunnels.kept.length, cnames(), await stored()], [before, [], []]);
      const tunnel = await add({ ...body, dns_managed: false });
      assert.deepEqual([tunnel.dns_managed, cnames()], [false, []]);
      const put = (patch: object) => admin.put(`/api/tunnels/${tunnel.id}`, patch);
      refused(await put({ dns_managed: true }), 409, 409001);
      assert.deepEqual(cnames(), []);
      records(SUB).length = 0;
      assert.deepEqual(done(await put({ dns_managed: true })).unmanaged, []);
      assert.deepEqual([cnames().length, cnames(SUB).length], [1, 1]);
      await remove(tunnel.id);
    });

    it('changes rules and name; CNAMEs follow, and unknown settings are kept', async () => {
      const tunnel = await add({
        ingress: [rule('one.example.com', { originRequest: { http2Origin: true } }), rule('two.example.com')],
      });
      const kept = remote(tunnel.tunnel_id);
      assert.ok(kept?.config);
      const target = `${kept.id}.cfargotunnel.com`;
      const held = kept.config.ingress as Record<string, unknown>[];
      Object.assign(kept.config, { originRequest: { noTLSVerify: true }, futureSetting: 7 });
      Object.assign(held[0] as object, { futureField: 'x' });
      Object.assign((held[0] as { originRequest: object }).originRequest, { futureKey: 1 });
      kept.version++;
      const path = `/api/tunnels/${tunnel.id}` as const;
      assert.equal(done(await admin.get(path)).version, 2);
      const name = fresh();
      const ingress = [rule('one.example.com', { service: 'https://localhost' }), rule('three.example.com')];
      const after = done(await admin.put(path, { name, ingress }));
      assert.deepEqual([after.name, after.version, kept.name, kept.version], [name, 3, name, 3]);
      assert.deepEqual(kept.config, {
        'warp-routing': { enabled: false },
        ...{ originRequest: { noTLSVerify: true }, futureSetting: 7 },
        ingress: [
          { ...ingress[0], originRequest: { http2Origin: true, futureKey: 1 }, futureField: 'x' },
          ingress[1],
          CATCH_ALL,
        ],
      });
      assert.deepEqual(cnames(), [`one.example.com ${target}`, `three.example.com ${target}`]);
      // sent back as it is read: nothing is written
      const read = done(await admin.get(path));
      const asked = cloudflare.requests.length;
      assert.deepEqual(done(await admin.put(path, read)), read);
      assert.ok(cloudflare.requests.slice(asked).every(({ method }) => method === 'GET'));
      assert.equal(kept.version, 3);
      // null removes the settings of an origin
      done(await admin.put(path, { ingress: [{ ...ingress[0], originRequest: null }, ingress[1]] }));
      assert.deepEqual((kept.config.ingress as object[])[0], { ...ingress[0], futureField: 'x' });
      // one whose record leads elsewhere by now stays
      const changed = records(ZONE).find((one) => one.name === 'three.example.com');
      assert.ok(changed);
      changed.content = 'elsewhere.example.net';
      done(await admin.put(path, { ingress: [] }));
      assert.deepEqual(cnames(), ['three.example.com elsewhere.example.net']);
      records(ZONE).length = 0;
      refused(await admin.put(path, { tunnel_id: NOBODY }), 400, 400001);
      await remove(tunnel.id);
    });

    it('is changed and deleted only where its configuration is what the caller has seen', async () => {
      const { id } = await add({});
      const path = `/api/tunnels/${id}` as const;
      const seen = { 'if-match': (await admin.get(path)).headers.get('etag') as string };
      const name = fresh();
      const first = await admin.put(path, { name }, seen);
      assert.equal(done(first).name, name);
      const stale = refused(await admin.put(path, { name: fresh() }, seen), 412, 412001);
      assert.equal((stale.data as unknown as { tunnel: { name: string } }).tunnel.name, name);
      refused(await admin.delete(path, undefined, seen), 412, 412001);
      done(await admin.delete(path, undefined, { 'if-match': first.headers.get('etag') as string }));
    });

    it('can be changed where the zone of one hostname is gone at the provider', async () => {
      for (const zone of ['gone.example', 'left.example']) cloudflare.zones.set(zone, []);
      const credentials = { api_token: 'of its own', endpoint: cloudflare.url };
      const account_id = await addAccount(admin, 'cloudflare', credentials);
      const lost = await addDomain(admin, account_id, 'gone.example');
      await addDomain(admin, account_id, 'left.example');
      const ingress = [rule('a.gone.example'), rule('a.left.example')];
      const { id } = await add({ account_id, ingress });
      cloudflare.zones.delete('gone.example');
      const put = async (body: object) =>
        done(await admin.put(`/api/tunnels/${id}`, body)).unmanaged.map(({ hostname, reason }) => [hostname, reason]);
      const gone = [['a.gone.example', 'the provider no longer has the zone gone.example']];
      // it is not known here yet
      assert.deepEqual(await put({ name: fresh() }), gone);
      done(await admin.post(`/api/accounts/${account_id}/sync`));
      assert.equal(done(await admin.get(`/api/domains/${lost}`)).status, 'missing');
      assert.deepEqual(await put({ ingress: [...ingress, rule('b.left.example')] }), gone);
      assert.equal(cnames('left.example').length, 2);
      await remove(id);
    });

    it('does not overwrite a configuration that was changed at the provider', async () => {
      const tunnel = await add({ ingress: [rule('own.example.com')] });
      const kept = remote(tunnel.tunnel_id);
      assert.ok(kept);
      const path = `/api/tunnels/${tunnel.id}` as const;
      const theirs = () => {
        kept.config = { ingress: [rule('own.example.com', { service: 'http://theirs' }), CATCH_ALL] };
        kept.version++;
      };
      theirs();
      const next = { ingress: [rule('own.example.com'), rule('new.example.com')] };
      const before = cnames();
      assert.match(refused(await admin.put(path, next), 409, 409001).msg, /version 2, not 1/);
      // between the first look and the last one
      const isLast = at('/configurations', 'GET', 2);
      cloudflare.fault = (request, apply) => {
        if (isLast(request)) theirs();
        return apply();
      };
      refused(await admin.put(path, next), 409, 409001);
      assert.deepEqual(cnames(), before, 'the new CNAME was taken away again');
      assert.match(JSON.stringify(kept.config), /http:\/\/theirs/);
      const read = done(await admin.get(path));
      assert.equal(read.ingress[0]?.service, 'http://theirs');
      refused(await admin.put(path, { ...next, version: 1 }), 409, 409001);
      done(await admin.put(path, { ...next, version: read.version }));
      await remove(tunnel.id);
    });

    it('deletes the CNAMEs of a change that was refused', async () => {
      const body = { dns_managed: false, ingress: [rule('off.example.com')] };
      const tunnel = await add(body);
      const path = `/api/tunnels/${tunnel.id}` as const;
      const isPut = at('/configurations', 'PUT');
      cloudflare.fault = (request, apply) => (isPut(request) ? unanswered : apply());
      const next = { dns_managed: true, ingress: [rule('off.example.com'), rule('more.example.com')] };
      providerFailed(await admin.put(path, next), /late/);
      const told = done(await admin.get(path));
      assert.deepEqual([told.dns_managed, told.last_error], [false, null]);
      assert.deepEqual(cnames(), [], 'those that were made already are gone');
      assert.equal((await audit('tunnel.update'))?.result, 'failed');
      assert.equal(done(await admin.put(path, next)).dns_managed, true);
      assert.equal(cnames().length, 2);
      await remove(tunnel.id);
    });

    it('keeps the rules when the provider no longer shows them', async () => {
      const tunnel = await add({ ingress: [rule('lost.example.com')] });
      const kept = remote(tunnel.tunnel_id);
      assert.ok(kept);
      const path = `/api/tunnels/${tunnel.id}` as const;
      const about = ({ version, ingress }: { version: number | null; ingress: object[] }) => [version, ingress];
      // a 404 of something else than of a configuration that is not there yet
      cloudflare.fault = (request, apply) =>
        request.path.endsWith('/configurations')
          ? { status: 404, body: { success: false, errors: [{ code: 7003, message: 'Could not route' }] } }
          : apply();
      const told = done(await admin.get(path));
      assert.deepEqual(about(told), about(tunnel));
      assert.match(told.last_error ?? '', /Could not route/);
      providerFailed(await admin.put(path, { ingress: [] }), /Could not route/);
      // answers that are cut short, and those of a gateway or a path that is not known: neither says that it is gone
      const fine = { success: true, errors: [] };
      const unsaid: [part: string, status: number, body: unknown, RegExp][] = [
        ['/configurations', 200, { ...fine, result: { version: 5 } }, /no config/],
        ['/configurations', 200, { ...fine, result: { version: 5, config: null } }, /no config/],
        ['/configurations', 200, { ...fine, result: {} }, /no config/],
        [kept.id, 404, { success: false, errors: [{ code: 7003, message: 'Could not route' }] }, /Could not route/],
        [kept.id, 404, { success: false, errors: [{ code: 7000, message: 'No route' }] }, /No route/],
        [kept.id, 404, '<html>Not found</html>', /HTTP 404/],
        ['/connections', 404, 'Not found', /HTTP 404/],
      ];
      for (const [part, status, body, words] of unsaid) {
        cloudflare.fault = ({ path: asked }, apply) => (asked.endsWith(part) ? { status, body } : apply());
        const { status: seen, last_error, ...rest } = done(await admin.get(path));
        assert.deepEqual([seen, about(rest)], ['inactive', about(tunnel)]);
        assert.match(last_error ?? '', words);
      }
      const unknown = { status: 404, body: { success: false, errors: [{ code: 1003, message: 'Tunnel not found' }] } };
      cloudflare.fault = ({ path: asked }, apply) => (asked.endsWith(kept.id) ? unknown : apply());
      const gone = done(await admin.get(path));
      assert.deepEqual([gone.status, gone.last_error, about(gone)], ['missing', null, about(tunnel)]);
      cloudflare.fault = null;
      // one without rules is none of those
      const { config: whole } = kept;
      Object.assign(kept, { config: { 'warp-routing': { enabled: true } }, version: 2 });
      assert.deepEqual(about(done(await admin.get(path))), [2, []]);
      Object.assign(kept, { config: whole, version: 1 });
      assert.deepEqual(about(done(await admin.get(path))), about(tunnel));
      Object.assign(kept, { config: null, version: 0 });
      assert.deepEqual(about(done(await admin.get(path))), about(tunnel));
      assert.match(refused(await admin.put(path, { ingress: [] }), 409, 409001).msg, /version 0, not 1/);
      assert.deepEqual(about(done(await admin.get(path))), about(tunnel));
      assert.equal(cnames().length, 1);
      assert.equal(done(await admin.put(path, { ingress: [], version: 0 })).version, 1);
      assert.deepEqual(cnames(), []);
      await remove(tunnel.id);
    });

    it('are adopted as they are, without a token, once', async () => {
      const own = cloudflare.tunnels.add(fresh(), { version: 4 });
      own.config = {
        ingress: [
          { ...rule('old.example.com'), path: '' },
          { hostname: '', service: 'hello_world' },
        ],
      };
      cloudflare.tunnels.connect(own);
      const local = cloudflare.tunnels.add(fresh(), { config_src: 'local' });
      const body = { account_id: account, name: own.name };
      refused(await admin.post('/api/tunnels', { ...body, ingress: [] }), 409, 409001);
      assert.match(
        refused(await admin.post('/api/tunnels', { ...body, name: local.name }), 409, 409001).msg,
        /file beside/,
      );
      const asked = cloudflare.requests.length;
      const tunnel = made(await admin.post('/api/tunnels', body));
      assert.ok(cloudflare.requests.slice(asked).every(({ method }) => method === 'GET'));
      assert.deepEqual([tunnel.adopted, tunnel.token, tunnel.version, tunnel.status], [true, null, 4, 'healthy']);
      assert.deepEqual(tunnel.ingress, [rule('old.example.com'), { service: 'hello_world' }]);
      assert.deepEqual([tunnel.connections.length, tunnel.connections[0]?.opened_at], [1, '2026-01-01T00:00:00.123Z']);
      assert.deepEqual(
        tunnel.unmanaged.map(({ hostname }) => hostname),
        ['old.example.com'],
      );
      const again = refused(await admin.post('/api/tunnels', body), 409, 409001).data.errors[0];
      assert.deepEqual([again?.path, again?.params?.id], ['name', tunnel.id]);
      const path = `/api/tunnels/${tunnel.id}` as const;
      // what it has may be sent back, whatever it is; the CNAME is made
      assert.deepEqual(done(await admin.put(path, done(await admin.get(path)))).unmanaged, []);
      assert.deepEqual(cnames(), [`old.example.com ${own.id}.cfargotunnel.com`]);
      assert.equal(own.version, 4);
      const before = own.secret;
      let begun: string | undefined;
      cloudflare.fault = async (request, apply) => {
        if (request.method === 'PATCH') begun = (await audit('tunnel.rotate'))?.target?.name ?? undefined;
        return apply();
      };
      const { token } = done(await admin.post(`${path}/rotate-token`));
      assert.equal(begun, own.name, 'what is cut off is in the audit log, too');
      assert.notEqual(own.secret, before);
      assert.equal(JSON.parse(Buffer.from(token, 'base64').toString()).s, own.secret);
      assert.equal((await audit('tunnel.rotate'))?.result, 'ok');
      own.connectors = [];
      await remove(tunnel.id);
      assert.deepEqual(cnames(), []);
    });

    it('with very many hostnames are adopted, changed and shown, in steps where they are too many', async () => {
      const zone = 'many.example';
      cloudflare.zones.set(zone, []);
      const many = await addDomain(admin, account, zone);
      const names = (count: number, text: string) => Array.from({ length: count }, (_, i) => `${text}-${i}.${zone}`);
      const of = (hostnames: string[]) => hostnames.map((hostname) => rule(hostname));
      const hostnames = names(700, 'host');
      const own = cloudflare.tunnels.add(fresh(), { version: 1, config: { ingress: [...of(hostnames), CATCH_ALL] } });
      const reasons = ({ unmanaged }: { unmanaged: { hostname: string; reason: string }[] }) => [
        unmanaged.length,
        unmanaged.at(-1)?.hostname,
        unmanaged.at(-1)?.reason,
      ];
      const tunnel = made(await admin.post('/api/tunnels', { account_id: account, name: own.name }));
      const unmade = 'no CNAME to it is known here; saving the tunnel makes it';
      assert.deepEqual(reasons(tunnel), [700, hostnames.at(-1), unmade]);
      const path = `/api/tunnels/${tunnel.id}` as const;
      // none of them can get one now
      for (const name of hostnames)
        records(zone).push({ id: name, name, type: 'AAAA', content: '2001:db8::1', ttl: 300 });
      const told = done(await admin.put(path, { ingress: of(hostnames) }));
      const [, last, why] = reasons(told);
      assert.equal(last, hostnames.at(-1));
      assert.match(`${why}`, /^host-699\.many\.example has a AAAA record already \(id \d+\)$/);
      await remove(tunnel.id);
      // old and new names are remembered until all is done
      const long = (text: string) => names(190, `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${text}`);
      const [before, after] = [long('before'), long('after')];
      const next = await add({ ingress: of(before) });
      const asked = cloudflare.requests.length;
      const to = (ingress: string[]) => admin.put(`/api/tunnels/${next.id}`, { ingress: of(ingress) });
      const { errors } = refused(await to(after), 400, 400001).data;
      assert.deepEqual([errors[0]?.path, errors[0]?.code], ['ingress', 'length']);
      assert.ok(cloudflare.requests.slice(asked).every(({ method }) => method === 'GET'));
      done(await to([...before.slice(95), ...after.slice(0, 95)]));
      assert.equal(done(await to(after)).version, 3);
      assert.equal(cnames(zone).length, 190);
      await remove(next.id);
      // more than can be kept is left where it is
      const larger = cloudflare.tunnels.add(fresh(), { version: 1, config: { ingress: of([...before, ...after]) } });
      const { msg } = refused(
        await admin.post('/api/tunnels', { account_id: account, name: larger.name }),
        409,
        409001,
      );
      assert.match(msg, /60000 bytes of rules/);
      assert.deepEqual(await stored(), []);
      done(await admin.delete(`/api/domains/${many}`));
      cloudflare.zones.delete(zone);
    });

    it('are not deleted while connectors run them, unless that is forced', async () => {
      const tunnel = await add({ ingress: [rule('busy.example.com')] });
      const kept = remote(tunnel.tunnel_id);
      assert.ok(kept);
      const path = `/api/tunnels/${tunnel.id}` as const;
      cloudflare.tunnels.connect(kept);
      refused(await admin.delete(path), 409, 409001);
      // one that comes between the look and the deletion
      kept.connectors = [];
      cloudflare.fault = (request, apply) => {
        if (request.method === 'DELETE') cloudflare.tunnels.connect(kept);
        return apply();
      };
      refused(await admin.delete(path), 409, 409001);
      cloudflare.fault = null;
      const told = done(await admin.get(path));
      assert.deepEqual([told.state, told.status, told.connections.length, cnames().length], ['ready', 'healthy', 1, 1]);
      const refuses = at(kept.id, 'DELETE');
      const routes = { code: 1023, message: 'Cannot delete tunnel because it has IP routes' };
      cloudflare.fault = (request, apply) =>
        refuses(request) ? { status: 400, body: { success: false, errors: [routes] } } : apply();
      providerFailed(await admin.delete(`${path}?force=true`), /IP routes/);
      cloudflare.fault = null;
      refused(await admin.delete(path), 409, 409001);
      const before = kept.secret;
      done(await admin.delete(`${path}?force=true`));
      assert.notEqual(kept.secret, before, 'no connector can come back');
      assert.ok(kept.deleted_at);
      assert.deepEqual([cnames(), await stored()], [[], []]);
    });

    it('a deletion that fails is retried less and less often, and its secret is rotated once', async () => {
      const tunnel = await add({ ingress: [rule('stuck.example.com')] });
      const kept = remote(tunnel.tunnel_id);
      assert.ok(kept);
      cloudflare.tunnels.connect(kept);
      let tries = 0;
      cloudflare.fault = (request, apply) => {
        if (request.method !== 'DELETE' || !request.path.endsWith('/connections')) return apply();
        tries++;
        return unanswered;
      };
      providerFailed(await admin.delete(`/api/tunnels/${tunnel.id}?force=true`), /late/);
      const { secret } = kept;
      const first = tries;
      for (let look = 1; look <= 6; look++) await run('tunnels.settle');
      // in rounds 1, 2, 4, and 8: scheduled rounds may be among them
      assert.ok(tries >= 4 * first && tries <= 5 * first, `${tries} of ${first}`);
      assert.equal(kept.secret, secret);
      assert.equal(done(await admin.get(`/api/tunnels/${tunnel.id}`)).state, 'deleting');
      cloudflare.fault = null;
      done(await admin.delete(`/api/tunnels/${tunnel.id}?force=true`));
      assert.deepEqual([cnames(), await stored()], [[], []]);
    });

    it('the last answer of the provider is stored, and shown when it does not answer', async () => {
      const tunnel = await add();
      const kept = remote(tunnel.tunnel_id);
      assert.ok(kept);
      const path = `/api/tunnels/${tunnel.id}` as const;
      cloudflare.tunnels.connect(kept);
      // an answer does not wait for a slow provider: what comes late is in the next one
      await until('it is seen', async () => done(await admin.get(path)).status === 'healthy');
      cloudflare.fault = () => ({
        status: 403,
        body: { success: false, errors: [{ code: 10000, message: 'Authentication error' }] },
      });
      await until('why not is told', async () =>
        /Authentication error/.test(done(await admin.get(path)).last_error ?? ''),
      );
      const [told] = done(await admin.get('/api/tunnels'));
      assert.deepEqual([told?.status, told?.connections.length], ['healthy', 1]);
      cloudflare.fault = null;
      // the job asks once for all
      const other = await add();
      kept.name = 'renamed-there';
      kept.connectors = [];
      kept.status = 'down';
      (remote(other.tunnel_id) as { deleted_at: string }).deleted_at = '2026-01-01T00:00:00Z';
      const asked = cloudflare.requests.length;
      await run('tunnels.status');
      const rows = done(await admin.get('/api/tunnels')).map(({ name, status }) => `${name} ${status}`);
      assert.deepEqual(rows, ['renamed-there down', `${other.name} missing`]);
      const paths = cloudflare.requests.slice(asked).map(({ path: one }) => one.split('/').at(-1));
      assert.deepEqual(new Set(paths), new Set(['cfd_tunnel']));
      assert.equal(done(await admin.get(path)).last_error, null);
      await remove(other.id);
      await remove(tunnel.id);
    });

    const steps: [string, string, string][] = [
      ['the creation', '/cfd_tunnel', 'POST'],
      ['the configuration', '/configurations', 'PUT'],
      ['the CNAMEs', '/dns_records/batch', 'POST'],
      ['the CNAME of the second zone', `${SUB}/dns_records`, 'POST'],
    ];
    const ingress = [rule('h1.example.com'), rule('h2.example.com'), rule('h3.dev.example.com')];
    for (const [what, path, method] of steps) {
      it(`leaves nothing behind when ${what} is refused, or carried out without an answer`, async () => {
        const before = cloudflare.tunnels.live().length;
        for (const isLate of [false, true]) {
          const isIt = at(path, method);
          cloudflare.fault = (request, apply) => {
            if (!isIt(request)) return apply();
            if (!isLate)
              return {
                status: 403,
                body: { success: false, errors: [{ code: 10000, message: 'Authentication error' }] },
              };
            apply();
            return unanswered;
          };
          const body = { account_id: account, name: fresh(), ingress };
          providerFailed(await admin.post('/api/tunnels', body), isLate ? /late/ : /Authentication error/);
          cloudflare.fault = null;
          await until('what is unclear is settled', async () => (await stored()).length === 0);
          assert.equal(cloudflare.tunnels.live().length, before);
          assert.deepEqual([cnames(), cnames(SUB)], [[], []]);
          const entry = await audit('tunnel.create');
          assert.deepEqual([entry?.result, entry?.target?.name ?? body.name], ['failed', body.name]);
          // the name is free
          await remove((await add(body)).id);
        }
      });
    }

    it('reports a name that was taken meanwhile, and credentials that may only read', async () => {
      const name = fresh();
      const first = at('/cfd_tunnel', 'POST');
      cloudflare.fault = (request, apply) => {
        if (first(request)) cloudflare.tunnels.add(name);
        return apply();
      };
      const { errors } = refused(await admin.post('/api/tunnels', { account_id: account, name }), 409, 409001).data;
      assert.deepEqual([errors[0]?.path, await stored()], ['name', []]);
      // one that is told to come back comes back
      const limited = at('/cfd_tunnel', 'POST');
      cloudflare.fault = (request, apply) =>
        limited(request)
          ? { status: 429, headers: { 'retry-after': '0' }, body: { success: false, errors: [] } }
          : apply();
      for (const one of cloudflare.tunnels.live()) if (one.name === name) one.deleted_at = '2026-01-01T00:00:00Z';
      const { id } = made(await admin.post('/api/tunnels', { account_id: account, name }));
      cloudflare.tunnels.readOnly = true;
      providerFailed(await admin.post('/api/tunnels', { account_id: account, name: fresh() }), /Authentication error/);
      providerFailed(await admin.delete(`/api/tunnels/${id}`), /Authentication error/);
      assert.equal(done(await admin.get(`/api/tunnels/${id}`)).state, 'ready');
      cloudflare.tunnels.readOnly = false;
      await remove(id);
    });

    it('of two creations with the same name at once one succeeds', async () => {
      const body = { account_id: account, name: fresh(), ingress: [rule('twice.example.com')] };
      const answers = await Promise.all([1, 2, 3].map(() => admin.post('/api/tunnels', body)));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409]);
      assert.equal(cnames().length, 1);
      await remove(answers.find(({ status }) => status === 201)?.data.id as number);
    });

    it('are deleted with their account when that is forced, and stay at the provider', async () => {
      const other = await addAccount(admin, 'cloudflare', { api_token: 'other', endpoint: cloudflare.url });
      const tunnel = await add({ account_id: other });
      assert.match(refused(await admin.delete(`/api/accounts/${other}`), 409, 409001).msg, /and 1 tunnels/);
      done(await admin.delete(`/api/accounts/${other}?force=true`));
      refused(await admin.get(`/api/tunnels/${tunnel.id}`), 404, 404001);
      assert.equal(remote(tunnel.tunnel_id)?.deleted_at, null);
      // one that is being made is deleted at the provider, too: nobody has seen its token
      const last = await addAccount(admin, 'cloudflare', { api_token: 'last', endpoint: cloudflare.url });
      const isMade = at('/configurations', 'PUT');
      cloudflare.fault = async (request, apply) => {
        if (isMade(request)) done(await admin.delete(`/api/accounts/${last}?force=true`));
        return apply();
      };
      const name = fresh();
      refused(await admin.post('/api/tunnels', { account_id: last, name }), 404, 404001);
      assert.ok(cloudflare.tunnels.kept.find((one) => one.name === name)?.deleted_at);
    });
  });
}
