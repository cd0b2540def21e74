import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Response } from 'express';
import type { ZoneRequest } from '../../src/access/access.js';
import { EventLog } from '../../src/overview/event-log.service.js';
import { EventsLogRepository } from '../../src/overview/events-log.repository.js';
import { Streams } from '../../src/overview/streams.service.js';
import type { Wake } from '../../src/overview/wake.service.js';
import { allPools } from '../../src/platform/common/fair-pool.js';
import type { Db } from '../../src/platform/database/db.js';
import { Events } from '../../src/platform/events/events.js';
import { addTeam, addUser, grant, openDatabase, withoutRates } from '../support/database.js';
import { databases } from '../support/databases.js';
import { gate } from '../support/leases.js';
import { noRedis, REDIS_URL } from '../support/redis.js';
import { applicationOf, type Client, ServerProcess, type Service, startService } from '../support/server.js';
import { SILENT } from '../support/silent.js';
import { EventStream } from '../support/stream.js';
import { describeUnless, itUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
const reader = { username: 'reader', password: 'violet-harbour-92' };

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`the stream of events on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;
    let account: number;
    let shared: number;
    let team: number;
    let userId: number;
    const streams: EventStream[] = [];
    // replicas share them
    const zones = skip ? '' : mkdtempSync(join(tmpdir(), 'zoneward-zones-'));

    beforeAll(async () => {
      service = await startService(kind, { SECRET_KEY, ZONEFILE_DIR: zones });
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      await withoutRates(db);
      account = await addAccount(admin, 'zonefile', {});
      shared = await addDomain(admin, account, 'shared.example', true);
      userId = await addUser(db, reader, 1);
      team = await addTeam(db, 'readers', [userId]);
      await grant(db, team, shared, 'read');
    });
    afterAll(async () => {
      for (const stream of streams) stream.close();
      await close?.();
      await service?.stop();
      rmSync(zones, { recursive: true, force: true });
    });

    const listen = async (token: string, last?: string, url = service.server.url) => {
      const stream = await EventStream.open(url, token, last);
      streams.push(stream);
      return stream;
    };
    const ready = async (token: string, url?: string) => {
      const stream = await listen(token, undefined, url);
      await stream.next('ready', ({ event }) => event === 'ready');
      return stream;
    };
    const addRecord = async (domain: number, host: string, client = admin) =>
      made(await client.post(`/api/domains/${domain}/records`, { host, type: 'A', value: '192.0.2.1' })).id;
    const ofDomain =
      (name: string, id: number) =>
      ({ event, data }: { event: string; data: Record<string, unknown> }) =>
        event === name && data.domain_id === id;
    const end = (stream: EventStream) => until('the stream has ended', async () => stream.ended);

    it('is not compressed or cached, and begins with an id to resume from', async () => {
      const stream = await listen(service.token);
      const { headers, status } = stream.answer;
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
      assert.equal(headers.get('content-encoding'), null);
      assert.match(String(headers.get('cache-control')), /^no-store\b/);
      assert.equal(headers.get('x-accel-buffering'), 'no');
      const { id, data } = await stream.next('ready');
      assert.match(id, /^\d+$/);
      assert.deepEqual(data, {});
      stream.close();
      const head = await fetch(`${service.server.url}/api/events`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${service.token}` },
      });
      assert.equal(head.status, 200);
    });

    it('sends events to those who may see them', async () => {
      const mine = await ready(service.token);
      const theirs = await ready(await service.server.login(reader));
      const hidden = await addDomain(admin, account, 'hidden.example', true);
      await mine.next('a new domain', ofDomain('domain.created', hidden));
      await addRecord(hidden, 'www');
      const { data } = await mine.next('a change', ofDomain('records.changed', hidden));
      assert.deepEqual([data.total, data.done, data.failed], [1, 1, 0]);
      assert.equal(
        done(await admin.get(`/api/domains/${hidden}/changes/${data.change_set_id}`)).id,
        data.change_set_id,
      );
      done(await admin.put('/api/settings/smtp', { from: 'dns@example.com' }));
      await mine.next('settings', (told) => told.data.section === 'smtp');
      done(await admin.put('/api/settings', { site_name: 'Names' }));
      done(await admin.post(`/api/accounts/${account}/sync`));
      const { data: result } = await mine.next('a synchronisation', ({ event }) => event === 'account.synced');
      assert.deepEqual(result, { account_id: account, added: 0, updated: 2, missing: 0, failed: 0 });
      await addRecord(shared, 'www');
      done(await admin.delete(`/api/domains/${hidden}`));
      await mine.next('a removal', ofDomain('domain.removed', hidden));
      const gone = await addDomain(admin, account, 'gone.example', true);
      await grant(db, team, gone, 'read');
      done(await admin.delete(`/api/domains/${gone}`));
      await theirs.next('a removal', ofDomain('domain.removed', gone));
      // all that came before is there, too: it comes in order
      assert.deepEqual(
        // without events of the domain that was just granted to them
        theirs.told
          .filter(({ data }) => data.domain_id !== gone)
          .map((told) => [told.event, told.data.section ?? told.data.domain_id]),
        [
          ['settings.changed', 'general'],
          ['records.changed', shared],
        ],
      );
      mine.close();
      theirs.close();
    });

    it('applies the current rights of users and of tokens', async () => {
      const login = await service.server.login(reader);
      const of = async (more: object) =>
        ready(made(await service.server.as(login).post('/api/tokens', { name: 'ci', ...more })).token);
      const mine = await ready(service.token);
      const other = await addDomain(admin, account, `other-${kind}.example`, true);
      // the event is stored after the answer
      await mine.next('the new domain', ofDomain('domain.created', other));
      mine.close();
      await grant(db, team, other, 'read');
      const user = await ready(login);
      const records = await of({ allowed_services: ['records:read'] });
      const domains = await of({ allowed_services: ['domains:read'] });
      const narrow = await of({ allowed_domains: [other] });
      await db.run('DELETE FROM domain_permissions WHERE domain_id = ?', [shared]);
      await addRecord(shared, 'unseen');
      await addRecord(other, 'seen');
      for (const stream of [user, records, narrow]) {
        await stream.next('a change', ofDomain('records.changed', other));
        assert.deepEqual(stream.told, []);
      }
      await grant(db, team, shared, 'read');
      await addRecord(shared, 'again');
      await user.next('a change', ofDomain('records.changed', shared));
      await records.next('a change', ofDomain('records.changed', shared));
      done(await admin.delete(`/api/domains/${other}`));
      await domains.next('a removal', ofDomain('domain.removed', other));
      assert.deepEqual([domains.told, narrow.told], [[], []]);
      for (const stream of [user, records, domains, narrow]) stream.close();
    });

    it('ends with the credential', async () => {
      const login = await service.server.login(reader);
      const client = service.server.as(login);
      const { token, tokenData } = made(await client.post('/api/tokens', { name: 'ci' }));
      const byToken = await ready(token);
      done(await client.patch(`/api/tokens/${tokenData.id}/status`, { is_active: false }));
      await end(byToken);
      const bySession = await ready(login);
      done(await client.post('/api/auth/logout'));
      await end(bySession);
      assert.equal((await listen(login)).answer.status, 401);
      const again = await ready(await service.server.login(reader));
      await db.run('UPDATE users SET status = 0 WHERE id = ?', [userId]);
      await addRecord(shared, 'late');
      await end(again);
      assert.deepEqual(again.told, []);
      await db.run('UPDATE users SET status = 1 WHERE id = ?', [userId]);
    });

    it('resumes behind the last event that was seen, or sends a reset', async () => {
      const first = await ready(service.token);
      await addRecord(shared, 'before');
      await first.next('a change', ofDomain('records.changed', shared));
      first.close();
      const hosts = ['missed1', 'missed2', 'missed3'];
      for (const host of hosts) await addRecord(shared, host);
      const second = await listen(service.token, first.last);
      for (const host of hosts) await second.next(host, ofDomain('records.changed', shared));
      const fresh = await ready(service.token);
      await addRecord(shared, 'after');
      await second.next('a live change', ofDomain('records.changed', shared));
      assert.deepEqual(second.told, []);
      await fresh.next('a live change', ofDomain('records.changed', shared));
      assert.deepEqual(fresh.told, [], 'what was before its begin is not told');

      for (const last of ['999999999', 'nonsense', '-1']) {
        const { data } = await (await listen(service.token, last)).next(last, ({ event }) => event === 'reset');
        assert.deepEqual(data, { reason: 'gone' });
      }
      await db.run('DELETE FROM events_log WHERE id <= ?', [Number(second.last) - 1]);
      const late = await listen(service.token, first.last);
      const { id } = await late.next('reset', ({ event }) => event === 'reset');
      assert.equal(id, second.last);
      await addRecord(shared, 'behind');
      await late.next('a live change', ofDomain('records.changed', shared));
      for (const stream of streams) stream.close();
    });

    it('stores an event that comes while old ones are removed', async () => {
      const { last } = await ready(service.token);
      for (const stream of streams) stream.close();
      const [reached, removed] = [gate(), gate()];
      const events = new Events(SILENT);
      const removeOld = () => {
        reached.open();
        return removed.opened;
      };
      const log = Object.assign(new EventsLogRepository(db), { removeOld });
      new EventLog(db, log, events, { tell: () => undefined } as Wake, SILENT).onModuleInit();
      void events.emit('settings.changed', 'security');
      await reached.opened;
      void events.emit('settings.changed', 'smtp');
      removed.open();
      await until('both are stored', async () => (await log.after(Number(last), 10)).length === 2);
    });

    // SQLite has one writer at a time, so no commit can be late
    if (kind !== 'sqlite') {
      it('misses no event that is committed after a later one', async () => {
        const { last } = await ready(service.token);
        for (const stream of streams) stream.close();
        // two replicas write; the first has its ids, and commits late
        const late = gate();
        const written = gate();
        const writer = (hold?: Promise<void>) => {
          const events = new Events(SILENT);
          const log = new EventsLogRepository(db);
          const insert = async (...args: Parameters<EventsLogRepository['insert']>) => {
            await EventsLogRepository.prototype.insert.apply(log, args);
            if (!hold) return;
            written.open();
            await hold;
          };
          const wake = { tell: () => undefined } as Wake;
          new EventLog(db, Object.assign(log, { insert }), events, wake, SILENT).onModuleInit();
          return events;
        };
        void writer(late.opened).emit('settings.changed', 'security');
        await written.opened;
        void writer().emit('settings.changed', 'smtp');
        const back = await listen(service.token, last);
        await until('it listens', async () => back.last !== '');
        late.open();
        await until('both are told', async () => back.told.length >= 2);
        assert.deepEqual(
          back.told.map(({ data }) => data.section),
          ['security', 'smtp'],
        );
        back.close();
      });
    }

    it('sends events of jobs to administrators', async () => {
      const mine = await ready(service.token);
      const theirs = await ready(await service.server.login(reader));
      const token = async (scope: string) =>
        ready(made(await admin.post('/api/tokens', { name: 'ci', allowed_services: [scope] })).token);
      const [accounts, domains] = [await token('accounts:read'), await token('domains:read')];
      done(await admin.post(`/api/accounts/${account}/sync`));
      for (const stream of [mine, accounts]) {
        // another job may begin by itself
        const of = (name: string) =>
          stream.next(name, ({ event, data }) => event === name && data.name === 'account.sync');
        const { data: begun } = await of('job.started');
        const subject = `account.sync|${account}`;
        assert.deepEqual(begun, { job_id: begun.job_id, name: 'account.sync', subject, attempt: 1 });
        const { data: end } = await of('job.done');
        assert.deepEqual(end, { job_id: begun.job_id, name: 'account.sync', subject, result: end.result });
        assert.equal((end.result as { failed: number }).failed, 0);
      }
      const credentials = { url: 'http://127.0.0.1:1', api_key: 'x' };
      const body = { provider: 'powerdns', name: 'gone', credentials };
      const gone = made(await admin.post('/api/accounts?check=false', body)).id;
      assert.equal((await admin.post(`/api/accounts/${gone}/sync`)).status, 500);
      const { data: failed } = await mine.next('a failure', ({ event }) => event === 'job.failed');
      assert.deepEqual([failed.subject, failed.retry_at], [`account.sync|${gone}`, null]);
      assert.match(String(failed.error), /cannot be reached/);
      await addRecord(shared, 'after-jobs');
      await theirs.next('a change', ofDomain('records.changed', shared));
      for (const stream of [theirs, domains])
        assert.deepEqual(
          stream.told.filter(({ event }) => event.startsWith('job.')),
          [],
        );
      done(await admin.delete(`/api/accounts/${gone}`));
      for (const stream of streams) stream.close();
    });

    it('limits the streams of a user', async () => {
      const login = await service.server.login(reader);
      const open = await Promise.all(Array.from({ length: 10 }, () => ready(login)));
      const { answer } = await listen(login);
      assert.equal(answer.status, 429);
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
      open[0]?.close();
      await until('there is room again', async () => (await listen(login)).answer.status === 200);
      for (const stream of streams) stream.close();
    });

    it('takes no slot for a client that disconnected before it began', async () => {
      const { id: userId } = done(await admin.get('/api/auth/me'));
      const streams = applicationOf(service.server.dataDir)?.get(Streams);
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      response.destroy();
      const pool = allPools().get('event streams');
      const before = pool?.inUse;
      streams?.open({ caller: { principal: { userId } } } as ZoneRequest, response as Response, undefined);
      assert.equal(pool?.inUse, before);
    });

    if (kind !== 'sqlite') {
      for (const redis of [false, true]) {
        itUnless(redis && noRedis)(
          `reaches who listens at another replica ${redis ? 'with' : 'without'} Redis`,
          async () => {
            const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
            const env = {
              DATABASE_URL: service.databaseUrl,
              SECRET_KEY,
              ZONEFILE_DIR: zones,
              ...(redis && { REDIS_URL }),
            };
            const second = await ServerProcess.start(env, dataDir);
            try {
              const there = await ready(service.token, second.url);
              const here = await ready(service.token);
              await addRecord(shared, `from-here-${redis}`);
              await there.next('a change made here', ofDomain('records.changed', shared));
              await addRecord(shared, `from-there-${redis}`, second.as(service.token));
              await here.next('its own change', ofDomain('records.changed', shared));
              for (const stream of [here, there])
                await stream.next('a change made there', ofDomain('records.changed', shared));
              assert.deepEqual([here.told, there.told], [[], []]);
              // streams end with the process, and do not delay its end
              assert.equal(await second.stop(), 0);
              await end(there);
              await addRecord(shared, `meanwhile-${redis}`);
              const back = await listen(service.token, there.last);
              await back.next('what was missed', ofDomain('records.changed', shared));
              assert.deepEqual(back.told, []);
            } finally {
              await second.kill();
              rmSync(dataDir, { recursive: true, force: true });
            }
          },
        );
      }
    }

    it('does not query the database without streams, and ends with the service', async () => {
      for (const stream of streams) stream.close();
      const last = await ready(service.token);
      await service.server.stop();
      await end(last);
    });
  });
}
