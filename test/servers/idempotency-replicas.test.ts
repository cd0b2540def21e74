import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { Controller, Param, Post } from '@nestjs/common';
import { Access, type Caller, Me } from '../../src/access/access.js';
import { ProviderConnections } from '../../src/accounts/provider-connections.js';
import { AuditService } from '../../src/audit/audit.service.js';
import { now } from '../../src/platform/common/clock.js';
import { errors } from '../../src/platform/common/errors.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { again, because, isReplay, key } from '../support/idempotency.js';
import { noPowerdns } from '../support/powerdns.js';
import {
  type Answer,
  type Client,
  LocalServer,
  type Server,
  ServerProcess,
  type Service,
  startServiceWith,
} from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { addAccount, made, refused, startWorld, type World } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`Idempotency-Key over replicas and restarts, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;

    beforeAll(async () => {
      world = await startWorld(kind, { SECRET_KEY });
      ({ admin } = world);
      ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
    });
    afterAll(async () => {
      await close?.();
      await world?.stop();
    });

    const record = (host: string) => ({ host, type: 'A', value: '192.0.2.1' });
    const writes = () => world.proxy.requests.filter(({ method }) => method === 'PATCH').length;
    /** How many writes reached the provider meanwhile. */
    const counted = async (work: () => Promise<unknown>): Promise<number> => {
      const before = writes();
      await work();
      return writes() - before;
    };
    it('another machine is waited for as long as its lease lasts, and then nobody knows what it did', async () => {
      const one = key();
      const remove = () => admin.delete(`${world.records}/999996`, undefined, one);
      const first = await remove();
      const owner = 'elsewhere/1/0123456789abcdef/1/01234567/01234567';
      await db.run('UPDATE kept_answers SET owner = ?, lease_until = ?', [owner, now(10_000)]);
      because(await remove(), 409004, 'request_running');
      await db.run('UPDATE kept_answers SET lease_until = ?', [now(-1)]);
      assert.deepEqual(because(await remove(), 409001, 'outcome_unknown'), {
        request: first.headers.get('x-request-id'),
      });
      // it only was slow: what it ends with is given
      await db.run('UPDATE kept_answers SET owner = NULL');
      again(first, await remove());
    });

    // SQLite has one process
    if (kind !== 'sqlite')
      it('replicas share keys', async () => {
        const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
        const second = await ServerProcess.start({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, dataDir);
        try {
          const clients = [admin, second.as(world.token)] as const;
          const sent = await counted(async () => {
            for (let i = 0; i < 10; i++) {
              const one = key();
              const answers = await Promise.all(
                [0, 1, 0, 1].map((n) => (clients[n] as Client).post(world.records, record(`shared${i}`), one)),
              );
              const first = answers.find((answer) => answer.status === 201 && !isReplay(answer)) as Answer;
              made(first);
              for (const other of answers) {
                if (other === first) continue;
                if (other.status === 409) because(other, 409004, 'request_running');
                else again(first, other);
              }
              for (const client of clients) again(first, await client.post(world.records, record(`shared${i}`), one));
            }
          });
          assert.equal(sent, 10);
        } finally {
          await second.kill();
          rmSync(dataDir, { recursive: true, force: true });
        }
      });

    it('answers outlive a restart; a request that was killed on its way is not carried out again', async () => {
      const [known, cut] = [key(), key()];
      const first = await admin.post(world.records, record('restart'), known);
      made(first);
      await world.server.stop();
      const env = { DATABASE_URL: world.databaseUrl, SECRET_KEY };
      let server: Server = await ServerProcess.start(env, world.server.dataDir);
      try {
        again(first, await server.as(world.token).post(world.records, record('restart'), known));
        world.proxy.fault = async ({ method }, forward) => {
          if (method !== 'PATCH') return forward();
          const reply = await forward();
          await server.kill();
          return reply;
        };
        await assert.rejects(
          server.as(world.token).post(world.records, record('cut'), { ...cut, 'x-request-id': 'the-one-that-was-cut' }),
        );
        world.proxy.fault = null;
        server = await LocalServer.start(env, world.server.dataDir);
        const sent = await counted(async () => {
          for (let i = 0; i < 2; i++) {
            const answer = await server.as(world.token).post(world.records, record('cut'), cut);
            const params = because(answer, 409001, 'outcome_unknown');
            assert.deepEqual(params, { request: 'the-one-that-was-cut' });
          }
        });
        assert.equal(sent, 0);
      } finally {
        world.proxy.fault = null;
        await server.kill();
      }
    });
  });
}

/** What no route of ours does at will. */
@Controller('odd')
class OddController {
  static calls = 0;

  constructor(
    private readonly audit: AuditService,
    private readonly connections: ProviderConnections,
  ) {}

  @Post(':how')
  @Access({})
  async odd(@Param('how') how: string, @Me() me: Caller): Promise<object> {
    OddController.calls++;
    if (how === 'long') return { text: randomBytes(40_000).toString('base64') };
    if (how === 'compressible') return { text: 'x'.repeat(1_000_000) };
    if (how === 'busy') throw errors.tooMany('pool_full', 1);
    if (how === 'stored') await this.audit.append(me, { action: 'team.create' });
    if (how === 'zone') await (await this.connections.of(1)).provider.createZone(`zone${OddController.calls}.example`);
    throw new Error('a fault');
  }
}

describe('Idempotency-Key and odd answers', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startServiceWith('sqlite', [OddController]);
  });
  afterAll(() => service?.stop());

  /** Two requests with one key. @returns whether the second one was carried out, too */
  const twice = async (how: string): Promise<[Answer, Answer, boolean]> => {
    const one = key();
    const ask = () => service.admin.post(`/api/odd/${how}`, undefined, one);
    const first = await ask();
    const { calls } = OddController;
    return [first, await ask(), OddController.calls > calls];
  };

  it('a long answer is kept; one too long to be kept is not made anew', async () => {
    const [first, second, isDone] = await twice('compressible');
    again(first, second);
    assert.equal(isDone, false);
    const [long, none, isAgain] = await twice('long');
    assert.equal(long.status, 201);
    const params = because(none, 409001, 'answer_not_kept');
    assert.deepEqual(params, { request: long.headers.get('x-request-id'), status: 201 });
    assert.equal(isAgain, false);
  });

  it('429, and a fault before anything was stored, leave the key free', async () => {
    for (const [how, status] of [
      ['busy', 429],
      ['fault', 500],
    ] as const) {
      const [first, second, isAgain] = await twice(how);
      assert.deepEqual([first.status, second.status, isReplay(second), isAgain], [status, status, false, true]);
    }
    assert.deepEqual(await rowsOf(service, 'SELECT id FROM kept_answers WHERE owner IS NOT NULL'), []);
  });

  it('a fault after something was stored, or written at a provider, does not', async () => {
    assert.equal(await addAccount(service.admin, 'zonefile', {}), 1);
    for (const how of ['stored', 'zone']) {
      const [first, second, isAgain] = await twice(how);
      assert.equal(refused(first, 500, 500001).data.reason, 'internal');
      again(first, second);
      assert.equal(isAgain, false);
    }
  });
});
