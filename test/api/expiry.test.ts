import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { Bootstrap } from '../../src/monitoring/expiry/bootstrap.service.js';
import { RdapHttp } from '../../src/monitoring/expiry/rdap.service.js';
import { RegistrationWatch } from '../../src/monitoring/expiry/registration-watch.service.js';
import { Reminders } from '../../src/monitoring/expiry/reminders.service.js';
import { now, sleep } from '../../src/platform/common/clock.js';
import type { Config } from '../../src/platform/config/config.js';
import { CONFIG } from '../../src/platform/config/config.module.js';
import type { Db } from '../../src/platform/database/db.js';
import { steerClock } from '../support/clock.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { gate } from '../support/gate.js';
import { rdapDomain, startWhois, type WhoisStandIn } from '../support/registries.js';
import { applicationOf, type Service, startService } from '../support/server.js';
import { SILENT } from '../support/silent.js';
import { describeUnless } from '../support/suites.js';
import { type Answer, type StandIn, startStandIn } from '../support/vendor.js';
import { addAccount, addDomain, done, providerFailed, refused, until } from '../support/world.js';

/** ms between two octets of a slow server */
const DRIP_MS = 200;

const DAY = 24 * 3_600_000;
/** top level domains with an RDAP server of their own, so that none waits for another's turn */
const RDAP = ['com', 'net', 'org', 'fi', 'app'] as const;
const WHOIS = ['com', 'fi', 'pt', 'se', 'fr', '.'] as const;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`when registrations end, on ${kind}`, () => {
    const rdap = {} as Record<(typeof RDAP)[number], StandIn>;
    const whois = {} as Record<(typeof WHOIS)[number], WhoisStandIn>;
    let bootstrap: StandIn;
    let hook: StandIn;
    let service: Service;
    let db: Db;
    let close: () => Promise<void>;
    let account: number;

    beforeAll(async () => {
      for (const tld of RDAP) rdap[tld] = await startStandIn();
      for (const tld of WHOIS) whois[tld] = await startWhois();
      const services = RDAP.filter((tld) => tld !== 'app').map((tld) => [[tld], [`${rdap[tld].url}/${tld}/`]]);
      bootstrap = await startStandIn(() => ({
        headers: { etag: '"one"', 'cache-control': 'max-age=60' },
        body: { version: '1.0', publication: '2026-11-01T00:00:00Z', services },
      }));
      hook = await startStandIn(() => ({ status: 204 }));
      service = await startService(kind, {
        EXPIRY_LOOKUPS: 'on',
        OUTBOUND_ALLOW: '127.0.0.0/8',
        RDAP_BOOTSTRAP_URL: bootstrap.url,
        RDAP_SERVERS: `app=${rdap.app.url}`,
        WHOIS_SERVERS: WHOIS.map((tld) => `${tld}=${whois[tld].address}`).join(),
      });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      account = await addAccount(service.admin, 'zonefile', {});
    });
    beforeEach(() => rested());
    afterAll(async () => {
      await close?.();
      await service?.stop();
      for (const one of [...Object.values(rdap), ...Object.values(whois), bootstrap, hook]) await one?.stop();
    });

    /** As after a while: servers may be asked, and what was found of a name is old. */
    const rested = async (name?: string) => {
      await db.run('DELETE FROM registry_servers');
      const sql = 'UPDATE registrations SET checked_at = ?, next_at = ? WHERE name = ?';
      if (name) await db.run(sql, [now(-DAY), now(-1), name]);
    };
    const app = () => applicationOf(service.server.dataDir);
    const tick = () => app()?.get(RegistrationWatch).tick(new AbortController().signal);
    const add = (name: string) => addDomain(service.admin, account, name, true);
    const look = (id: number) => service.admin.post(`/api/domains/${id}/expiry`);
    const shown = async (id: number) => {
      const { expires_at, expires_source, expiry_error } = done(await service.admin.get(`/api/domains/${id}`));
      return { at: expires_at, from: expires_source, error: expiry_error };
    };
    const is = async (id: number, at: string | null, from: string | null, error: RegExp | null = null) => {
      const { error: words, ...rest } = await shown(id);
      assert.deepEqual(rest, { at, from });
      if (error) assert.match(words ?? '', error);
      else assert.equal(words, null);
    };

    it('asks RDAP once for a domain and the zones below it', async () => {
      rdap.com.handler = () => rdapDomain('one.com', '2028-09-14T04:00:00.1234567+03:00');
      const [id, below] = [await add('one.com'), await add('dev.one.com')];
      const found = done(await look(below));
      assert.deepEqual(
        { ...found, checked_at: null },
        { name: 'one.com', expires_at: '2028-09-14T01:00:00.000Z', source: 'rdap', checked_at: null, error: null },
      );
      for (const one of [id, below]) await is(one, '2028-09-14T01:00:00.000Z', 'rdap');
      // again at once: no server is asked
      done(await look(id));
      await tick();
      assert.deepEqual(
        rdap.com.requests.map(({ path, headers }) => [path, headers.accept]),
        [['/com/domain/one.com', 'application/rdap+json, application/json']],
      );
      assert.equal(bootstrap.requests.length, 1);
      assert.ok(existsSync(join(service.server.dataDir, 'rdap-bootstrap.json')));
      // a zone that comes later has the date without a question
      const late = await add('late.one.com');
      await tick();
      await is(late, '2028-09-14T01:00:00.000Z', 'rdap');
      assert.equal(rdap.com.requests.length, 1);
    });

    it('asks once for requests at the same time', async () => {
      const before = rdap.com.requests.length;
      const { opened, open } = gate();
      rdap.com.handler = async () => {
        await opened;
        return rdapDomain('same.com', '2028-09-14T04:00:00Z');
      };
      const id = await add('same.com');
      const all = Promise.all([look(id), look(id), tick(), tick()]);
      await until('the server is asked', () => rdap.com.requests.length > before);
      // Ten round trips let the other three requests reach the service before the RDAP server answers the first.
      for (let i = 0; i < 10; i++) done(await service.admin.get('/api/domains'));
      open();
      const [one, two] = await all;
      assert.deepEqual(done(one), done(two));
      assert.equal(done(one).expires_at, '2028-09-14T04:00:00.000Z');
      assert.equal(rdap.com.requests.length, before + 1);
    });

    it('keeps the known date when an answer cannot be read, and says why', async () => {
      const id = await add('kept.com');
      rdap.com.handler = () => rdapDomain('kept.com', '2028-01-01T00:00:00Z');
      done(await look(id));
      const flood = (socket: Socket) => {
        while (socket.writable && socket.write(Buffer.alloc(65_536)));
        socket.once('drain', () => flood(socket));
      };
      const bad: [Answer, string | null | typeof flood, RegExp][] = [
        [{ body: 'x'.repeat(5 * 2 ** 20) }, flood, /larger than 4 MiB.*the answer is too long/],
        [rdapDomain('kept.com', 'Invalid Date'), '', /cannot be read.*WHOIS.*not about the name/],
        [rdapDomain('kept.com', 1853985600), 'Domain Name: KEPT.COM\r\n', /no date of expiry where/],
        [rdapDomain('other.com', '2030-01-01T00:00:00Z'), 'WHOIS LIMIT EXCEEDED\r\n', /takes no more questions/],
        [
          { body: '<html>2030-01-01T00:00:00Z</html>' },
          'Domain Name: OTHER.COM\r\nRegistry Expiry Date: 2030-01-01T00:00:00Z\r\n',
          /no JSON/,
        ],
        [{ ...rdapDomain('kept.com', '2030-01-01T00:00:00Z'), status: 500 }, null, /HTTP 500/],
        [
          { ...rdapDomain('kept.com', '2030-01-01T00:00:00Z'), breakAfter: 60 },
          'Domain Name: KEPT.COM\r\nRegistry Expiry Date: 2030-13-01T00:00:00Z\r\n',
          /date of expiry/,
        ],
        [
          { status: 404 },
          'Domain Name: KEPT.COM\r\nRegistry Expiry Date: 2030-01-01T00:00:00Z\r\n',
          /knows no registration/,
        ],
        [{ status: 403 }, 'Domain Name: KEPT.COM\r\nRegistry Expiry Date: 2030-01-01T00:00:00', /HTTP 403/],
        [{ status: 302, headers: { location: 'http://10.0.0.1/domain/kept.com' } }, 'x', /not allowed/],
        [{ status: 302, headers: { location: `http://${'a'.repeat(300)}.example/` } }, 'x', /aaa does not answer/],
        [rdapDomain('kept.com\0\ud800', '2030-01-01T00:00:00Z\0'), '\0'.repeat(300), /not about the name/],
      ];
      for (const [answer, text, words] of bad) {
        await rested('kept.com');
        rdap.com.handler = () => answer;
        whois.com.answer = () => text;
        providerFailed(await look(id), words);
        await is(id, '2028-01-01T00:00:00.000Z', 'rdap', words);
      }
      await rested('kept.com');
      rdap.com.handler = () => rdapDomain('kept.com', '2029-01-01T00:00:00Z');
      await tick();
      await is(id, '2029-01-01T00:00:00.000Z', 'rdap');
    });

    it('asks WHOIS where there is no RDAP or it has no date, and reads the form of each registry', async () => {
      rdap.fi.handler = () => rdapDomain('x.fi');
      whois.fi.answer = () => 'domain.............: x.fi\nexpires............: 15.12.2027 09:37:54\n';
      whois.pt.answer = () => 'Domain: x.pt\nExpiration Date: 02/11/2027 23:59:00\n';
      whois.se.answer = () => 'domain: xx.se\nexpires: 2027-04-05\n';
      // IANA is asked where a top level domain's server is
      const lat = await startWhois(() => 'Domain Name: X.SC\r\nRegistry Expiry Date: 2027-06-07T08:09:10Z\r\n');
      whois['.'].answer = () => `domain: SC\n\nwhois: ${lat.address}\n`;
      const ids = Object.fromEntries(
        await Promise.all(
          ['x.fi', 'x.pt', 'xx.se', 'x.sc', 'x.de'].map(async (name) => [name, await add(name)] as const),
        ),
      ) as Record<string, number>;
      await tick();
      await lat.stop();
      await is(ids['x.fi'] as number, '2027-12-15T09:37:54.000Z', 'whois');
      await is(ids['x.pt'] as number, '2027-11-02T23:59:00.000Z', 'whois');
      await is(ids['xx.se'] as number, '2027-04-05T00:00:00.000Z', 'whois');
      await is(ids['x.sc'] as number, '2027-06-07T08:09:10.000Z', 'whois');
      await is(ids['x.de'] as number, null, null, /\.de does not tell .*set expires_at by hand/);
      assert.deepEqual([whois['.'].asked, lat.asked], [['sc'], ['x.sc']]);
      const told = done(await look(ids['x.de'] as number));
      assert.deepEqual([told.expires_at, told.source], [null, null]);
    });

    it('says that WHOIS failed where RDAP has no date, and keeps the last date of WHOIS', async () => {
      const id = await add('fails.fi');
      rdap.fi.handler = () => rdapDomain('fails.fi');
      const whoisOf = whois.fi.answer;
      whois.fi.answer = () => 'domain.............: fails.fi\nexpires............: 15.12.2027 09:37:54\n';
      done(await look(id));
      const failed: [string | null, RegExp][] = [
        ['<html>garbage</html>\n', /not about the name/],
        [null, /does not answer/],
      ];
      for (const [i, [text, words]] of failed.entries()) {
        await rested('fails.fi');
        whois.fi.answer = () => text;
        providerFailed(await look(id), words);
        await is(id, '2027-12-15T09:37:54.000Z', 'whois', words);
        const [row] = await db.rows<{ failures: number; next_at: string }>(
          "SELECT failures, next_at FROM registrations WHERE name = 'fails.fi'",
        );
        assert.equal(Number(row?.failures), i + 1);
        assert.ok(Date.parse(row?.next_at as string) < Date.now() + 3 * 3_600_000, row?.next_at);
      }
      whois.fi.answer = whoisOf;
    });

    it('says that a registry publishes no date where RDAP has none, and WHOIS is missing or has none', async () => {
      const id = await add('silent.app');
      rdap.app.handler = () => rdapDomain('silent.app');
      const dateless = await startWhois(() => 'Domain Name: SILENT.APP\r\nRegistrar: Example\r\n');
      for (const said of ['% This query returned 0 objects.\n', `domain: APP\n\nwhois: ${dateless.address}\n`]) {
        await rested('silent.app');
        whois['.'].answer = () => said;
        assert.equal(done(await look(id)).expires_at, null);
        await is(id, null, null, /\.app does not tell .*set expires_at by hand/);
      }
      assert.deepEqual(dateless.asked, ['silent.app']);
      await dateless.stop();
    });

    it('rejects an invalid name of a server', async () => {
      const id = await add('long.ws');
      whois['.'].answer = () => `domain: WS\n\nwhois: ${'a'.repeat(300)}.example\n`;
      providerFailed(await look(id), /no server|does not answer|answers no questions/);
      await is(id, null, null, /./);
    });

    it('pauses a server for as long as it asks, while others are asked', async () => {
      const [limited, other, fr] = [await add('a.net'), await add('a.org'), await add('a.fr')];
      rdap.net.handler = () => ({ status: 429, headers: { 'retry-after': '3000' } });
      rdap.org.handler = () => rdapDomain('a.org', '2028-02-03T00:00:00Z');
      whois.fr.answer = () => '%% Too many requests...\n%% No entries found\n';
      await Promise.all([add('b.net'), add('b.fr')]);
      await tick();
      await is(other, '2028-02-03T00:00:00.000Z', 'rdap');
      await is(limited, null, null, /takes no more questions/);
      await is(fr, null, null, /takes no more questions/);
      // no other name of the same server was asked about, neither by the tick nor by a request
      providerFailed(await look(limited), /takes no more questions.*asked again from/);
      await tick();
      assert.deepEqual([rdap.net.requests.length, whois.fr.asked.length], [1, 1]);
      const [row] = await db.rows<{ next_at: string }>('SELECT next_at FROM registry_servers WHERE server = ?', [
        new URL(rdap.net.url).host,
      ]);
      const wait = Date.parse(row?.next_at as string) - Date.now();
      assert.ok(wait > 2900_000 && wait <= 3000_000, String(wait));
    });

    it('does not wait for a turn when it has to stop, and forgets servers that are not asked', async () => {
      await add('turn.net');
      const server = new URL(rdap.net.url).host;
      const sql = 'INSERT INTO registry_servers (server, next_at, failures) VALUES (?, ?, 0)';
      for (const [name, next] of [
        [server, now(3_600_000)],
        ['old.example', now(-31 * DAY)],
        ['late.example', now(-29 * DAY)],
      ] as const)
        await db.run(sql, [name, next]);
      const asked = rdap.net.requests.length;
      const stop = new AbortController();
      const run = app()?.get(RegistrationWatch).tick(stop.signal);
      await until(
        'its row',
        async () => (await db.rows("SELECT id FROM registrations WHERE name = 'turn.net'")).length > 0,
      );
      stop.abort();
      await assert.rejects(run as Promise<void>, { name: 'AbortError' });
      assert.equal(rdap.net.requests.length, asked);
      const left = await db.rows<{ server: string }>('SELECT server FROM registry_servers ORDER BY server');
      assert.deepEqual(
        left.filter(({ server }) => /example/.test(server)),
        [{ server: 'late.example' }],
      );
      await db.run("UPDATE registrations SET next_at = ? WHERE name LIKE '%.net'", [now(DAY)]);
    });

    // one kind is enough for what is waited for
    if (kind === 'sqlite')
      it('gives up on a server that answers byte by byte, and answers requests that it takes too long', async () => {
        let dripping = false;
        const drip = (socket: Socket) => {
          dripping = true;
          const drop = () => {
            if (!socket.destroyed) socket.write('%', () => void sleep(DRIP_MS).then(drop));
          };
          drop();
        };
        whois.pt.answer = () => drip;
        const [queued, dripped] = [await add('queue.net'), await add('drip.pt')];
        const server = new URL(rdap.net.url).host;
        const sql = 'INSERT INTO registry_servers (server, next_at, failures) VALUES (?, ?, 0)';
        await db.run(sql, [server, now(3_600_000)]);
        const clock = steerClock();
        const looks = Promise.all([look(queued), look(dripped)]);
        let over = false;
        void looks.finally(() => {
          over = true;
        });
        await until('the server drips', () => dripping);
        await until('both have an answer', async () => {
          await clock.advance(1000);
          return over;
        });
        const [late, slow] = await looks;
        clock.release();
        providerFailed(late, /No answer about queue\.net within 20 s/);
        // the limit of one answer, or the limit of the whole request where the machine was slow to begin
        providerFailed(slow, /it takes too long|No answer about drip\.pt within 20 s/);
        await db.run("UPDATE registrations SET next_at = ? WHERE name LIKE '%.net'", [now(DAY)]);
      });

    it('follows a redirect to an allowed address', async () => {
      const id = await add('moved.app');
      rdap.app.handler = () => ({ status: 301, headers: { location: `${rdap.org.url}/domain/moved.app` } });
      rdap.org.handler = () => rdapDomain('moved.app', '2028-03-04T00:00:00Z');
      assert.equal(done(await look(id)).expires_at, '2028-03-04T00:00:00.000Z');
    });

    it('keeps a date that was set by hand until it is removed', async () => {
      const id = await add('hand.com');
      rdap.com.handler = ({ path }) => rdapDomain(path.split('/').at(-1) as string, '2028-05-06T00:00:00Z');
      done(await look(id));
      const path = `/api/domains/${id}` as const;
      // what was read is sent back: it stays the registry's
      done(await service.admin.put(path, done(await service.admin.get(path))));
      await is(id, '2028-05-06T00:00:00.000Z', 'rdap');
      done(await service.admin.put(path, { expires_at: null }));
      await is(id, '2028-05-06T00:00:00.000Z', 'rdap');
      done(await service.admin.put(path, { expires_at: '2027-07-08' }));
      await rested('hand.com');
      await tick();
      assert.equal(done(await look(id)).expires_at, '2028-05-06T00:00:00.000Z');
      await is(id, '2027-07-08T00:00:00.000Z', 'manual');
      done(await service.admin.put(path, { expires_at: null }));
      await is(id, '2028-05-06T00:00:00.000Z', 'rdap');
    });

    it('takes the date of the provider where the registry has none', async () => {
      const vendor = await startStandIn(({ path }) => {
        const domain = { domain: 'p.de', status: 'ACTIVE', expires: '2029-01-02T03:04:05.000Z' };
        return { body: path.endsWith('/domains') ? [domain] : path.endsWith('/p.de') ? domain : [] };
      });
      const credentials = { endpoint: vendor.url, api_key: 'key', api_secret: 'secret' };
      const id = await addDomain(service.admin, await addAccount(service.admin, 'godaddy', credentials), 'p.de');
      assert.equal(done(await look(id)).source, 'provider');
      await is(id, '2029-01-02T03:04:05.000Z', 'provider');
      await vendor.stop();
    });

    it('asks nothing about names that cannot be registered', async () => {
      for (const name of ['2.0.192.in-addr.arpa', 'a.example', 'home.internal']) {
        const answer = await look(await add(name));
        assert.match(refused(answer, 409, 409001).msg, /Nobody registers/);
      }
    });

    it('keeps a valid list of RDAP servers when an invalid one comes', async () => {
      const file = join(service.server.dataDir, 'rdap-bootstrap.json');
      const before = JSON.parse(readFileSync(file, 'utf8'));
      assert.deepEqual(Object.keys(before.bases).toSorted(), ['com', 'fi', 'net', 'org']);
      const bad = [
        '<html></html>',
        { version: '1.0', services: [] },
        { version: '1.0', services: [[['com'], ['https://x.example/']]] },
      ];
      for (const body of bad) {
        bootstrap.handler = () => ({ body });
        const old = { ...before, until: 0 };
        writeFileSync(file, JSON.stringify(old));
        await rested();
        const asked = bootstrap.requests.length;
        // as another process that finds the file
        const one = new Bootstrap(app()?.get<Config>(CONFIG) as Config, app()?.get(RdapHttp) as RdapHttp, SILENT);
        assert.deepEqual(await one.baseOf('net'), { url: `${rdap.net.url}/net/`, sure: true });
        assert.equal(bootstrap.requests.length, asked + 1);
        assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), old);
      }
    });

    it('reminds once for each end and each day of the settings, for all zones together', async () => {
      await db.run('UPDATE domains SET expires_at = NULL');
      const channel = {
        id: 'hook',
        type: 'webhook',
        name: 'hook',
        config: { url: hook.url },
        events: ['domain.expiring'],
      };
      const id = await add('soon.example');
      const path = `/api/domains/${id}` as const;
      const remind = async () => {
        const reminders = app()?.get(Reminders) as Reminders;
        // two processes look at once, and again later
        await Promise.all([reminders.tick(), reminders.tick()]);
        await reminders.tick();
      };
      done(await service.admin.put('/api/settings', { timezone: 'Asia/Shanghai' }));
      const ends = async (ms: number) => done(await service.admin.put(path, { expires_at: now(ms) }));
      const texts = async (count: number) => {
        await until(`${count} reminders`, async () => hook.requests.length >= count);
        assert.equal(hook.requests.length, count);
        return hook.requests.map(({ body }) => (body as { text: string }).text.replace(/, on .*/, ''));
      };
      // without a channel that wants them, no reminder counts as sent
      await ends(5 * DAY);
      await remind();
      done(await service.admin.put('/api/settings/notifications', { channels: [channel] }));
      // five days are left of those at 30 and 7: one reminder
      await remind();
      assert.deepEqual(await texts(1), ['The registration of soon.example ends in 5 days']);
      // by the calendar of the settings' time zone
      const day = new Date(Date.now() + 5 * DAY + 8 * 3_600_000).toISOString().slice(0, 10);
      assert.ok((hook.requests[0]?.body as { text: string } | undefined)?.text.endsWith(`, on ${day}`));
      await ends(0.5 * DAY);
      await db.run('UPDATE domains SET expiry_told_for = expires_at WHERE id = ?', [id]);
      await remind();
      assert.match((await texts(2)).at(-1) ?? '', /^The registration of soon.example ends (today|tomorrow)$/);
      // renewed: from the beginning
      await ends(365 * DAY);
      await remind();
      await ends(20 * DAY);
      await remind();
      assert.equal((await texts(3)).at(-1), 'The registration of soon.example ends in 20 days');
      // a registration with zones below it
      rdap.org.handler = () => rdapDomain('many.org', now(3 * DAY));
      const many = [await add('many.org'), await add('a.many.org'), await add('b.many.org')];
      done(await look(many[1] as number));
      await remind();
      assert.equal((await texts(4)).at(-1), 'The registration of many.org ends in 3 days');
      assert.match(JSON.stringify(hook.requests.at(-1)?.body), /"domain":"many\.org"/);
      // the end as another source gives it, which differs a little
      rdap.org.handler = () => rdapDomain('many.org', now(3 * DAY - 3_600_000));
      await rested('many.org');
      done(await look(many[0] as number));
      await remind();
      const rows = await db.rows("SELECT id FROM deliveries WHERE event = 'domain.expiring'");
      assert.equal(rows.length, 4);
    });
  });
}
