import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { now } from '../../src/platform/common/clock.js';
import { VERSION } from '../../src/platform/common/version.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { dump } from '../../src/platform/dump/dump.js';
import { verifyDump } from '../../src/platform/dump/format.js';
import { restore } from '../../src/platform/dump/restore.js';
import { BackupsService } from '../../src/system/backups.service.js';
import { databases, freshDatabase, type Kind } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { applicationOf, type Client, LocalServer, type Service, startService } from '../support/server.js';
import { describeUnless, thorough } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

const ENTRY = join(import.meta.dirname, '../../dist/zoneward.cjs');
const KINDS = databases('all');
/** rows that take more than one turn to read */
const LONG = 'x'.repeat(3000);
const SECRET_KEY = 'k'.repeat(40);
const CLEANUP: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of CLEANUP.toReversed()) await end();
});

/** An empty database of a kind: its URL, and its data directory. */
async function emptyPlace(kind: Kind): Promise<{ DATABASE_URL: string; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-test-'));
  mkdirSync(join(folder, 'zones'));
  CLEANUP.push(() => rmSync(folder, { recursive: true, force: true }));
  if (kind === 'sqlite') return { DATABASE_URL: 'sqlite:zoneward.db', folder };
  const database = await freshDatabase(kind);
  CLEANUP.push(() => database.drop());
  return { DATABASE_URL: database.url, folder };
}

const put = ({ DATABASE_URL, folder }: { DATABASE_URL: string; folder: string }, file: string, force = false) =>
  restore(new AppDataSource(ENTITIES), parseDatabaseUrl(DATABASE_URL, folder), file, force);

/** All that the API lists and shows, except for what depends on this session or the moment. */
async function everything(client: Client): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  const get = async (path: string) => {
    const answer = await client.get(path as '/api/domains');
    seen[path] = done(answer);
    return seen[path] as { id: number }[] & { list: { id: number }[] };
  };
  for (const list of ['accounts', 'domains', 'teams', 'tokens', 'users'])
    for (const { id } of await get(`/api/${list}`)) if (list !== 'tokens') await get(`/api/${list}/${id}`);
  for (const { id } of (await get('/api/domains')) as { id: number }[]) {
    await get(`/api/domains/${id}/records`);
    for (const { id: set } of (await get(`/api/domains/${id}/changes`)).list)
      await get(`/api/domains/${id}/changes/${set}`);
  }
  for (const { id } of (await get('/api/teams')) as { id: number }[]) {
    await get(`/api/teams/${id}/members`);
    await get(`/api/teams/${id}/permissions`);
  }
  for (const section of ['', '/security', '/smtp', '/oauth']) await get(`/api/settings${section}`);
  await get('/api/auth/webauthn');
  await get('/api/security/profile');
  return seen;
}

