import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { Courier } from '../../src/notifications/courier.service.js';
import type { DeliveryView } from '../../src/notifications/deliveries.dto.js';
import { DeliveriesRepository } from '../../src/notifications/deliveries.repository.js';
import { Hooks } from '../../src/notifications/hooks.service.js';
import { Mailer } from '../../src/notifications/mailer.service.js';
import { now } from '../../src/platform/common/clock.js';
import { DatabaseService } from '../../src/platform/database/database.service.js';
import { Db } from '../../src/platform/database/db.js';
import { Installation } from '../../src/platform/database/installation.js';
import { Events, type Notice } from '../../src/platform/events/events.js';
import type { Jobs } from '../../src/platform/jobs/jobs.js';
import { SettingsService } from '../../src/settings/settings.service.js';
import { UnusedTokens } from '../../src/tokens/unused-tokens.service.js';
import { freePort } from '../support/bind.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { applicationOf, ServerProcess, type Service, startProcess, startService } from '../support/server.js';
import { SILENT } from '../support/silent.js';
import { sleep } from '../support/sleep.js';
import { startSmtp } from '../support/smtp.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { type Handler, type Received, type StandIn, startStandIn } from '../support/vendor.js';
import { addAccount, done, made, refused, until } from '../support/world.js';

/** ms between two looks of all processes */
const LOOK_MS = 2;

const ENV = { OUTBOUND_ALLOW: '127.0.0.0/8', SECRET_KEY: 'the-same-key-of-all-replicas-01234567890' };
const SECRET = 'Planted-Hook-Secret-Toucan-17';

