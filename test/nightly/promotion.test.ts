import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { type Door, startDoor } from '../support/door.js';
import { key } from '../support/idempotency.js';
import { noOwnServer } from '../support/own-database.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN, type Client, LocalServer, type Server, ServerProcess } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { type Pair, startPair } from '../support/standby.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import { done, made, startWorld, until, type World } from '../support/world.js';

/** ms after which a client asks again */
const RETRY_MS = 100;
/** ms during which the address points to a read-only server */
const READ_ONLY_MS = 1000;

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
const WRITERS = 8;
/** Writes that are acknowledged before the primary is killed, and after the standby was promoted. */
const WRITES = 60;

for (const { skip } of databases('postgresql'))
  describeUnless(skip || noOwnServer('postgresql') || noPowerdns)('a standby that is promoted', suite);

function suite(): void {
  let pair: Pair;
  let door: Door;
  let world: World;
  let second: Server;
  let clients: Client[];
  beforeAll(async () => {
    pair = await startPair();
    await pair.query(pair.primary, 'CREATE DATABASE zoneward');
    door = await startDoor(pair.primary);
    const databaseUrl = `postgres://postgres@127.0.0.1:${door.port}/zoneward`;
    const env = { DATABASE_URL: databaseUrl, SECRET_KEY };
    world = await startWorld('postgresql', {}, 'lmdb', async () => {
      const server = await LocalServer.start({
        ...env,
        ADMIN_USERNAME: ADMIN.username,
        ADMIN_PASSWORD: ADMIN.password,
      });
      const token = await server.login();
      const stop = async () => {
        await server.stop();
        rmSync(server.dataDir, { recursive: true, force: true });
      };
      return { server, admin: server.as(token), token, databaseUrl, stop };
    });
    done(await world.admin.put('/api/settings/security', { rate_limits: { user: 0, token: 0 } }));
    second = await ServerProcess.start(env, mkdtempSync(join(tmpdir(), 'zoneward-replica-')));
    clients = [world.admin, second.as(world.token)];
  });
  afterAll(async () => {
    await second?.kill();
    if (second) rmSync(second.dataDir, { recursive: true, force: true });
    await world?.stop();
    await door?.shut();
    await pair?.stop();
  });

  it('while records are written: what was acknowledged is there, and nothing was done twice', async () => {
    const acknowledged = new Map<string, string>();
    const asked: string[] = [];
    const told = new Set<string>();
    let writing = true;
    /** As a client does that wants to know: the same again, under the same key, until there is an answer. */
    const write = async (number: number, host: string, value: string) => {
      const once = key();
      for (let tries = number; ; tries++) {
        const { status, code, data } = await (clients[tries % 2] as Client).post(
          world.records,
          { host, type: 'A', value },
          once,
        );
        if (status === 201) return void acknowledged.set(host, value);
        const { reason, applied = '' } = data as unknown as { reason: string; applied?: string };
        told.add(`${code} ${reason} ${applied}`.trim());
        if (reason === 'outcome_unknown' || applied === 'unknown') return;
        await sleep(RETRY_MS);
      }
    };
    const writer = async (number: number) => {
      for (let i = 0; writing; i++) {
        const host = `w${number}-${i}`;
        asked.push(host);
        await write(number, host, `10.${number}.${i >> 8}.${i & 255}`);
      }
    };
    const writers = Array.from({ length: WRITERS }, (_none, number) => writer(number));
    await until('writes are acknowledged', async () => acknowledged.size >= WRITES);
    await pair.killPrimary();
    // the address leads to a server that only reads for a while
    door.target = pair.standby;
    await sleep(READ_ONLY_MS);
    const before = acknowledged.size;
    pair.promote();
    await until('writes are acknowledged again', async () => acknowledged.size > before);
    await until('writes are acknowledged again', async () => acknowledged.size >= before + WRITES);
    writing = false;
    await Promise.all(writers);
    await until('nothing is in doubt', async () => (await openIntents(world)) === 0);

    const may = ['503001 database_down', '503001 database_unwritable', '409004 request_running'];
    const unknown = ['409001 outcome_unknown', '500002 provider_unavailable unknown'];
    for (const answer of told) assert.ok([...may, ...unknown].includes(answer), answer);
    await world.agree(clients[1]);
    const { rrsets } = await world.pdns.zone(world.zone);
    const held = new Map(rrsets.map(({ name, records }) => [name, records.map(({ content }) => content).join()]));
    for (const [host, value] of acknowledged) assert.equal(held.get(`${host}.${world.zone}.`), value, host);
    const sent = world.proxy.requests.filter(({ method }) => method === 'PATCH').map(({ body }) => body);
    for (const host of asked) {
      const times = sent.filter((body) => body.includes(`"${host}.${world.zone}.`)).length;
      assert.ok(times <= 1, `${host} was sent ${times} times`);
    }
    const { list } = done(await world.admin.get('/api/system/jobs?failing=true'));
    assert.deepEqual(
      list.map(({ name, last_error }) => `${name}: ${last_error}`),
      [],
    );
    made(await (clients[1] as Client).post(world.records, { host: 'after', type: 'A', value: '192.0.2.1' }));
  });
}
