import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type Commits, startCommits } from '../support/commits.js';
import { type Database, databases, migratedDatabase } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN, LocalServer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import { done, made, refused, startWorld, until, type World } from '../support/world.js';

const MANY = 12;

for (const { skip } of databases('mysql'))
  describeUnless(skip || noPowerdns)('commits that are refused with a deadlock, as Galera does', suite);

function suite(): void {
  let database: Database;
  let commits: Commits;
  let world: World;
  beforeAll(async () => {
    database = await migratedDatabase('mysql');
    const url = new URL(database.url);
    commits = await startCommits(Number(url.port));
    url.port = String(commits.port);
    world = await startWorld('mysql', {}, 'lmdb', async () => {
      const env = { DATABASE_URL: url.href, ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password };
      const server = await LocalServer.start(env);
      const token = await server.login();
      const stop = async () => {
        await server.stop();
        rmSync(server.dataDir, { recursive: true, force: true });
      };
      return { server, admin: server.as(token), token, databaseUrl: database.url, stop };
    });
  });
  afterAll(async () => {
    await world?.stop();
    await commits?.stop();
    await database?.drop();
  });

  const sent = (host: string) =>
    world.proxy.requests.filter(({ method, body }) => method === 'PATCH' && body.includes(`"${host}.${world.zone}.`))
      .length;
  const hosts = async () => {
    const { rrsets } = await world.pdns.zone(world.zone);
    return rrsets.map(({ name }) => name.slice(0, -world.zone.length - 2));
  };

  it('now and then are made again as a whole, and nothing is sent twice', async () => {
    let commit = 0;
    commits.refuse = () => ++commit % 3 === 0;
    // in sequence: of concurrent writes, each retry of one transaction could be the third commit
    for (let i = 0; i < MANY; i++) {
      const { id } = made(await world.admin.post(world.records, { host: `h${i}`, type: 'A', value: `10.0.0.${i}` }));
      if (i % 2) done(await world.admin.delete(`${world.records}/${id}`));
    }
    commits.refuse = () => false;
    assert.ok(commits.refused > MANY / 2, String(commits.refused));
    for (let i = 0; i < MANY; i++) assert.equal(sent(`h${i}`), 1 + (i % 2), `h${i}`);
    await world.agree();
  });

  it('before the provider is called: an error, and nothing changed', async () => {
    commits.refuse = () => true;
    const answer = await world.admin.post(world.records, { host: 'before', type: 'A', value: '192.0.2.1' });
    commits.refuse = () => false;
    refused(answer, 503, 503001);
    assert.equal(sent('before'), 0);
    assert.ok(!(await hosts()).includes('before'));
    await world.agree();
  });

  it('after the provider was called: the change is in doubt, and settled', async () => {
    commits.refuse = () => sent('after') > 0;
    const answer = await world.admin.post(world.records, { host: 'after', type: 'A', value: '192.0.2.1' });
    assert.equal(refused(answer, 500, 500002).data.applied, 'unknown');
    commits.refuse = () => false;
    await until('nothing is in doubt', async () => (await openIntents(world)) === 0);
    assert.equal(sent('after'), 1);
    assert.ok((await hosts()).includes('after'));
    await world.agree();
  });
}
