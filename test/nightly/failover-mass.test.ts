import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { ServerProcess, startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { openIntents, rowsOf } from '../support/tables.js';
import { startTargets, type Targets } from '../support/targets.js';
import { done, startWorld, until, type World } from '../support/world.js';

const [P, B] = ['127.0.6.1', '127.0.7.1'] as const;
const ENV = { SECRET_KEY: 'the-same-key-of-both-processes-0123456789', OUTBOUND_ALLOW: '127.0.0.0/8' };
/** seldom enough that all rules may be checked at one address */
const CHECK = { kind: 'tcp', interval_s: 10, timeout_s: 1, fall: 1, rise: 1 };

for (const [i, { kind, skip }] of databases('one').entries()) {
  describeUnless(skip || noPowerdns)(`many rules of one domain that go down together, on ${kind}`, () => {
    let world: World;
    let server: ServerProcess;
    let targets: Targets;

    beforeAll(async () => {
      targets = await startTargets();
      world = await startWorld(kind, ENV, 'lmdb', startProcess);
      server = world.server as ServerProcess;
    });
    afterAll(async () => {
      await server?.kill();
      await world?.stop();
      await targets?.stop();
    });

    const client = () => server.as(world.token);
    const failover = () => `/api/domains/${world.domain}/failover` as const;
    const rules = async () => done(await client().get(failover())).rules;
    const history = async () => done(await client().get(`${failover()}/history?limit=50`));
    /** What PowerDNS holds at each host. */
    const held = async () => {
      const { rrsets } = await world.pdns.zone(world.zone);
      const sets = rrsets.filter(({ type }) => type === 'A');
      return new Map(
        sets.map(({ name, records }) => [
          name.slice(0, -`.${world.zone}.`.length),
          records.map(({ content }) => content).toSorted(),
        ]),
      );
    };
    /** Somebody else writes a set, past the service. */
    const elsewhere = async (host: string, ...values: string[]) => {
      const records = values.map((content) => ({ content, disabled: false }));
      const set = { name: `${host}.${world.zone}.`, type: 'A', ttl: 600, changetype: 'REPLACE', records };
      const answer = await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets: [set] });
      assert.ok(answer.ok, await answer.text());
    };
    /** So many rules that all serve the one primary value. */
    const begin = async (prefix: string, count: number) => {
      await targets.up(P, B);
      const hosts = Array.from({ length: count }, (_, i) => `${prefix}${i}`);
      const changes = hosts.map((host) => ({ op: 'create', host, type: 'A', value: P, ttl: 600 }));
      const { outcomes } = done(await client().post(`${world.records}/batch?wait=60`, { changes }));
      assert.ok(outcomes?.every(({ ok }) => ok));
      const check = { ...CHECK, port: targets.port };
      const list = hosts.map((host) => ({ host, type: 'A', primary: [P], backup: [B], check }));
      done(await client().post(failover(), { enabled: true, rules: list }));
      await until('all is known to work', async () =>
        (await rules()).every(({ state }) => state.values.every(({ up }) => up)),
      );
      return hosts;
    };
    /**
     * Takes the primary value down, and lets no write get to the provider until all rules know it.
     * @param then what becomes of the requests, of writes after that
     */
    const goDown = async (then?: Exclude<World['proxy']['fault'], null>) => {
      let release = () => {};
      const known = new Promise<void>((resolve) => {
        release = resolve;
      });
      world.proxy.fault = async (request, forward) => {
        if (request.method === 'PATCH') await known;
        return then ? then(request, forward) : forward();
      };
      await targets.down(P);
      await until('all is known to be down', async () =>
        (await rules()).every(({ state }) => state.values[0]?.up === false),
      );
      release();
    };
    const settled = (but: string[]) =>
      until(
        'all that may be is switched',
        async () =>
          (await rules()).every(({ host, hold, state }) => (but.includes(host) ? hold : state.active === 'backup')),
        180_000,
      );

    // how they are judged and written does not depend on the database
    if (i === 0) {
      it('60 rules are switched in few lists, and one whose set is of somebody else is held', async () => {
        const hosts = await begin('few', 60);
        const before = (await history()).total;
        await elsewhere('few50', P, '192.0.2.99');
        await goDown();
        await settled(['few50']);
        const all = await rules();
        const values = await held();
        for (const { host, hold, state } of all) {
          const foreign = host === 'few50';
          assert.deepEqual(values.get(host), foreign ? [P, '192.0.2.99'] : [B], host);
          assert.deepEqual([hold, state.switches], foreign ? [true, 0] : [false, 1], host);
        }
        assert.match(all.find(({ host }) => host === 'few50')?.state.hold_reason ?? '', /192\.0\.2\.99/);
        const { total, list } = await history();
        assert.ok(total - before <= 10, `${total - before} change sets`);
        const most = list.toSorted((a, b) => b.counts.applied - a.counts.applied)[0];
        assert.match(
          most?.comment ?? '',
          /^\d+ rules at once: rule \d+: 127\.0\.6\.1 is down \(connection refused\); rule/,
        );
        assert.deepEqual([most?.door, most?.actor.type], ['failover', 'system']);
        // each is told for itself
        const logs = done(await client().get('/api/audit/logs?action=failover.switch&limit=100')).list;
        assert.equal(new Set(logs.map(({ target }) => target?.id)).size, hosts.length - 1);
        assert.equal(logs.length, hosts.length - 1);
      });

      it('one that is changed between the reading and the write keeps what it holds, and the others are switched', async () => {
        await begin('meanwhile', 60);
        const before = (await history()).total;
        let changed = false;
        await goDown(async (request, forward) => {
          const sql = `SELECT intended FROM failover_rules WHERE name = 'meanwhile50.${world.zone}'`;
          // it is judged, and about to be written
          if (!changed && request.method === 'GET' && (await rowsOf(world, sql))[0]?.intended) {
            changed = true;
            await elsewhere('meanwhile50', P, '192.0.2.98');
          }
          return forward();
        });
        await settled(['meanwhile50']);
        assert.ok(changed);
        const values = await held();
        for (const { host, hold, state } of await rules()) {
          const foreign = host === 'meanwhile50';
          assert.deepEqual(values.get(host), foreign ? [P, '192.0.2.98'] : [B], host);
          assert.deepEqual([hold, state.switches], foreign ? [true, 0] : [false, 1], host);
        }
        assert.ok((await history()).total - before <= 10);
      });
    }

    it('kill -9 in the middle of a list of many: what is left of it is done by whoever goes on', async () => {
      const hosts = await begin('cut', 130);
      let lists = 0;
      let dead: Promise<unknown> | undefined;
      await goDown(async (request, forward) => {
        if (request.method !== 'PATCH' || JSON.parse(request.body).rrsets.length < 20) return forward();
        // the first piece is written, the second one is not
        if (++lists === 2) {
          dead = server.kill();
          await dead;
          return 'close';
        }
        return forward();
      });
      await until('it was killed', async () => dead !== undefined);
      await dead;
      world.proxy.fault = null;
      const cut = await held();
      const sides = new Set(hosts.map((host) => String(cut.get(host))));
      assert.deepEqual([...sides].toSorted(), [P, B], 'a part is written, and no set is half written');
      server = await ServerProcess.start({ ...ENV, DATABASE_URL: world.databaseUrl }, server.dataDir);
      await settled([]);
      const values = await held();
      for (const { host, hold, state } of await rules())
        assert.deepEqual([values.get(host), hold, state.switches], [[B], false, 1], host);
      await until('all lists have ended', async () => (await openIntents(world)) === 0);
    });
  });
}
