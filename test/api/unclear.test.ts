import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import { ChangeSets } from '../../src/changes/change-sets.js';
import { InDoubtChanges } from '../../src/changes/in-doubt/in-doubt-changes.js';
import type { Db } from '../../src/platform/database/db.js';
import { PROCESS } from '../../src/platform/database/leases.js';
import { type SteeredClock, stopClock } from '../support/clock.js';
import { type Cloudflare, type Kept, startCloudflare } from '../support/cloudflare.js';
import { openDatabase } from '../support/database.js';
import { gate } from '../support/gate.js';
import { proven, TIMEOUT_MS, waitsForLock } from '../support/late-writes.js';
import { applicationOf, type Client, type Service, startService } from '../support/server.js';
import { ending } from '../support/until.js';
import { addAccount, addDomain, done, made, providerFailed, refused, until } from '../support/world.js';

const ZONE = 'example.com';

/** A record as a change keeps it. */
const PLAIN = {
  type: 'A',
  ttl: 600,
  line: 'default',
  enabled: true,
  proxied: false,
  priority: null,
  weight: null,
  remark: '',
};

interface Site {
  cloudflare: Cloudflare;
  service: Service;
  admin: Client;
  db: Db;
  domain: number;
  records: `/api/domains/${number}/records`;
  kept(): Kept[];
  /** Stands still unless the test advances it. */
  clock: SteeredClock;
  stop(): Promise<void>;
}

async function startSite(env: Record<string, string> = {}): Promise<Site> {
  const cloudflare = await startCloudflare(ZONE, 'other.example');
  const service = await startService('sqlite', { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), ...env });
  const { admin, databaseUrl, server } = service;
  const { db } = await openDatabase(databaseUrl, server.dataDir);
  const account = await addAccount(admin, 'cloudflare', { api_token: 't', endpoint: cloudflare.url });
  const domain = await addDomain(admin, account, ZONE);
  const records = `/api/domains/${domain}/records` as const;
  const clock = stopClock();
  const stop = async () => {
    clock.release();
    await service.stop();
    await cloudflare.stop();
  };
  const kept = () => cloudflare.zones.get(ZONE) ?? [];
  return { cloudflare, service, admin, db, domain, records, kept, clock, stop };
}

/** Holds the writes of a site for ever, and lets the time limit of each pass. */
function loseWrites({ cloudflare, clock }: Site) {
  const late: (() => void)[] = [];
  cloudflare.fault = ({ method }, apply) => {
    if (method === 'GET') return apply();
    late.push(apply);
    return new Promise(() => undefined);
  };
  return {
    /** The answers of requests whose writes are lost. */
    lost: async <T>(work: Promise<T>): Promise<T> => {
      let over = false;
      let seen = 0;
      const end = work.finally(() => {
        over = true;
      });
      await until('the writes are lost', async () => {
        if (late.length > seen) {
          seen = late.length;
          await clock.advance(TIMEOUT_MS);
        }
        return over;
      });
      return end;
    },
    /** Applies the held writes, whose requests have timed out. */
    arrive: () => {
      for (const apply of late.splice(0)) apply();
    },
  };
}

const states = async (db: Db) =>
  (
    await db.rows<{ s: string; c: string }>(
      'SELECT s.state AS s, c.state AS c FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id ORDER BY c.id DESC',
    )
  ).map(({ s, c }) => `${s} ${c}`);

