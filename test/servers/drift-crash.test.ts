import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, type Server, ServerProcess, startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import { done, ended, powerdnsLines, startWorld, until, type World } from '../support/world.js';

const HOSTS = ['one', 'two', 'three'];

// a process of its own, until the last start: it is killed
for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`kill -9 while drift is taken back, on ${kind}`, () => {
    let world: World;
    let server: Server;
    let at: `/api/domains/${number}`;

    beforeAll(async () => {
      world = await startWorld(kind, {}, 'lmdb', startProcess);
      server = world.server;
      at = `/api/domains/${world.domain}`;
      const changes = Array.from({ length: 20 }, (_, i) => ({
        op: 'create',
        host: `n${i}`,
        type: 'A',
        value: '192.0.2.1',
      }));
      const wanted = HOSTS.map((host) => ({ op: 'create', host, type: 'A', value: '192.0.2.1' }));
      ended(await client().post(`${world.records}/batch`, { changes: [...changes, ...wanted] }));
    });
    afterAll(async () => {
      await server?.kill();
      await world?.stop();
    });

    const client = (): Client => server.as(world.token);
    /** Somebody gives each host another address. */
    const drift = async (value: string) => {
      const rrsets = HOSTS.map((host) => ({
        ...{ name: `${host}.${world.zone}.`, type: 'A', ttl: 600, changetype: 'REPLACE' },
        records: [{ content: value, disabled: false }],
      }));
      assert.equal((await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets })).status, 204);
      done(await client().get(`${world.records}?refresh=true`));
    };
    const held = async () =>
      powerdnsLines(await world.pdns.zone(world.zone)).filter((line) => HOSTS.includes(line.split(' ')[0] as string));

    for (const [i, when] of ['before', 'after'].entries())
      it(`${when} the provider has carried it out, it is taken back by the next start`, async () => {
        let killed: Promise<unknown> | undefined;
        for (const mode of ['adopt', 'revert']) done(await client().put(at, { drift: { mode } }));
        await drift(`198.51.100.${i + 1}`);
        world.proxy.fault = async (request, forward) => {
          if (request.method !== 'PATCH' || killed) return forward();
          const answer = when === 'after' ? await forward() : 'close';
          killed = server.kill();
          await killed;
          return answer;
        };
        await until('it is killed', async () => killed !== undefined);
        await killed;
        world.proxy.fault = null;
        server = await ServerProcess.start({ DATABASE_URL: world.databaseUrl }, world.server.dataDir);
        await until('the service is ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
        await until('no change is left', async () => (await openIntents(world)) === 0);
        await until('it is taken back', async () => !done(await client().get(`${at}/drift`)).total, 120_000);
        const lines = HOSTS.map((host) => `${host} A - 192.0.2.1 600 on`).toSorted();
        assert.deepEqual(await held(), lines);
        await world.agree(client());
      });
  });
}