const hook = (id: string, url: string, more: object = {}) => ({
  id,
  type: 'webhook',
  name: id,
  config: { url },
  events: ['audit.rule'],
  ...more,
});
const textsOf = (requests: Received[]) => requests.map((request) => (request.body as { text: string }).text);
const idOf = (request: Received | undefined) => request?.headers['x-zoneward-delivery'];

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`outbox of notices on ${kind}`, () => {
    let service: Service;
    let db: Db;
    let close: () => Promise<void>;
    const afterTest = atEndOfTest();

    beforeAll(async () => {
      service = await startService(kind, ENV);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
    });
    beforeEach(async () => {
      await set();
      await until('no delivery waits', async () => !(await states()).includes('waiting'));
      await db.run('DELETE FROM deliveries');
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    const application = () => applicationOf(service.server.dataDir);
    const set = async (...channels: object[]) =>
      done(await service.admin.put('/api/settings/notifications', { channels }));
    const tell = async (text: string, more: Partial<Notice> = {}) => {
      await application()
        ?.get(Events)
        .emit('notice', { event: 'audit.rule', text, ...more });
    };
    const rows = () =>
      db.rows<{ id: number; state: string; tries: number; error: string | null; channel: string; next_at: string }>(
        'SELECT id, state, tries, error, channel, next_at FROM deliveries ORDER BY id',
      );
    const states = async () => (await rows()).map(({ state }) => state);
    const failures = (wanted: number) =>
      until(`${wanted} failures`, async () =>
        (await rows()).some(({ tries, error }) => tries >= wanted && error !== null),
      );
    /** Makes all deliveries due. Only while none is in flight: its `next_at` would be its lease. */
    const later = async () => {
      await db.run("UPDATE deliveries SET next_at = ?, error = NULL WHERE state = 'waiting'", [now()]);
      await application()?.get(Events).emit('notice.queued');
    };
    const receiver = async (handler: Handler = () => ({ status: 204 }), port = 0): Promise<StandIn> => {
      const standIn = await startStandIn(handler, port);
      afterTest(() => standIn.stop());
      return standIn;
    };

    it('sends a signed notice to each channel that asks for it, and lists the deliveries', async () => {
      const [a, b, named] = [await receiver(), await receiver(), await receiver()];
      await set(
        hook('a', `${a.url}/in`, { config: { url: `${a.url}/in`, secret: SECRET } }),
        hook('b', b.url, { events: ['sync.failed'] }),
        hook('off', b.url, { enabled: false }),
        hook('named', named.url, { events: [] }),
      );
      await tell('Ten\nrefused\u202e logins', { domain: 'example.com', details: { count: 10 } });
      await tell('by its name', { channels: ['named', 'off', 'nobody'] });
      await until('both are sent', async () => (await states()).join() === 'sent,sent');
      assert.deepEqual([a.requests.length, b.requests.length, textsOf(named.requests)], [1, 0, ['by its name']]);
      const [{ method, path, headers, body }] = a.requests as [Received];
      assert.deepEqual([method, path, headers['x-zoneward-event']], ['POST', '/in', 'audit.rule']);
      const { time, delivery, ...rest } = body as Record<string, unknown>;
      const text = 'Ten refused logins';
      const message = { event: 'audit.rule', text, domain: 'example.com', details: { count: 10 }, site: 'Zoneward' };
      assert.deepEqual(rest, message);
      assert.equal(delivery, headers['x-zoneward-delivery']);
      assert.match(String(time), /^\d{4}-.*Z$/);
      const signed = `${headers['x-zoneward-timestamp']}.${JSON.stringify(body)}`;
      const hash = createHmac('sha256', SECRET).update(signed).digest('hex');
      assert.equal(headers['x-zoneward-signature'], `sha256=${hash}`);
      const { total, list } = done(await service.admin.get('/api/system/notifications?channel=a&page=1'));
      assert.equal(total, 1);
      const { id: _id, notice: _notice, created_at: _at, sent_at, ended_at, ...shown } = list[0] as (typeof list)[0];
      assert.deepEqual(shown, {
        channel: 'a',
        event: 'audit.rule',
        domain: 'example.com',
        text,
        state: 'sent',
        tries: 1,
        error: null,
        next_at: null,
      });
      assert.ok(sent_at);
      assert.equal(ended_at, sent_at);
    });

    it('a receiver that is unavailable for an hour gets each notice once, in order', async () => {
      const port = await freePort();
      await set(hook('a', `http://127.0.0.1:${port}`));
      for (const text of ['one', 'two', 'three']) await tell(text);
      // the waiting times of an hour: 12 s, 30 s, 2, 5, 15 and 30 minutes
      for (let tries = 1; tries <= 6; tries++) {
        await failures(tries);
        if (tries < 6) await later();
      }
      const [first, ...others] = await rows();
      assert.match(first?.error ?? '', /cannot be reached.*ECONNREFUSED/);
      // deliveries behind the first one wait without a try
      assert.deepEqual(
        others.map(({ tries }) => tries),
        [0, 0],
      );
      await tell('four');
      const { requests } = await receiver(undefined, port);
      await later();
      await until('all are sent', async () => (await states()).join() === 'sent,sent,sent,sent');
      assert.deepEqual(textsOf(requests), ['one', 'two', 'three', 'four']);
      assert.equal(new Set(requests.map(idOf)).size, 4);
    });

    it('an unavailable channel never delays another', async () => {
      let release = () => {};
      const hanging = new Promise<void>((resolve) => {
        release = resolve;
      });
      const dead = await receiver(async () => {
        await hanging;
        return { status: 500 };
      });
      const live = await receiver();
      const deads = Array.from({ length: 10 }, (_none, i) => hook(`dead-${i}`, dead.url));
      await set(...deads, hook('live', live.url));
      for (const text of ['one', 'two', 'three']) await tell(text);
      await until('the live one has all', async () => live.requests.length === 3);
      assert.deepEqual(textsOf(live.requests), ['one', 'two', 'three']);
      // the other channels are still at their first try, and none has failed
      await until('all dead ones hang', async () => dead.requests.length === 10);
      assert.equal((await rows()).filter(({ error }) => error !== null).length, 0);
      release();
      await until('all have failed', async () => (await rows()).filter(({ error }) => error !== null).length === 10);
      await db.run("UPDATE deliveries SET state = 'dead'");
    });

    it('tries again after Retry-After, also when that is short', async () => {
      let header: string | null = '5';
      const { url } = await receiver(() =>
        header ? { status: 429, headers: { 'retry-after': header } } : { status: 204 },
      );
      await set(hook('a', url));
      await tell('one');
      const waits = async (tries: number) => {
        await failures(tries);
        return Date.parse((await rows())[0]?.next_at ?? '') - Date.now();
      };
      // the default delay would be 12 s
      assert.ok((await waits(1)) < 10_000);
      // an HTTP date; the default delay would be two minutes
      header = new Date(Date.now() + 600_000).toUTCString();
      await db.run('UPDATE deliveries SET tries = 2');
      await later();
      assert.ok((await waits(3)) > 300_000);
      // short waits are not honoured for ever
      header = '1';
      await db.run('UPDATE deliveries SET tries = 5');
      await later();
      assert.ok((await waits(6)) > 300_000);
      header = null;
      await later();
      await until('it is sent', async () => (await states()).join() === 'sent');
    });

    it('queues at most fifty notices of an event for a channel, but all notices that are sent once', async () => {
      const [full, other] = [await receiver(() => ({ status: 503 })), await receiver()];
      await set(hook('full', full.url), hook('other', other.url, { events: ['audit.rule', 'sync.failed'] }));
      await tell('first');
      await until('one has failed', async () => (await rows()).some(({ error }) => error !== null));
      for (let i = 0; i < 50; i++) await tell(`n${i}`);
      await until('the other has all', async () => other.requests.length === 51);
      const waiting = (await rows()).filter(({ state, channel }) => state === 'waiting' && channel === 'full');
      assert.equal(waiting.length, 50);
      assert.match(service.server.log, /"channel":"full".*too many notices of this event wait/);
      // another event has its own fifty
      await set(hook('full', full.url, { events: ['audit.rule', 'sync.failed'] }));
      await tell('another', { event: 'sync.failed' });
      assert.equal((await rows()).filter(({ state }) => state === 'waiting').length, 51);
      await set(hook('full', full.url, { events: ['token.unused'] }));
      for (let i = 0; i < 52; i++) made(await service.admin.post('/api/tokens', { name: `unused ${i}` }));
      await db.run("UPDATE api_tokens SET created_at = ? WHERE name LIKE 'unused %'", [now(-91 * 24 * 3_600_000)]);
      await application()?.get(UnusedTokens).tell();
      assert.equal((await rows()).filter(({ state }) => state === 'waiting').length, 51 + 52);
      await db.run("DELETE FROM api_tokens WHERE name LIKE 'unused %'");
      await db.run("UPDATE deliveries SET state = 'dead'");
    });

    it('a late notice says in a chat when it happened', async () => {
      const standIn = await receiver(() => ({ status, body: 'ok' }));
      let status = 503;
      await set({ id: 'a', type: 'slack', name: 'a', config: { url: standIn.url }, events: ['audit.rule'] });
      await tell('news');
      await failures(1);
      await db.run("UPDATE deliveries SET created_at = '2026-01-31T12:34:56.789Z'");
      status = 200;
      await later();
      await until('it is sent', async () => (await states()).join() === 'sent');
      assert.deepEqual(textsOf(standIn.requests), [
        '[Zoneward] audit.rule: news',
        '[Zoneward] audit.rule (2026-01-31 12:34 UTC): news',
      ]);
    });

    it('a delivery that is refused repeatedly is dead, blocks nothing, and can be retried', async () => {
      const { requests, ...standIn } = await receiver(({ body }) => ({
        status: broken && (body as { text: string }).text === 'bad' ? 422 : 200,
        body: 'the words of the receiver',
      }));
      let broken = true;
      await set(hook('a', standIn.url));
      await tell('bad');
      await tell('good');
      for (let tries = 1; tries < 5; tries++) {
        await failures(tries);
        await later();
      }
      await until('the good one is sent', async () => (await states()).join() === 'dead,sent');
      const { list } = done(await service.admin.get('/api/system/notifications?state=dead'));
      assert.deepEqual(
        list.map(({ text, tries, error }) => [text, tries, error]),
        [['bad', 5, 'It was not taken: HTTP 422']],
      );
      assert.deepEqual([list[0]?.sent_at, typeof list[0]?.ended_at], [null, 'string']);
      broken = false;
      const { id } = list[0] as (typeof list)[0];
      const path = `/api/system/notifications/${id}/retry`;
      const retried = done(await service.admin.post(path)) as DeliveryView;
      assert.deepEqual([retried.state, retried.tries, retried.ended_at], ['waiting', 0, null]);
      await until('it is sent', async () => (await states()).join() === 'sent,sent');
      const ids = requests.filter(({ body }) => (body as { text: string }).text === 'bad').map(idOf);
      assert.deepEqual([ids.length, new Set(ids).size], [6, 1]);
      refused(await service.admin.post(path), 409, 409001);
      refused(await service.admin.post('/api/system/notifications/999999/retry'), 404, 404001);
      const audit = done(await service.admin.get('/api/audit/logs?action=notification.retry&result=ok'));
      assert.deepEqual(audit.list[0]?.target, { type: 'delivery', id, name: 'audit.rule' });
    });

    it('deliveries that are too old, or whose channel was removed or is off, are dead', async () => {
      const standIn = await receiver(() => ({ status: 503 }));
      const [old, gone, off] = ['old', 'gone', 'off'].map((id) => hook(id, standIn.url));
      await set(old as object, gone as object, off as object);
      await tell('news');
      await until('all have failed', async () => (await rows()).every(({ error }) => error !== null));
      await db.run("UPDATE deliveries SET until_at = ? WHERE channel = 'old'", [now()]);
      await set(old as object, { ...off, enabled: false });
      await later();
      await until('all are dead', async () => (await states()).join() === 'dead,dead,dead');
      assert.deepEqual(
        (await rows()).map(({ channel, error }) => `${channel}: ${error}`),
        [
          'old: Too late: every try ended without an answer',
          'gone: The channel was removed',
          'off: The channel is off',
        ],
      );
      assert.equal(standIn.requests.length, 3);
    });

    it('a delivery is repeated with the same id when the process dies after it was accepted', async () => {
      const first = await startProcess(kind, ENV);
      const side = await openDatabase(first.databaseUrl, first.server.dataDir);
      let second: ServerProcess | undefined;
      afterTest(async () => {
        await side.close();
        await second?.kill();
        await first.stop();
      });
      const standIn = await receiver(async () => {
        if (!second) await first.server.kill();
        return { status: 204 };
      });
      const channels = [hook('a', standIn.url, { events: ['token.created'] })];
      done(await first.admin.put('/api/settings/notifications', { channels }));
      made(await first.admin.post('/api/tokens', { name: 'one' }));
      await until('it came', async () => standIn.requests.length === 1);
      await first.server.kill();
      second = await ServerProcess.start({ DATABASE_URL: first.databaseUrl, ...ENV }, first.server.dataDir);
      made(await second.as(first.token).post('/api/tokens', { name: 'two' }));
      const left = await side.db.rows<{ state: string; tries: number }>(
        'SELECT state, tries FROM deliveries ORDER BY id',
      );
      assert.deepEqual(
        left.map(({ state, tries }) => [state, Number(tries)]),
        [
          ['waiting', 1],
          ['waiting', 0],
        ],
      );
      // the lease ends
      await side.db.run('UPDATE deliveries SET next_at = ?', [now()]);
      await until('both came', async () => standIn.requests.length === 3);
      const [a, b, c] = standIn.requests;
      assert.equal(idOf(a), idOf(b));
      assert.notEqual(idOf(b), idOf(c));
      assert.match(textsOf(standIn.requests).join(), /one.*one.*two/);
    });

    it('several processes that look at once send each delivery once, in order', async () => {
      const app = application();
      const of = <T>(what: new (...args: never[]) => T) => app?.get(what) as T;
      const jobs = { schedule() {} } as unknown as Jobs;
      const others = [1, 2, 3].map(
        () =>
          new Courier(
            ...([of(Db), of(DeliveriesRepository), of(DatabaseService), of(SettingsService)] as const),
            ...([of(Events), jobs, of(Hooks), of(Mailer), of(Installation), SILENT] as const),
          ),
      );
      afterTest(() => Promise.all(others.map((other) => other.beforeApplicationShutdown())));
      for (const other of others) other.onModuleInit();
      const standIns = [await receiver(), await receiver(), await receiver()];
      await set(...standIns.map(({ url }, i) => hook(`c${i}`, url)));
      let on = true;
      afterTest(() => {
        on = false;
      });
      void (async () => {
        for (; on; await sleep(LOOK_MS)) void of(Events).emit('notice.queued');
      })();
      const texts = Array.from({ length: 30 }, (_none, i) => `n${i}`);
      for (const text of texts) await tell(text);
      await until('all are sent', async () => (await states()).filter((state) => state === 'sent').length === 90);
      for (const { requests } of standIns) assert.deepEqual(textsOf(requests), texts);
    });

    it('mails go through the outbox of mails, and the delivery of a failed mail is dead', async () => {
      const smtp = await startSmtp({ recipient: (to) => (to.startsWith('nobody') ? '550 no such user' : null) });
      afterTest(() => smtp.stop());
      const server = { host: '127.0.0.1', port: smtp.port, security: 'none', from: 'dns@example.com', enabled: true };
      const mail = { id: 'mail', type: 'email', name: 'Mail', events: ['audit.rule'] };
      await set({ ...mail, config: { to: ['a@example.com', 'b@example.com'] } });
      await tell('waits for a mail server', { domain: 'example.com' });
      await failures(1);
      assert.match((await rows())[0]?.error ?? '', /Mail is off/);
      done(await service.admin.put('/api/settings/smtp', server));
      done(await service.admin.put('/api/settings', { timezone: 'Asia/Kathmandu' }));
      await later();
      await until('two mails', async () => smtp.mails.length === 2);
      assert.deepEqual(smtp.mails.map(({ to }) => to[0]).toSorted(), ['a@example.com', 'b@example.com']);
      assert.match(smtp.mails[0]?.subject ?? '', /notice of audit\.rule/);
      assert.match(
        smtp.mails[0]?.text ?? '',
        /waits for a mail server[\s\S]*Domain: example\.com\s+Time: .* UTC\+05:45\n/,
      );
      done(await service.admin.put('/api/settings', { timezone: 'UTC' }));
      assert.deepEqual(await states(), ['sent']);
      await set({ ...mail, config: { to: ['nobody@example.com'] } });
      await tell('refused');
      await until('it is dead', async () => (await states()).join() === 'sent,dead');
      assert.match((await rows())[1]?.error ?? '', /refused the recipient: 550/);
      // mail is turned off while one waits for the mail server, and stays off
      await smtp.stop();
      await set({ ...mail, config: { to: ['a@example.com'] } });
      await tell('aged');
      await until('the mail waits', async () => {
        const [waiting] = await db.rows<{ n: number }>(
          "SELECT COUNT(*) AS n FROM mails WHERE state = 'waiting' AND error IS NOT NULL",
        );
        return Number(waiting?.n) === 1;
      });
      assert.deepEqual((await states()).at(-1), 'sent');
      done(await service.admin.put('/api/settings/smtp', { enabled: false }));
      await db.run("UPDATE mails SET created_at = ? WHERE state = 'waiting'", [now(-27 * 3_600_000)]);
      const [tidy] = done(await service.admin.get('/api/system/jobs?name=mails.tidy')).list;
      done(await service.admin.post(`/api/system/jobs/${tidy?.id}/retry`));
      await until('it is dead', async () => (await states()).at(-1) === 'dead');
      assert.match((await rows()).at(-1)?.error ?? '', /Too late: it was never sent/);
    });

    it('notifies once of locks of known names, of new tokens, and of unused tokens', async () => {
      const standIn = await receiver();
      await set(hook('a', standIn.url, { events: ['login.locked', 'token.created', 'token.unused'] }));
      await addUser(db, { username: 'ada', password: 'ada-secret-of-old' });
      for (const username of ['ada', 'my-password-in-the-wrong-field'])
        for (let i = 0; i < 5; i++)
          refused(await service.server.call('POST', '/api/auth/login', { username, password: 'x' }), 401, 401001);
      await until('the lock', async () => standIn.requests.length === 1);
      const { token, tokenData } = made(await service.admin.post('/api/tokens', { name: 'ci' }));
      await until('the token', async () => standIn.requests.length === 2);
      const unused = application()?.get(UnusedTokens) as UnusedTokens;
      const day = 24 * 3_600_000;
      const age = (column: string, days: number) =>
        db.run(`UPDATE api_tokens SET ${column} = ? WHERE id = ?`, [now(-days * day), tokenData.id]);
      await age('created_at', 89);
      await unused.tell();
      await age('created_at', 91);
      // two processes look at once, and again the next day
      await Promise.all([unused.tell(), unused.tell()]);
      await unused.tell();
      await until('its disuse', async () => standIn.requests.length === 3);
      // the token is used, and becomes unused again
      await age('unused_told_at', 200);
      await age('last_used_at', 91);
      await unused.tell();
      await unused.tell();
      await until('and again', async () => (await states()).join() === 'sent,sent,sent,sent');
      const events = standIn.requests.map((request) => request.headers['x-zoneward-event']);
      assert.deepEqual(events, ['login.locked', 'token.created', 'token.unused', 'token.unused']);
      const all = JSON.stringify(standIn.requests);
      for (const secret of [token, 'my-password']) assert.equal(all.includes(secret), false, secret);
      assert.match(textsOf(standIn.requests)[0] ?? '', /Signing in as ada is locked in the network 127\.0\.0\.1/);
    });

    it('notifies once of failing synchronisations, until one succeeds, and of missing domains', async () => {
      const standIn = await receiver();
      const zone = (name: string) => ({ id: name, name, account: { id: 'a' }, status: 'active' });
      let zones: string[] | null = ['one.example', 'two.example'];
      const cloud = await receiver(({ path }) => {
        if (!zones) return { status: 400, body: { success: false, errors: [{ code: 1, message: 'no zones today' }] } };
        const result = path.endsWith('/zones') ? zones.map(zone) : [];
        const result_info = { page: 1, total_pages: 1, total_count: result.length };
        return { body: { success: true, errors: [], result, result_info } };
      });
      const account = await addAccount(service.admin, 'cloudflare', { api_token: 'token', endpoint: cloud.url });
      const sync = () => service.admin.post(`/api/accounts/${account}/sync`);
      done(await sync());
      await set(hook('a', standIn.url, { events: ['sync.failed', 'domain.missing'] }));
      zones = null;
      for (let i = 0; i < 3; i++) assert.equal((await sync()).status, 500);
      zones = ['one.example'];
      done(await sync());
      await until('two notices', async () => (await states()).join() === 'sent,sent');
      const [failed, missing] = standIn.requests.map(({ body }) => body as Record<string, unknown>);
      assert.match(String(failed?.text), /synchronisation of the account .* failed: .*no zones today/);
      assert.deepEqual([missing?.event, missing?.domain], ['domain.missing', 'two.example']);
    });
  });
}
