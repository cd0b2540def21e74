import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { startStandIn } from '../support/vendor.js';
import { done, made, refused, startWorld, until, type World } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
const METRICS = { METRICS: 'on', METRICS_TOKEN: 'a-token-for-the-metrics' };
const SLOW_DOWN = '{"error": "too many requests of this key"}';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`an account that its provider has paused, on ${kind}`, () => {
    let world: World;
    let second: ServerProcess;
    let hosts = 0;
    const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));

    const startSecond = async () => {
      const own = join(world.server.dataDir, 'zoneward.db');
      const DATABASE_URL = kind === 'sqlite' ? `sqlite:${own}` : world.databaseUrl;
      second = await ServerProcess.start(
        { DATABASE_URL, SECRET_KEY, OUTBOUND_ALLOW: '127.0.0.1', ...METRICS },
        dataDir,
      );
    };
    beforeAll(async () => {
      world = await startWorld(kind, { SECRET_KEY, OUTBOUND_ALLOW: '127.0.0.1', ...METRICS });
      await startSecond();
    });
    afterAll(async () => {
      await second?.kill();
      rmSync(dataDir, { recursive: true, force: true });
      await world?.stop();
    });
    afterEach(async () => {
      world.proxy.fault = null;
      done(await world.admin.post(`/api/accounts/${world.account}/resume`));
    });

    const other = () => second.as(world.token);
    const create = (client = world.admin) =>
      client.post(world.records, { host: `host${hosts++}`, type: 'A', value: '192.0.2.1' });
    const account = async (client = world.admin) => done(await client.get(`/api/accounts/${world.account}`));
    const wantsPause = (seconds: number) => {
      world.proxy.fault = async () => ({
        status: 429,
        body: SLOW_DOWN,
        headers: { 'retry-after': String(seconds) },
      });
    };
    /** Has the account paused for an hour by a failing change; then the provider takes calls again. */
    async function pause(): Promise<string> {
      wantsPause(3600);
      const { data } = refused(await create(), 500, 500002);
      world.proxy.fault = null;
      world.proxy.requests.length = 0;
      return data.retry_at as string;
    }
    /** That a call failed because of the pause, which is named with its end. */
    function assertPaused(answer: Answer, at: string): void {
      const { data, msg, headers } = refused(answer, 500, 500002);
      assert.deepEqual([data.kind, data.retryable, data.applied], ['rate_limit', true, 'no']);
      assert.equal(data.retry_at, at);
      assert.ok(msg.includes(data.retry_at as string), msg);
      assert.ok(Number(headers.get('retry-after')) > 3000);
    }

    it('is shown with its end and reason at each replica, and each refuses calls without asking the provider', async () => {
      const { proxy, admin } = world;
      const at = await pause();
      for (const client of [admin, other()]) {
        const shown = await account(client);
        assert.equal(shown.paused_until, at);
        assert.match(shown.pause_reason ?? '', /too many requests of this key/);
        const [listed] = done(await client.get('/api/accounts'));
        assert.deepEqual([listed?.paused_until, listed?.pause_reason], [shown.paused_until, shown.pause_reason]);
      }
      assertPaused(await create(), at);
      assertPaused(await create(other()), at);
      await second.stop();
      await startSecond();
      assertPaused(await create(other()), at);
      assert.equal(proxy.requests.length, 0);
    });

    it('is counted, and notified of once, but for short pauses', async () => {
      const { admin, server } = world;
      const standIn = await startStandIn(() => ({ status: 204 }));
      const events = ['account.paused'];
      const channel = { id: 'ops', type: 'webhook', name: 'Ops', config: { url: standIn.url }, events };
      done(await admin.put('/api/settings/notifications', { channels: [channel] }));
      wantsPause(300);
      refused(await create(), 500, 500002);
      done(await admin.post(`/api/accounts/${world.account}/resume`));
      const at = await pause();
      refused(await create(other()), 500, 500002);
      const told = await rowsOf(world, 'SELECT event, content FROM deliveries');
      assert.deepEqual(
        told.map(({ event }) => event),
        events,
      );
      const { text, details } = JSON.parse(String(told[0]?.content));
      assert.match(text, /powerdns account/);
      assert.equal(details.account_id, world.account);
      assert.equal(details.paused_until, at);
      const headers = { authorization: `Bearer ${METRICS.METRICS_TOKEN}` };
      const paused = async (url: string) =>
        /^zoneward_accounts_paused\{kind="powerdns"\} (\d+)$/m.exec(
          await (await fetch(`${url}/metrics`, { headers })).text(),
        )?.[1];
      for (const { url } of [server, second]) assert.equal(await paused(url), '1');
      done(await admin.post(`/api/accounts/${world.account}/resume`));
      for (const { url } of [server, second]) assert.equal(await paused(url), undefined);
      await standIn.stop();
    });

    it('is ended by an administrator at each replica, and the audit log has it', async () => {
      const { admin } = world;
      const at = await pause();
      assertPaused(await create(other()), at);
      const resumed = done(await other().post(`/api/accounts/${world.account}/resume`));
      assert.deepEqual([resumed.paused_until, resumed.pause_reason], [null, null]);
      made(await create());
      made(await create(other()));
      const [entry] = done(await admin.get('/api/audit/logs?action=account.resume&limit=1')).list;
      assert.deepEqual([entry?.target?.id, entry?.result], [world.account, 'ok']);
      assert.equal((entry?.before as { paused_until: string } | undefined)?.paused_until, at);
      // nothing to end
      assert.equal(done(await admin.post(`/api/accounts/${world.account}/resume`)).paused_until, null);
      refused(await admin.post('/api/accounts/999999/resume'), 404, 404001);
    });

    it('is ended at a replica that got a shorter pause at the same time', async () => {
      const { proxy } = world;
      const asked: ((seconds: number) => void)[] = [];
      proxy.fault = () =>
        new Promise((resolve) => {
          asked.push((seconds) =>
            resolve({ status: 429, body: SLOW_DOWN, headers: { 'retry-after': String(seconds) } }),
          );
        });
      const here = create();
      await until('it is asked', async () => asked.length > 0);
      const first = asked.splice(0);
      const there = create(other());
      await until('it is asked again', async () => asked.length > 0);
      for (const answer of first) answer(3600);
      refused(await here, 500, 500002);
      for (const answer of asked) answer(3000);
      refused(await there, 500, 500002);
      proxy.fault = null;
      done(await world.admin.post(`/api/accounts/${world.account}/resume`));
      made(await create());
      made(await create(other()));
    });

    it('ends with other credentials, and its fields may be sent back', async () => {
      const { admin, proxy, pdns } = world;
      await pause();
      const shown = await account();
      assert.notEqual(shown.paused_until, null);
      done(await admin.put(`/api/accounts/${world.account}`, { ...shown, remark: 'paused' }));
      const credentials = { url: `${proxy.url}/`, api_key: pdns.apiKey };
      const changed = done(await admin.put(`/api/accounts/${world.account}`, { credentials }));
      assert.deepEqual([changed.paused_until, changed.pause_reason], [null, null]);
      made(await create());
      made(await create(other()));
      const former = { url: proxy.url, api_key: pdns.apiKey };
      done(await admin.put(`/api/accounts/${world.account}`, { credentials: former }));
    });

    it('ends when its time is over, and is no longer shown', async () => {
      wantsPause(2);
      const { proxy } = world;
      const refusing = proxy.fault as NonNullable<typeof proxy.fault>;
      let shown: string | null = null;
      // the change itself waits for the end of the pause
      proxy.fault = async (request, forward) => {
        if (proxy.requests.length > 1) return forward();
        return refusing(request, forward);
      };
      proxy.requests.length = 0;
      const change = create();
      await until('the pause is shown', async () => {
        shown = (await account()).paused_until;
        return shown !== null;
      });
      made(await change);
      await until('it is over', async () => (await account()).paused_until === null);
    });

    it('lets a background list go on that waits at another replica, once it ends', async () => {
      const { admin, proxy, domain } = world;
      let refusals = 0;
      proxy.fault = async ({ method }, forward) => {
        if (method !== 'PATCH' || refusals > 0) return forward();
        refusals++;
        return { status: 429, body: SLOW_DOWN, headers: { 'retry-after': '3600' } };
      };
      const changes = Array.from({ length: 250 }, (_, i) => ({
        op: 'create',
        host: `list${i}`,
        type: 'A',
        value: '192.0.2.1',
      }));
      const list = await admin.post(`/api/domains/${domain}/records/batch`, { changes });
      assert.equal(list.status, 202);
      await until('it is paused', async () => (await account(other())).paused_until !== null);
      done(await other().post(`/api/accounts/${world.account}/resume`));
      const ended = async () =>
        done(await admin.get(`/api/domains/${domain}/changes/${list.data.change_set_id}`)).state === 'done';
      await until('the list is done', ended);
      assert.equal(done(await admin.get(`${world.records}?keyword=list`)).total, 250);
    });
  });
}