describe('a change whose answer is lost', () => {
  let site: Site;
  beforeAll(async () => {
    // what is not proved stays in doubt for the whole of the suite
    site = await startSite({ UNCLEAR_AFTER_MS: '3600000' });
  });
  afterAll(() => site?.stop());
  afterEach(() => {
    site.cloudflare.fault = null;
  });

  const add = async (host: string, last: number, more: object = {}): Promise<number> =>
    made(await site.admin.post(site.records, { host, type: 'A', value: `192.0.2.${last}`, ...more })).id;
  const refresh = async () => done(await site.admin.get(`${site.records}?refresh=true`)).list;
  const one = async (id: number) => done(await site.admin.get(`${site.records}/${id}`));
  const exact = async () => {
    const { total, list } = done(await site.admin.get(site.records));
    assert.equal(total, list.length, 'the stored count is exact');
  };
  it('disabling, applied, while another writer changes the name: the record stays', async () => {
    await add('www', 1);
    const id = await add('www', 2, { remark: 'only here' });
    const [sent, begun, seen, held] = [gate(), gate(), gate(), gate()];
    let reads = 0;
    let isWriting = false;
    void begun.opened.then(() => {
      isWriting = true;
    });
    site.cloudflare.fault = async ({ method }, apply) => {
      if (method === 'GET') {
        reads++;
        await begun.opened;
        seen.open();
        return apply();
      }
      if (method === 'DELETE') {
        apply();
        sent.open();
        return new Promise(() => undefined);
      }
      begun.open();
      await held.opened;
      return apply();
    };
    const disabling = site.admin.patch(`${site.records}/${id}/status`, { enabled: false });
    await sent.opened;
    // waits for the name, and has it before anybody can ask the provider
    const other = add('www', 3);
    await waitsForLock(site.clock);
    await site.clock.advance(TIMEOUT_MS);
    providerFailed(await disabling, /did not answer/);
    // The second create writes only after its own read of the provider has timed out.
    let unanswered = 0;
    await until('the other one writes', async () => {
      if (reads > unanswered) {
        unanswered = reads;
        await site.clock.advance(TIMEOUT_MS);
      }
      return isWriting;
    });
    const during = refresh();
    // the provider was asked while the other write was on its way
    await seen.opened;
    held.open();
    await Promise.all([during, other]);
    await refresh();
    await refresh();
    const { enabled, pending, remark, value } = await one(id);
    assert.deepEqual([enabled, pending, remark, value], [false, false, 'only here', '192.0.2.2']);
    assert.deepEqual((await states(site.db)).slice(0, 2), ['done applied', 'done applied']);
    await exact();
  });

  it('disabling, applied late: the record is pending, then disabled', async () => {
    const id = await add('late', 1);
    const { lost, arrive } = loseWrites(site);
    providerFailed(await lost(site.admin.patch(`${site.records}/${id}/status`, { enabled: false })), /did not answer/);
    assert.equal((await one(id)).pending, true);
    site.cloudflare.fault = null;
    await refresh();
    const listed = (await refresh()).find((r) => r.id === id);
    assert.deepEqual([listed?.pending, listed?.enabled], [true, true]);
    arrive();
    await refresh();
    const { enabled, pending } = await one(id);
    assert.deepEqual([enabled, pending], [false, false]);
    await exact();
  });

  it('every other change, applied late', async () => {
    const [changed, deleted, parked] = [await add('c', 1), await add('d', 2), await add('p', 3)];
    done(await site.admin.patch(`${site.records}/${parked}/status`, { enabled: false }));
    const { lost, arrive } = loseWrites(site);
    const requests = Promise.all([
      site.admin.post(site.records, { host: 'new', type: 'A', value: '192.0.2.4', remark: 'kept' }),
      site.admin.put(`${site.records}/${changed}`, { host: 'moved', ttl: 120, remark: 'kept, too' }),
      site.admin.delete(`${site.records}/${deleted}`),
      site.admin.patch(`${site.records}/${parked}/status`, { enabled: true }),
    ]);
    for (const answer of await lost(requests)) providerFailed(answer, /did not answer/);
    site.cloudflare.fault = null;
    await refresh();
    assert.deepEqual(
      (await states(site.db)).slice(0, 4),
      Array.from({ length: 4 }, () => 'unknown unknown'),
    );
    for (const id of [changed, deleted, parked]) assert.equal((await one(id)).pending, true);
    arrive();
    const list = await refresh();
    assert.deepEqual(
      (await states(site.db)).slice(0, 4),
      Array.from({ length: 4 }, () => 'done applied'),
    );
    assert.ok(list.every((r) => !r.pending));
    const after = list.filter((r) => ['new', 'moved', 'd', 'p'].includes(r.host));
    assert.deepEqual(after.map((r) => [r.host, r.ttl, r.enabled, r.remark]).toSorted(), [
      ['moved', 120, true, 'kept, too'],
      ['new', 600, true, 'kept'],
      ['p', 600, true, ''],
    ]);
    assert.deepEqual(
      [after.find((r) => r.host === 'moved')?.id, after.find((r) => r.host === 'p')?.id],
      [changed, parked],
    );
    await exact();
  });

  it('what was repeated since keeps what it was given then', async () => {
    const body = { host: 'again', type: 'A', value: '192.0.2.1' };
    const { lost, arrive } = loseWrites(site);
    providerFailed(await lost(site.admin.post(site.records, { ...body, remark: 'first' })), /did not answer/);
    site.cloudflare.fault = null;
    const { id } = made(await site.admin.post(site.records, { ...body, remark: 'second' }));
    arrive();
    await refresh();
    // which of the two is seen, only time tells
    assert.deepEqual([(await states(site.db))[1], (await one(id)).remark], ['unknown unknown', 'second']);
  });

  it('an update of a record that is gone for a moment keeps its row', async () => {
    const id = await add('flicker', 1);
    const { lost, arrive } = loseWrites(site);
    providerFailed(await lost(site.admin.put(`${site.records}/${id}`, { value: '192.0.2.9' })), /did not answer/);
    site.cloudflare.fault = null;
    const [record] = site.kept().filter((r) => r.name === `flicker.${ZONE}`);
    site.cloudflare.zones.set(
      ZONE,
      site.kept().filter((r) => r !== record),
    );
    await refresh();
    assert.equal((await one(id)).pending, true);
    site.kept().push(record as Kept);
    arrive();
    await refresh();
    assert.deepEqual([(await one(id)).value, (await one(id)).pending], ['192.0.2.9', false]);
  });

  it('creating what the provider holds under a stale row gives that row', async () => {
    const id = await add('stale', 1);
    const record = site.kept().find((r) => r.name === `stale.${ZONE}`) as Kept;
    record.content = '192.0.2.77';
    const again = await add('stale', 77);
    assert.equal(again, id);
    await refresh();
    await exact();
  });

  it('of records of one content each has its row, at each synchronisation the same', async () => {
    const twin = { name: `twin.${ZONE}`, type: 'A', content: '192.0.2.1', ttl: 600 };
    site.kept().push({ id: 'twin-1', ...twin }, { id: 'twin-2', ...twin });
    const ids = async () => (await refresh()).filter((r) => r.host === 'twin').map((r) => r.id);
    const first = await ids();
    assert.equal(first.length, 2);
    site.cloudflare.zones.set(ZONE, site.kept().toReversed());
    assert.deepEqual(await ids(), first);
    await exact();
  });
});

