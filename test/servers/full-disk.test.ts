import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { databases, type Kind } from '../support/databases.js';
import { noOwnServer, startOwnServer } from '../support/own-database.js';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import { type HttpProxy, startProxy } from '../support/proxy.js';
import { ADMIN, type Client, type Server, ServerProcess } from '../support/server.js';
import { noSmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, cacheLines, done, made, powerdnsLines, refused, until } from '../support/world.js';

const ZONE = 'example.com';
/** what a database begins with has room, and what these tests write */
const MEGABYTES: Record<Kind, number> = { sqlite: 8, postgresql: 40, mysql: 40 };
/** so many changes make the files of a database grow for certain */
const MANY = 3_000;
/** of the database */
const NAME = 'zoneward';

/** A database whose files are on a disk of their own. */
async function onSmallDisk(kind: Kind, dataDir: string): Promise<{ disk: SmallDisk; url: string; drop(): unknown }> {
  if (kind === 'sqlite') {
    const disk = smallDisk(MEGABYTES[kind], dataDir);
    return { disk, url: 'sqlite:zoneward.db', drop: () => disk.remove() };
  }
  // a server of its own: InnoDB ends itself where it finds no page for a value, and a full disk keeps PostgreSQL from
  // its checkpoints, without which no database can be dropped
  const { url, query, user, data, stop } = await startOwnServer(kind);
  const own = `${url}/${NAME}`;
  if (kind === 'mysql') await query(`CREATE DATABASE ${NAME}`);
  const disk = smallDisk(MEGABYTES[kind], kind === 'mysql' ? join(data, NAME) : undefined);
  const drop = async () => {
    disk.remove();
    await stop();
  };
  if (kind === 'mysql') return { disk, url: own, drop };
  const files = join(disk.path, 'files');
  mkdirSync(files, { mode: 0o700 });
  chownSync(files, user.uid, user.gid);
  await query(`CREATE TABLESPACE small LOCATION '${files}'`);
  await query(`CREATE DATABASE ${NAME} TABLESPACE small`);
  return { disk, url: own, drop };
}

for (const { kind, skip } of databases('one')) {
  const absent = skip || noPowerdns || noSmallDisk() || (kind !== 'sqlite' && noOwnServer(kind));
  describeUnless(absent)(`a full disk under ${kind}`, () => {
    let pdns: Powerdns;
    let proxy: HttpProxy;
    let base: Awaited<ReturnType<typeof onSmallDisk>>;
    let dataDir: string;
    let server: Server;
    let admin: Client;
    let svc: Client;
    let records: `/api/domains/${number}/records`;
    let domain: number;
    let said = 0;

    const start = async () => {
      const env = { DATABASE_URL: base.url, SECRET_KEY: 'k'.repeat(32) };
      server = await ServerProcess.start(
        { ...env, ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password },
        dataDir,
      );
      // MariaDB may have ended on the full disk
      await until('the database is there', async () => (await server.call('GET', '/health/ready')).status === 200);
      admin = server.as(await server.login());
    };
    /** Changes something until the database cannot. @returns what was acknowledged last */
    const fillUp = async (): Promise<string> => {
      base.disk.fill();
      let last = done(await admin.get('/api/settings')).site_name;
      for (let i = 0; i < MANY; i++) {
        const site_name = `Site ${++said}`;
        const answer = await admin.put('/api/settings', { site_name });
        if (answer.code !== 0) {
          const { msg, headers } = refused(answer, 503, 503001);
          assert.match(msg, /disk of the database is full/);
          assert.ok(Number(headers.get('retry-after')) > 0);
          return last;
        }
        last = site_name;
      }
      return assert.fail(`the disk is not full after ${MANY} changes`);
    };
    const agrees = async () => {
      const [here, there] = [await cacheLines(admin, domain), powerdnsLines(await pdns.zone(ZONE))];
      return JSON.stringify(here) === JSON.stringify(there);
    };

    beforeAll(async () => {
      pdns = await startPowerdns({ backend: 'lmdb' });
      await pdns.createZone(ZONE);
      proxy = await startProxy(pdns.url);
      dataDir = mkdtempSync(join(tmpdir(), 'zoneward-full-'));
      base = await onSmallDisk(kind, dataDir);
      await start();
      // so many changes come faster than a user may send them
      done(await admin.put('/api/settings/security', { rate_limits: { user: 0 } }));
      svc = server.as(made(await admin.post('/api/tokens', { name: 'ci' })).token);
      const account = await addAccount(admin, 'powerdns', { url: proxy.url, api_key: pdns.apiKey });
      domain = await addDomain(admin, account, ZONE);
      records = `/api/domains/${domain}/records`;
      made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
    });
    afterEach(() => {
      proxy.fault = null;
      base.disk.free();
    });
    afterAll(async () => {
      await server?.kill();
      await base?.drop();
      await proxy?.stop();
      await pdns?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    it('means 503 with its name for what is to be changed; reads go on, and writes when there is room', async () => {
      const last = await fillUp();
      const before = powerdnsLines(await pdns.zone(ZONE));
      assert.ok(before.length);
      for (const [host, client] of [
        ['one', admin],
        ['two', svc],
      ] as const) {
        assert.ok(done(await client.get(records)).total >= before.length);
        const answer = await client.post(records, { host, type: 'A', value: '192.0.2.9' });
        // in the pages of a server's tables there may be room for one row more, or for the change and not for its end
        if (kind === 'sqlite' || ![201, 500].includes(answer.status))
          assert.match(refused(answer, 503, 503001).msg, /disk of the database is full/);
        else if (answer.status === 500) assert.equal(refused(answer, 500, 500002).data.applied, 'unknown');
      }
      if (kind === 'sqlite') assert.deepEqual(powerdnsLines(await pdns.zone(ZONE)), before, 'nothing was sent');
      assert.equal(done(await admin.get('/api/settings')).site_name, last);
      assert.deepEqual(done(await server.call('GET', '/health/ready')), { status: 'ok' });
      base.disk.free();
      assert.equal(done(await admin.get('/api/settings')).site_name, last);
      done(await admin.get(`${records}?refresh=true`));
      await until('the cache holds what the provider holds', agrees);
      made(await svc.post(records, { host: 'room', type: 'A', value: '192.0.2.9' }));
      assert.ok(await agrees());
    });

    it('in the middle of a change of a record leaves what heals by itself', async () => {
      let written = 0;
      proxy.fault = async (request, forward) => {
        if (request.method === 'PATCH' && ++written === 1) await fillUp();
        return forward();
      };
      // larger than what may be free in the pages of PostgreSQL's tables; MariaDB ends where such a value finds no page
      const value = randomBytes(kind === 'postgresql' ? 8000 : 1500).toString('hex');
      const answer = await admin.post(records, { host: 'middle', type: 'TXT', value });
      // which there may be room for in the pages that MariaDB has taken already
      if (kind !== 'mysql' || answer.status !== 201)
        assert.ok(answer.status >= 500 && answer.code !== 0, `${answer.status} ${answer.msg}`);
      assert.ok(written > 0);
      base.disk.free();
      done(await admin.get(`${records}?refresh=true`));
      await until('the cache holds what the provider holds', agrees);
      assert.equal(done(await admin.get(`${records}?host=middle`)).total, 1);
    });

    it('does not hinder an orderly end, nor the next start when there is room', async () => {
      const last = await fillUp();
      assert.equal(await server.stop(), 0);
      base.disk.free();
      await start();
      assert.equal(done(await admin.get('/api/settings')).site_name, last);
      assert.ok(await agrees());
    });
  });
}
