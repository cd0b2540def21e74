import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { type Client, type Service, startService } from '../support/server.js';
import { rowsOf } from '../support/tables.js';
import { addAccount, addDomain, done, made, providerFailed, until } from '../support/world.js';

const ZONE = 'example.com';

describe('a provider that is slow while a failed change is undone', () => {
  let service: Service;
  let admin: Client;
  let cloudflare: Cloudflare;
  let account: number;

  beforeAll(async () => {
    cloudflare = await startCloudflare(ZONE);
    service = await startService('sqlite', { PROVIDER_TIMEOUT_MS: '60000' });
    ({ admin } = service);
    account = await addAccount(admin, 'cloudflare', { api_token: 'token', endpoint: cloudflare.url });
    await addDomain(admin, account, ZONE);
  });
  afterAll(async () => {
    await service?.stop();
    await cloudflare?.stop();
  });

  const rules = (...hosts: string[]) =>
    hosts.map((host) => ({ hostname: `${host}.${ZONE}`, service: 'http://localhost' }));
  const cnames = () => (cloudflare.zones.get(ZONE) ?? []).map(({ name }) => name.split('.')[0]).toSorted();
  const stored = () => rowsOf(service, 'SELECT name, mark, state FROM tunnels ORDER BY name');
  const isLocked = async (tunnel: string) => {
    const { mark } = (await stored()).find(({ name }) => name === tunnel) ?? {};
    const key = createHash('sha256').update(`tunnel|${mark}`).digest('hex');
    return (await rowsOf(service, `SELECT name FROM leases WHERE name = '${key}'`)).length === 1;
  };

  it('does not hold up the answer, and no other change begins before the undoing has ended', async () => {
    const changed = made(
      await admin.post('/api/tunnels', { account_id: account, name: 'changed', ingress: rules('a') }),
    );
    const path = `/api/tunnels/${changed.id}` as const;
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const failed = new Set<string>();
    const slow = new Set<string>();
    const late = { status: 500, body: { success: false, errors: [{ code: 1, message: 'late' }] } };
    cloudflare.fault = async (request, apply) => {
      const tunnel = cloudflare.tunnels.kept.find(({ id }) => request.path.includes(id))?.name ?? '';
      const isConfig = request.path.endsWith('/configurations');
      if (isConfig && request.method === 'PUT' && !failed.has(tunnel)) {
        failed.add(tunnel);
        return late;
      }
      // the first look at the rules after the failure, and the deletion of what was made
      const answer = apply();
      const isFirst = failed.has(tunnel) && !slow.has(tunnel);
      if (isFirst && (isConfig ? request.method === 'GET' : request.method === 'DELETE')) {
        slow.add(tunnel);
        await opened;
      }
      return answer;
    };
    const put = () => admin.put(path, { ingress: rules('a', 'b') });
    const create = () => admin.post('/api/tunnels', { account_id: account, name: 'made', ingress: rules('c') });
    const answers = await Promise.all([put(), create()]);
    for (const answer of answers) providerFailed(answer, /late/);
    assert.deepEqual([await isLocked('changed'), await isLocked('made')], [true, true]);

    const again = Promise.all([put(), create()]);
    open();
    const [second, other] = await again;
    assert.equal(done(second).version, 2);
    assert.equal(made(other).adopted, false);
    await until('all has ended', async () => (await stored()).every(({ state }) => state === 'ready'));
    assert.deepEqual(cnames(), ['a', 'b', 'c']);
    const names = cloudflare.tunnels.live().map(({ name }) => name);
    assert.deepEqual(names.toSorted(), ['changed', 'made']);
  });

  it('a CNAME that is refused for good does not block the tunnel, and is made once the quota allows it', async () => {
    const kept = cloudflare.tunnels.add('quota', { version: 4 });
    kept.config = { ingress: [...rules('full'), { service: 'http_status:404' }] };
    const { id } = made(await admin.post('/api/tunnels', { account_id: account, name: kept.name }));
    const path = `/api/tunnels/${id}` as const;
    const full = { status: 400, body: { success: false, errors: [{ code: 81045, message: 'quota exceeded' }] } };
    cloudflare.fault = (request, apply) =>
      request.path.includes('/dns_records') && request.method === 'POST' ? full : apply();
    providerFailed(await admin.put(path, { ingress: rules('full', 'more') }), /quota exceeded/);
    const told = done(await admin.get(path));
    assert.deepEqual([told.state, told.last_error], ['ready', null]);
    assert.deepEqual(
      told.unmanaged.map(({ hostname }) => hostname),
      [`full.${ZONE}`],
    );
    // what needs no CNAME can be changed, and without rules for it nothing asks for one
    assert.deepEqual(done(await admin.put(path, { ingress: [] })).unmanaged, []);
    cloudflare.fault = null;
    done(await admin.put(path, { ingress: rules('full') }));
    assert.ok(cnames().includes('full'));
  });

  it('CNAMEs whose rules were removed at the provider are listed, and deleted with the next change or the tunnel', async () => {
    for (const action of ['change', 'delete'] as const) {
      const body = { account_id: account, name: `left-${action}`, ingress: rules('kept', 'left') };
      const { id, tunnel_id } = made(await admin.post('/api/tunnels', body));
      const path = `/api/tunnels/${id}` as const;
      const kept = cloudflare.tunnels.kept.find((one) => one.id === tunnel_id);
      assert.ok(kept?.config);
      const theirs = (...hosts: string[]) => {
        kept.config = { ingress: [...rules(...hosts), { service: 'http_status:404' }] };
        kept.version++;
      };
      const unmanaged = async () => done(await admin.get(path)).unmanaged.map(({ hostname }) => hostname);
      theirs('kept');
      assert.deepEqual(await unmanaged(), [`left.${ZONE}`]);
      theirs('kept', 'left');
      assert.deepEqual(await unmanaged(), []);
      theirs('kept');
      assert.deepEqual(await unmanaged(), [`left.${ZONE}`]);
      assert.ok(cnames().includes('left'), 'it may come back');
      if (action === 'change') {
        assert.deepEqual(done(await admin.put(path, { name: 'renamed' })).unmanaged, []);
        assert.deepEqual([cnames().includes('left'), cnames().includes('kept')], [false, true]);
      }
      done(await admin.delete(path));
      assert.deepEqual([cnames().includes('left'), cnames().includes('kept')], [false, false]);
    }
  });
});