/** ms in which a write without an answer may still be applied */
const UNCLEAR_MS = 60_000;

describe('a change that was not applied, while it may still be', () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ UNCLEAR_AFTER_MS: String(UNCLEAR_MS) });
  });
  afterAll(() => site?.stop());

  it('is failed only after a time, without anybody asking', async () => {
    const { admin, records, cloudflare, db, clock } = site;
    const { id } = made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
    const { lost } = loseWrites(site);
    providerFailed(await lost(admin.put(`${records}/${id}`, { value: '192.0.2.2' })), /did not answer/);
    const isPending = async () => done(await admin.get(`${records}/${id}`)).pending;
    assert.equal(await isPending(), true);
    cloudflare.fault = null;
    for (const _ of [1, 2]) {
      await clock.advance(UNCLEAR_MS / 3);
      done(await admin.get(`${records}?refresh=true`));
      assert.equal(await isPending(), true);
    }
    await until('it has an end', async () => {
      await clock.advance(1000);
      return !(await isPending());
    });
    assert.deepEqual((await states(db))[0], 'done failed');
    const [change] = await db.rows<{ error: string }>('SELECT error FROM record_changes ORDER BY id DESC LIMIT 1');
    assert.match(JSON.parse(change?.error ?? '').msg, /was not applied/);
    assert.equal(done(await admin.get(`${records}/${id}`)).value, '192.0.2.1');
    const { list } = done(await admin.get('/api/audit/logs?action=record.settle'));
    assert.deepEqual(list[0].after, { touched: 0, applied: 0, failed: 1 });
  });
});