/** The newest login is the test's own. */
const withoutLogin = (seen: Record<string, unknown>) =>
  JSON.parse(JSON.stringify(seen).replace(/"last_login_at":"[^"]*"/g, '"last_login_at":"…"'));

for (const { kind, skip } of KINDS) {
  describeUnless(skip)(`backups of ${kind}`, () => {
    let service: Service;
    let quiet: string;
    let busy: string;
    let before: Record<string, unknown>;
    let entries: { action: string }[];
    const path = (file: string) => join(service.server.dataDir, 'backups', file);
    const record = (client: Client, domain: number, i: number) =>
      client.post(`/api/domains/${domain}/records`, {
        host: `h${i}`,
        type: 'TXT',
        value: `text ${i} ä€🙂"\\${LONG}`,
        ttl: 300,
      });

    beforeAll(async () => {
      service = await startService(kind, { SECRET_KEY });
      const { admin } = service;
      const account = await addAccount(admin, 'zonefile', {});
      const domain = await addDomain(admin, account, 'kept.example', true);
      const gone = await addDomain(admin, account, 'gone.example', true);
      for (let i = 0; i < 12; i++) made(await record(admin, domain, i));
      made(await admin.post(`/api/domains/${domain}/records`, { host: 'off', type: 'A', value: '192.0.2.1' }));
      const [off] = done(await admin.get(`/api/domains/${domain}/records?host=off`)).list;
      done(await admin.patch(`/api/domains/${domain}/records/${off?.id}/status`, { enabled: false }));
      done(await admin.delete(`/api/domains/${gone}`));
      made(await admin.post('/api/teams', { name: 'tëam' }));
      const person = { username: 'ada', password: 'violet-harbour-92', role: 2, email: 'ada@example.com' };
      made(await admin.post('/api/users', person));
      made(await admin.post('/api/teams/1/members', { user_id: 2 }));
      made(await admin.post('/api/teams/1/permissions', { domain_id: domain, permission: 'read' }));
      made(await admin.post('/api/tokens', { name: 'ci', allowed_domains: [domain] }));
      const smtp = { host: 'mail.example', from: 'dns@example.com', username: 'u', password: 'mail-secret' };
      done(await admin.put('/api/settings/smtp', smtp));
      // writes while the backup is read
      let writing = true;
      const writers = [1, 2].map(async (n) => {
        for (let i = 0; writing; i++) made(await record(admin, domain, 1000 * n + i));
      });
      busy = path(made(await admin.post('/api/system/backup')).file);
      writing = false;
      await Promise.all(writers);
      quiet = path(made(await admin.post('/api/system/backup')).file);
      // one process has one way to check JWTs: once another service runs in it, this one is not asked any more
      before = withoutLogin(await everything(admin));
      entries = done(await admin.get('/api/audit/logs?limit=500')).list;
    });
    afterAll(() => service?.stop());

    for (const [i, { kind: other, skip: away }] of KINDS.entries()) {
      // the gate restores a backup of each kind into one other kind
      if (!thorough && KINDS[(i + 1) % KINDS.length]?.kind !== kind) continue;
      (away ? it.skip : it)(`come back in ${other}, and the API answers the same`, async () => {
        const place = await emptyPlace(other);
        const { rows } = await put(place, quiet);
        assert.ok(rows > 50);
        const server = await LocalServer.start({ DATABASE_URL: place.DATABASE_URL, SECRET_KEY }, place.folder);
        try {
          const admin = server.as(await server.login());
          assert.deepEqual(withoutLogin(await everything(admin)), before);
          const restored = done(await admin.get('/api/audit/logs?limit=500')).list;
          // since then: the backup itself, and here the sign-in
          const until = entries.findIndex(({ action }) => action === 'backup.create') + 1;
          assert.deepEqual(restored.slice(1), entries.slice(until));
          assert.equal(done(await admin.get('/api/audit/verify')).ok, true);
          done(await admin.post('/api/system/resume'));
          // ids of removed rows are not reused
          const next = await addDomain(admin, 1, 'next.example', true);
          assert.equal(next, 3);
          // secrets can be read
          done(await admin.put('/api/settings/smtp', { enabled: true }));
          refused(await server.as(service.token).get('/api/auth/me'), 401, 401001);
        } finally {
          await server.stop();
        }
      });
    }

    it('are consistent, whatever is written meanwhile', async () => {
      const place = await emptyPlace(kind);
      await put(place, busy);
      const store = { databaseUrl: place.DATABASE_URL, server: { dataDir: place.folder } };
      const [sum] = await rowsOf(
        store,
        `SELECT (SELECT COUNT(*) FROM dns_records) AS records, (SELECT SUM(records_count) FROM domains) AS counted,
                (SELECT SUM(hits) FROM record_counts) AS hits, (SELECT MAX(seq) FROM audit_logs) AS entries,
                (SELECT seq FROM audit_chain) AS chain, (SELECT COUNT(*) FROM audit_logs) AS n,
                (SELECT COUNT(*) FROM leases) AS leases, (SELECT COUNT(*) FROM sessions) AS sessions`,
      );
      const { records, counted, hits, entries, chain, n, leases, sessions } = Object.fromEntries(
        Object.entries(sum ?? {}).map(([key, value]) => [key, Number(value)]),
      );
      assert.deepEqual([counted, hits], [records, records]);
      assert.deepEqual([entries, n], [chain, chain]);
      assert.deepEqual([leases, sessions], [0, 0]);
    });

    it('are not restored into a database with data, unless forced', async () => {
      const place = await emptyPlace(kind);
      await put(place, busy);
      await assert.rejects(put(place, quiet), /is not empty.*--force/);
      await put(place, quiet, true);
      const server = await LocalServer.start({ DATABASE_URL: place.DATABASE_URL, SECRET_KEY }, place.folder);
      try {
        const admin = server.as(await server.login());
        assert.deepEqual(withoutLogin(await everything(admin)), before);
        const store = { databaseUrl: place.DATABASE_URL, server: { dataDir: place.folder } };
        const entries = async () => (await rowsOf(store, 'SELECT COUNT(*) AS n FROM audit_logs'))[0]?.n;
        // a file is in use from the start on; on a server the jobs tell, which a service begins all the time
        if (kind !== 'sqlite')
          await until('the service, which is paused, was there', async () => {
            const [row] = await rowsOf(store, 'SELECT seen_at AS at FROM installation');
            return String(row?.at) > new Date(Date.now() - 2000).toISOString();
          });
        await assert.rejects(put(place, quiet, true), /is in use; stop the service|A service works on this database/);
        assert.ok(Number(await entries()) > 0);
        done(await admin.get('/api/auth/me'));
      } finally {
        await server.stop();
      }
    });

    it('change nothing when they are damaged, or a row does not fit', async () => {
      const place = await emptyPlace(kind);
      await put(place, quiet);
      const store = { databaseUrl: place.DATABASE_URL, server: { dataDir: place.folder } };
      const count = async () => (await rowsOf(store, 'SELECT COUNT(*) AS n FROM audit_logs'))[0]?.n;
      const before = await count();
      const lines = gunzipSync(readFileSync(quiet)).toString().trimEnd().split('\n');
      const file = join(place.folder, 'bad.gz');
      const bad = async (bytes: Uint8Array, words: RegExp) => {
        writeFileSync(file, bytes);
        await assert.rejects(put(place, file, true), words);
        assert.equal(await count(), before);
      };
      const text = (all: string[]) => gzipSync(`${all.join('\n')}\n`);
      await bad(readFileSync(quiet).subarray(0, -100), /damaged or cut off/);
      await bad(text(lines.slice(0, -1)), /cut off: its last line is missing/);
      await bad(text(lines.toSpliced(5, 1)), /was changed: its checksum/);
      await bad(text(['{"a":1}', ...lines.slice(1)]), /is not a backup of this program/);
      await bad(text([lines[0]?.replace('"format_version":1', '"format_version":2') as string]), /of the format 2/);
      await bad(Buffer.from('text'), /damaged or cut off/);
      await assert.rejects(put(place, join(place.folder, 'none.gz'), true), /ENOENT/);
      // valid by its checksum, and yet unusable: two users of one name
      const sealed = (all: string[], change: (trailer: Record<string, unknown>) => object = (t) => t) => {
        const rest = all.slice(0, -1);
        const sha256 = createHash('sha256')
          .update(`${rest.join('\n')}\n`)
          .digest('hex');
        return text([...rest, JSON.stringify({ ...change(JSON.parse(all.at(-1) as string)), sha256 })]);
      };
      const at = lines.indexOf('{"table":"teams"}');
      const twice = lines.toSpliced(at + 1, 0, lines[at + 1] as string);
      const two = (trailer: Record<string, unknown>) => ({
        ...trailer,
        rows: { ...(trailer.rows as object), teams: 2 },
      });
      await bad(sealed(twice), /does not hold as many rows/);
      if (kind !== 'mysql') await bad(sealed(twice, two), /did not take rows of teams/);
      const newer = [
        (lines[0] as string).replace('"migrations":[', '"migrations":["Later2990000000000",'),
        ...lines.slice(1),
      ];
      await bad(sealed(newer), /does not know yet \(Later2990000000000\)/);
    });

    it('of an older version are brought up to the schema of this one', async () => {
      const lines = gunzipSync(readFileSync(quiet)).toString().trimEnd().split('\n');
      const header = JSON.parse(lines[0] as string);
      header.migrations = header.migrations.filter((name: string) => !name.startsWith('LateChanges'));
      const table = header.tables.find(({ name }: { name: string }) => name === 'record_changes');
      const at = table.columns.findIndex(({ name }: { name: string }) => name === 'late');
      table.columns.splice(at, 1);
      let inside = false;
      const rest = lines.slice(1, -1).map((line) => {
        if (!line.startsWith('[')) inside = line === '{"table":"record_changes"}';
        return inside && line.startsWith('[') ? JSON.stringify(JSON.parse(line).toSpliced(at, 1)) : line;
      });
      const all = [JSON.stringify(header), ...rest];
      const sha256 = createHash('sha256')
        .update(`${all.join('\n')}\n`)
        .digest('hex');
      const trailer = JSON.stringify({ ...JSON.parse(lines.at(-1) as string), sha256 });
      const place = await emptyPlace(kind);
      const file = join(place.folder, 'old.gz');
      writeFileSync(file, gzipSync(`${[...all, trailer].join('\n')}\n`));
      await put(place, file);
      const store = { databaseUrl: place.DATABASE_URL, server: { dataDir: place.folder } };
      const rows = await rowsOf(store, 'SELECT late FROM record_changes');
      assert.ok(rows.length > 10 && rows.every(({ late }) => late === null));
      const applied = (await rowsOf(store, 'SELECT name FROM migrations')).map(({ name }) => String(name));
      assert.ok(applied.some((name) => name.startsWith('LateChanges')));
    });

    it('do not resume what was in flight', async () => {
      const place = await emptyPlace(kind);
      await put(place, quiet);
      const source = new AppDataSource(ENTITIES);
      await source.prepare(parseDatabaseUrl(place.DATABASE_URL, place.folder));
      await source.initialize();
      const db = dbOn(source);
      const at = now();
      const ids = (await db.rows<{ id: number }>('SELECT id FROM change_sets ORDER BY id LIMIT 2')).map(({ id }) => id);
      const [begun, adopted] = ids as [number, number];
      const open = 'UPDATE change_sets SET state = ?, background = ?, owner = ? WHERE id = ?';
      await db.run(open, ['open', true, 'host 1 a', begun]);
      await db.run(open, ['unknown', true, '', adopted]);
      const change = 'UPDATE record_changes SET state = ?, tried_at = ? WHERE change_set_id = ?';
      await db.run(change, ['pending', at, begun]);
      await db.run(change, ['pending', null, adopted]);
      await db.transaction(async (manager) => {
        const tunnel = { account_id: 1, remote_account: 'a', target: 't', forced: true, status: 'down', version: 1 };
        const rest = { dns_managed: true, ingress: '[]', unmanaged: '[]', connections: '[]', created_at: at };
        for (const [i, [state, unsettled]] of Object.entries([
          ['creating', null],
          ['deleting', null],
          ['ready', '["a.example"]'],
          ['ready', null],
        ] as const)) {
          const own = { tunnel_id: `id${i}`, mark: `m${i}`, name: `n${i}`, state, unsettled };
          await db.insert('tunnels', { ...tunnel, ...rest, ...own }, manager);
        }
        const rule = { domain_id: 1, position: 0, version: 3, name: 'a', config: '{}', hold: false, active: 'primary' };
        const more = { checks: '{}', switches: 0, recent: '[]', intended: '["192.0.2.2"]' };
        await db.insert('failover_rules', { ...rule, ...more }, manager);
      });
      const file = join(place.folder, 'under-way.gz');
      let text = '';
      for await (const piece of dump(source, { version: VERSION, created_at: at, keys: [] })) text += piece;
      writeFileSync(file, gzipSync(text));
      await source.destroy();
      const fresh = await emptyPlace(kind);
      await put(fresh, file);
      const store = { databaseUrl: fresh.DATABASE_URL, server: { dataDir: fresh.folder } };
      const sets = await rowsOf(store, 'SELECT id, state, background, owner FROM change_sets ORDER BY id LIMIT 2');
      assert.deepEqual(
        sets.map(({ state, background, owner }) => [state, Boolean(background), owner]),
        [
          ['open', false, 'restored'],
          ['unknown', true, ''],
        ],
      );
      const states = async (set: number) =>
        (await rowsOf(store, `SELECT DISTINCT state FROM record_changes WHERE change_set_id = ${set}`)).map(
          (one) => one.state,
        );
      assert.deepEqual([await states(begun), await states(adopted)], [['pending'], ['not_tried']]);
      const tunnels = await rowsOf(
        store,
        'SELECT name, state, forced, unsettled, last_error FROM tunnels ORDER BY name',
      );
      assert.deepEqual(
        tunnels.map(({ name, state, forced, unsettled, last_error }) => [
          ...[name, state, Boolean(forced), unsettled, Boolean(last_error)],
        ]),
        [
          ['n1', 'ready', false, null, true],
          ['n2', 'ready', false, null, true],
          ['n3', 'ready', true, null, false],
        ],
      );
      const [rule] = await rowsOf(store, 'SELECT version, intended FROM failover_rules');
      assert.deepEqual([rule?.version, rule?.intended], [4, null]);
    });

    it('of MariaDB and MySQL: an interrupted restore prevents every start until it is repeated', async () => {
      if (kind !== 'mysql') return;
      const place = await emptyPlace(kind);
      await put(place, quiet);
      const lines = gunzipSync(readFileSync(quiet)).toString().trimEnd().split('\n');
      const at = lines.indexOf('{"table":"teams"}');
      const rest = lines.toSpliced(at + 1, 0, lines[at + 1] as string).slice(0, -1);
      const trailer = JSON.parse(lines.at(-1) as string);
      trailer.rows.teams += 1;
      trailer.sha256 = createHash('sha256')
        .update(`${rest.join('\n')}\n`)
        .digest('hex');
      const file = join(place.folder, 'twice.gz');
      writeFileSync(file, gzipSync(`${[...rest, JSON.stringify(trailer)].join('\n')}\n`));
      await assert.rejects(put(place, file, true), /did not take rows of teams/);
      const env = { DATABASE_URL: place.DATABASE_URL, SECRET_KEY };
      await assert.rejects(LocalServer.start(env, place.folder), /did not get to its end. Run it again/);
      await assert.rejects(put(place, quiet), /--force/);
      await put(place, quiet, true);
      const server = await LocalServer.start(env, place.folder);
      await server.login();
      await server.stop();
    });
  });
}

describe('backups over the API', () => {
  let service: Service;
  let folder: string;
  let again: LocalServer | undefined;
  beforeAll(async () => {
    service = await startService('sqlite', { BACKUP_EVERY_HOURS: '24', BACKUP_KEEP: '2' });
    folder = join(service.server.dataDir, 'backups');
    await until(
      'the backup of the schedule',
      async () => done(await service.admin.get('/api/audit/logs?action=backup.create')).total > 0,
    );
  });
  afterAll(async () => {
    await again?.stop();
    await service?.stop();
  });

  it('are complete files for their owner only, listed, downloaded and deleted', async () => {
    const { admin, server, token } = service;
    const one = made(await admin.post('/api/system/backup'));
    const bytes = readFileSync(join(folder, one.file));
    assert.equal(one.sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.equal(statSync(join(folder, one.file)).mode & 0o777, 0o600);
    const { header } = await verifyDump(join(folder, one.file));
    assert.deepEqual([header.database, header.created_at, header.keys.length], ['sqlite', one.created_at, 1]);
    const listed = done(await admin.get('/api/system/backups'));
    assert.deepEqual(
      listed.find(({ file }) => file === one.file),
      { file: one.file, size: bytes.length, created_at: one.created_at, scheduled: false },
    );
    const answer = await fetch(`${server.url}/api/system/backups/${one.file}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.deepEqual(
      ['content-type', 'content-length', 'content-disposition', 'content-encoding'].map((n) => answer.headers.get(n)),
      ['application/gzip', String(bytes.length), `attachment; filename="${one.file}"`, null],
    );
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
    done(await admin.delete(`/api/system/backups/${one.file}`));
    refused(await admin.get(`/api/system/backups/${one.file}`), 404, 404001);
    refused(await admin.delete(`/api/system/backups/${one.file}`), 404, 404001);
    const actions = done(await admin.get('/api/audit/logs?action=backup.*')).list.map(
      ({ action, result }) => `${action} ${result}`,
    );
    assert.deepEqual(actions.slice(0, 4), [
      'backup.delete failed',
      'backup.delete ok',
      'backup.download ok',
      'backup.create ok',
    ]);
  });

  it('no name leads out of the folder', async () => {
    writeFileSync(join(folder, 'other.txt'), 'x');
    for (const name of [
      'other.txt',
      '..%2Fsecret.key',
      '%2e%2e%2fsecret.key',
      '..%5Csecret.key',
      `${'a'.repeat(300)}`,
      'zoneward-20260101T000000Z-00000000.ndjson.gz%00',
      '%0A',
    ])
      for (const call of [service.admin.get, service.admin.delete])
        refused(await call(`/api/system/backups/${name}` as '/api/system/backups'), 400, 400001);
    assert.ok(readdirSync(folder).includes('other.txt'));
    assert.ok(!done(await service.admin.get('/api/system/backups')).some(({ file }) => file === 'other.txt'));
  });

  it('are written one at a time', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => service.admin.post('/api/system/backup')));
    const codes = answers.map(({ status }) => status).sort();
    assert.ok(codes.includes(201) && codes.includes(409), String(codes));
    for (const answer of answers) if (answer.status !== 201) refused(answer, 409, 409001);
  });

  it('of the schedule are made, and the oldest removed', async () => {
    const scheduled = () =>
      readdirSync(folder)
        .filter((file) => file.includes('-auto-'))
        .sort();
    const [first] = scheduled() as [string];
    for (const day of ['01', '02', '03'])
      copyFileSync(join(folder, first), join(folder, `zoneward-auto-202001${day}T000000Z-00000000.ndjson.gz`));
    rmSync(join(folder, first));
    writeFileSync(join(folder, 'zoneward-auto-20200101T000000Z-00000000.ndjson.gz.part'), 'of a crash');
    await service.server.stop();
    again = await LocalServer.start(
      { DATABASE_URL: service.databaseUrl, BACKUP_EVERY_HOURS: '24', BACKUP_KEEP: '2' },
      service.server.dataDir,
    );
    const admin = again.as(await again.login());
    const [job] = done(await admin.get('/api/system/jobs?name=backup')).list;
    done(await admin.post(`/api/system/jobs/${job?.id as number}/retry`));
    await until('two are left', async () => scheduled().length === 2);
    assert.match(scheduled()[0] as string, /20200103/);
    assert.ok(!readdirSync(folder).some((file) => file.endsWith('.part')));
    // a failed job runs when it is retried, however new the last backup is
    const path = `/api/system/jobs/${job?.id as number}` as const;
    await until('it has ended', async () => done(await admin.get(path)).state === 'waiting');
    const before = scheduled();
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, 'in the way');
    done(await admin.post(`${path}/retry`));
    await until('it failed', async () => done(await admin.get(path)).last_error !== null);
    assert.deepEqual(
      done(await admin.get('/api/system/jobs?failing=true')).list.map(({ name }) => name),
      ['backup'],
    );
    assert.equal(done(await admin.get('/api/system/status')).jobs.failing, 1);
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    done(await admin.post(`${path}/retry`));
    await until('it is well', async () => done(await admin.get(path)).last_error === null);
    assert.equal(scheduled().length, 2);
    assert.notDeepEqual(scheduled(), before);
  });

  it('are made and restored by commands', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-test-'));
    const run = (folder: string, ...args: string[]) =>
      new Promise<{ code: number; out: string; err: string }>((resolve) => {
        const env = { PATH: process.env.PATH, DATABASE_URL: 'sqlite:zoneward.db', DATA_DIR: folder };
        execFile(process.execPath, [ENTRY, 'admin', ...args], { env, cwd: folder }, (error, out, err) =>
          resolve({ code: error ? Number(error.code) : 0, out, err }),
        );
      });
    try {
      const { out } = await run(service.server.dataDir, 'backup');
      const [file] = out.split('\n') as [string];
      assert.match(out, /^\/\S+\.gz\n\d+ bytes, SHA-256 [0-9a-f]{64}\n$/);
      const done = await run(dataDir, 'restore', file);
      assert.equal(done.code, 0, done.err);
      assert.match(done.out, /rows of 20.* sqlite\) are in the database\./);
      assert.match(done.out, /The key [0-9a-f]{8} is missing here: before the start/);
      // by its name alone, where it was made, while the service runs there
      const again = await run(service.server.dataDir, 'restore', basename(file), '--force');
      assert.deepEqual([again.code, again.out], [1, '']);
      assert.match(again.err, /is in use; stop the service first/);
      for (const wrong of [['restore'], ['restore', file, '--now'], ['restore', file, '--force', 'x']])
        assert.match((await run(dataDir, ...wrong)).err, /npm run admin -- restore <file>/);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('of the schedule wait for a manual one', async () => {
    const own = await startService('sqlite');
    try {
      const backups = applicationOf(own.server.dataDir)?.get(BackupsService, { strict: false }) as BackupsService;
      await Promise.all([backups.create('system'), backups.scheduled()]);
      assert.deepEqual((await backups.list()).map(({ scheduled }) => scheduled).sort(), [false, true]);
    } finally {
      await own.stop();
    }
  });

  it('that cannot be written leave no file, and say why', async () => {
    const broken = await startService('sqlite');
    try {
      writeFileSync(join(broken.server.dataDir, 'backups'), 'in the way');
      const { msg } = refused(await broken.admin.post('/api/system/backup'), 500, 500001);
      assert.match(msg, /The backup failed: a file is where the directory should be/);
      const [entry] = done(await broken.admin.get('/api/audit/logs?action=backup.create')).list;
      assert.deepEqual([entry?.result, entry?.error], ['failed', msg]);
    } finally {
      await broken.stop();
    }
  });
});