describe('a change that was not applied', () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ UNCLEAR_AFTER_MS: '300' });
  });
  afterAll(() => site?.stop());

  /** Leaves a change set as a process does that dies. */
  const plant = async (
    background: boolean,
    changes: { host: string; tried: boolean; here?: boolean }[],
    atomic = false,
  ): Promise<number> => {
    const { db, domain } = site;
    const at = '2026-01-01T00:00:00.000Z';
    await db.run(
      `INSERT INTO change_sets (domain_id, domain, door, actor_type, request_id, comment, atomic, background, whole,
        owner, state, total, created_at)
       VALUES (?, ?, 'api', 'user', '', '', ?, ?, ?, ?, 'open', ?, ?)`,
      [domain, ZONE, atomic, background, false, PROCESS, changes.length, at],
    );
    const id = Number((await db.row<{ id: number }>('SELECT MAX(id) AS id FROM change_sets'))?.id);
    for (const [i, { host, tried, here = false }] of changes.entries()) {
      const after = {
        ...PLAIN,
        host,
        ...(here && { enabled: false, remark: 'here', remote_id: null, read_only: false }),
      };
      await db.run(
        `INSERT INTO record_changes (change_set_id, position, op, host, type, state_after, value_after, expected, state, tried_at)
         VALUES (?, ?, 'create', ?, 'A', ?, '192.0.2.5', ?, 'pending', ?)`,
        [id, i, host, JSON.stringify(after), here ? '' : null, tried ? at : null],
      );
    }
    return id;
  };
  const of = async (id: number) => {
    const set = await site.db.row<{ state: string }>('SELECT state FROM change_sets WHERE id = ?', [id]);
    const rows = await site.db.rows<{ state: string }>(
      'SELECT state FROM record_changes WHERE change_set_id = ? ORDER BY position',
      [id],
    );
    return [set?.state, ...rows.map((row) => row.state)];
  };
  const settle = () => applicationOf(site.service.server.dataDir)?.get(InDoubtChanges) as InDoubtChanges;

  it('of a process that died is in doubt where it was sent, and not tried where it was not', async () => {
    const { admin, records, kept } = site;
    kept().push({ id: 'there', name: `a.${ZONE}`, type: 'A', content: '192.0.2.5', ttl: 600 });
    const id = await plant(false, [
      { host: 'a', tried: true },
      { host: 'b', tried: true },
      { host: 'c', tried: false },
    ]);
    done(await admin.get(`${records}?refresh=true`));
    assert.deepEqual(await of(id), ['unknown', 'applied', 'unknown', 'not_tried']);
    const [row] = done(await admin.get(`${records}?host=a`)).list;
    const change = await site.db.row<{ record_id: number }>(
      'SELECT record_id FROM record_changes WHERE change_set_id = ? AND position = 0',
      [id],
    );
    assert.equal(change?.record_id, row?.id);
    await site.clock.advance(301);
    done(await admin.get(`${records}?refresh=true`));
    assert.deepEqual(await of(id), ['done', 'applied', 'failed', 'not_tried']);
  });

  it('of an atomic list that was carried out takes those with it that exist only here', async () => {
    const { admin, records, kept } = site;
    const list = ['h1', 'h2', 'h3'].map((host, i) => ({ host, tried: true, here: i === 2 }));
    const [done1, undone] = [await plant(false, list, true), await plant(false, [...list].reverse(), true)];
    for (const host of ['h1', 'h2'])
      kept().push({ id: `made-${host}`, name: `${host}.${ZONE}`, type: 'A', content: '192.0.2.5', ttl: 600 });
    done(await admin.get(`${records}?refresh=true`));
    assert.deepEqual(await of(done1), ['done', 'applied', 'applied', 'applied']);
    const { list: here } = done(await admin.get(`${records}?host=h3`));
    assert.deepEqual(
      here.map(({ enabled, remark, pending, value }) => [enabled, remark, pending, value]),
      [[false, 'here', false, '192.0.2.5']],
    );
    // the same again, of which one finds its place taken
    assert.deepEqual(await of(undone), ['done', 'failed', 'applied', 'applied']);
    const half = await plant(false, [...list.slice(1).map((one) => ({ ...one, host: `half-${one.host}` }))], true);
    done(await admin.get(`${records}?refresh=true`));
    assert.deepEqual(await of(half), ['unknown', 'unknown', 'unknown']);
    await site.clock.advance(301);
    done(await admin.get(`${records}?refresh=true`));
    assert.deepEqual(await of(half), ['done', 'failed', 'failed']);
    assert.deepEqual(done(await admin.get(`${records}?host=half-h3`)).list, []);
    const { total, list: all } = done(await admin.get(records));
    assert.equal(total, all.length, 'the stored count is exact');
  });

  it('of a list in the background waits for the process that takes it up', async () => {
    const { admin, records } = site;
    const id = await plant(true, [
      { host: 'e', tried: true },
      { host: 'f', tried: false },
    ]);
    const untouched = await plant(true, [{ host: 'g', tried: false }]);
    done(await admin.get(`${records}?refresh=true`));
    assert.deepEqual(await of(id), ['unknown', 'unknown', 'pending']);
    assert.deepEqual(await of(untouched), ['open', 'pending']);
    const waiting = (await settle().resumable()).map((set) => set.id);
    assert.deepEqual(waiting, [id, untouched]);
    await site.clock.advance(301);
    done(await admin.get(`${records}?refresh=true`));
    assert.deepEqual(await of(id), ['open', 'failed', 'pending']);
    assert.deepEqual(
      (await settle().resumable()).map((set) => set.id),
      waiting,
    );
  });

  it('ends with its domain', async () => {
    const { admin, db, domain } = site;
    const id = await plant(false, [{ host: 'x', tried: true }]);
    await settle().adoptDead(domain);
    assert.deepEqual(await of(id), ['unknown', 'unknown']);
    done(await admin.delete(`/api/domains/${domain}?force=true`));
    assert.deepEqual(await settle().domains(), []);
    assert.deepEqual(await of(id), ['done', 'unknown']);
    assert.equal((await db.rows('SELECT id FROM change_sets WHERE state = ?', ['unknown'])).length, 0);
  });
});

it('the end of the service does not wait for a provider that hangs', async () => {
  const site = await startSite({ PROVIDER_TIMEOUT_MS: '120000' });
  const { admin, records, cloudflare, service } = site;
  const asked = gate();
  cloudflare.fault = async ({ method }, apply) => {
    if (method !== 'GET') return { ...apply(), breakAfter: 1 };
    asked.open();
    return new Promise(() => undefined);
  };
  providerFailed(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }), /broke the connection/);
  await asked.opened;
  site.clock.release();
  await ending('the service ends', service.server.stop(), 60_000);
  await site.stop();
});

describe('a provider that is changed past the service', () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ UNCLEAR_AFTER_MS: '3600000' });
  });
  afterAll(() => site?.stop());
  afterEach(() => {
    site.cloudflare.fault = null;
  });
  const add = async (host: string): Promise<number> =>
    made(await site.admin.post(site.records, { host, type: 'A', value: '192.0.2.1', ttl: 300 })).id;
  const held = (host: string) => site.kept().find((r) => r.name === `${host}.${ZONE}`) as Kept;

  it('keeps what an update does not name, and the cache learns of it', async () => {
    const id = await add('edited');
    held('edited').ttl = 900;
    const after = done(await site.admin.put(`${site.records}/${id}`, { value: '192.0.2.2' }));
    assert.deepEqual([held('edited').content, held('edited').ttl], ['192.0.2.2', 900]);
    assert.equal(after.ttl, 900);
  });

  it('is not overwritten by a writer that sends what it has seen', async () => {
    const id = await add('guarded');
    const path = `${site.records}/${id}` as const;
    const tag = (await site.admin.get(path)).headers.get('etag') as string;
    held('guarded').content = '192.0.2.99';
    const answer = refused(await site.admin.put(path, { ttl: 600 }, { 'if-match': tag }), 412, 412001);
    assert.deepEqual((answer.data as unknown as { record: { id: number; value: string } }).record.value, '192.0.2.99');
    refused(await site.admin.delete(path, undefined, { 'if-match': tag }), 412, 412001);
    assert.deepEqual([held('guarded').content, held('guarded').ttl], ['192.0.2.99', 300]);
    // who does not say so, changes what they name
    done(await site.admin.put(path, { ttl: 600 }));
    assert.deepEqual([held('guarded').content, held('guarded').ttl], ['192.0.2.99', 600]);
  });

  it('a synchronisation between the reading of the rows and the storing of the list is not undone', async () => {
    const id = await add('between');
    const sets = applicationOf(site.service.server.dataDir)?.get(ChangeSets) as ChangeSets;
    const open = sets.open.bind(sets);
    let calls = 0;
    sets.open = async (...args) => {
      if (!calls++) {
        held('between').ttl = 900;
        done(await site.admin.get(`${site.records}?refresh=true`));
      }
      return open(...args);
    };
    const after = done(await site.admin.put(`${site.records}/${id}`, { remark: 'noted' }));
    sets.open = open;
    assert.deepEqual([after.ttl, after.remark, calls], [900, 'noted', 2]);
  });

  it('is asked about a record of unknown state before that is changed again', async () => {
    const id = await add('asked');
    const path = `${site.records}/${id}` as const;
    const late: (() => void)[] = [];
    // not applied yet when it is asked: only later
    site.cloudflare.fault = ({ method }, apply) => {
      if (method !== 'PATCH') return apply();
      late.push(apply);
      return { status: 502, body: 'bad gateway' };
    };
    providerFailed(await site.admin.put(path, { value: '192.0.2.2' }), /502/);
    assert.equal(done(await site.admin.get(path)).pending, true);
    // that it is so already cannot be said
    refused(await proven(site.clock, site.admin.put(path, { value: '192.0.2.1' })), 409, 409001);
    site.cloudflare.fault = null;
    for (const apply of late) apply();
    // by now it can be seen
    const after = done(await site.admin.put(path, { value: '192.0.2.2' }));
    assert.deepEqual([after.value, after.pending], ['192.0.2.2', false]);
  });

  it('lists the lines of a domain', async () => {
    const lines = done(await site.admin.get(`/api/domains/${site.domain}/lines`));
    assert.deepEqual(lines, [{ id: 'default', name: 'default' }]);
  });
});
