import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { tokenOf } from '../support/doors.js';
import { powerdnsClient, type RawPowerdnsZone } from '../support/powerdns-client.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, done } from '../support/world.js';

const AT = '2026-01-01T00:00:00.000Z';
const RECORD = [
  'domain_id',
  'host',
  'type',
  'value',
  'ttl',
  'line',
  'weight',
  'proxied',
  'enabled',
  'remark',
  'read_only',
];
const DOMAIN = [
  'name',
  'apart',
  'account_id',
  'owner_id',
  'remote_id',
  'status',
  'remark',
  'records_count',
  'revision',
];

for (const { kind, skip } of databases())
  describeUnless(skip)(`long lists of the door powerdns, on ${kind}`, () => {
    let service: Service;
    let db: Db;
    let close: () => Promise<void>;
    let accounts: [number, number];
    let reader: number;

    beforeAll(async () => {
      service = await startService(kind);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      done(await service.admin.put('/api/settings/doors', { powerdns: { enabled: true } }));
      const account = () => addAccount(service.admin, 'zonefile', { directory: 'zones' });
      accounts = [await account(), await account()];
      reader = await addUser(db, { username: 'reader', password: 'reader-secret' });
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    const insert = async (table: string, columns: string[], rows: (string | number | boolean | null)[][]) => {
      for (let i = 0; i < rows.length; i += 200) {
        const some = rows.slice(i, i + 200);
        const marks = some.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
        await db.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ${marks}`, some.flat());
      }
    };
    const domains = (names: [name: string, apart: string, account: number, owner: number | null][]) =>
      insert(
        'domains',
        [...DOMAIN, 'created_at'],
        names.map(([name, apart, account, owner]) => [name, apart, account, owner, name, 'active', '', 0, 0, AT]),
      );
    const clientOf = async (user?: { username: string; password: string }) => {
      const client = user ? service.server.as(await service.server.login(user)) : service.admin;
      return powerdnsClient(`${service.server.url}/doors/powerdns`, await tokenOf(client, ['powerdns']));
    };
    const namesOf = async (client: Awaited<ReturnType<typeof clientOf>>) =>
      (await client.read<{ name: string }[]>('/zones')).map(({ name }) => name);

    it('have each zone that may be read once, but for private ones and those that several have', async () => {
      const name = (i: number) => `z${String(i).padStart(4, '0')}.example.net`;
      const [one, other] = accounts;
      const many = Array.from({ length: 1203 }, (_none, i): Parameters<typeof domains>[0][0] => [
        ...([name(i), '', one, i % 2 ? reader : null] as const),
      ]);
      // at the ends of pages, too
      const twins = [0, 499, 500, 1202].map((i): Parameters<typeof domains>[0][0] => [name(i), '', other, null]);
      await domains([
        ...many,
        ...twins,
        [name(7), 'private', other, reader],
        ['only.example.net', 'private', one, reader],
      ]);
      const twice = new Set(twins.map(([twin]) => twin));
      const wanted = many.map(([own]) => own).filter((own) => !twice.has(own));
      assert.deepEqual(
        await namesOf(await clientOf()),
        wanted.map((own) => `${own}.`),
      );
      // who may read one of two zones of a name knows of no other
      const mine = many.filter((row) => row[3] === reader).map(([own]) => `${own}.`);
      assert.deepEqual(await namesOf(await clientOf({ username: 'reader', password: 'reader-secret' })), mine);
    });

    it('are whole for a zone of many records, and leave out what PowerDNS has no word for', async () => {
      await domains([['large.example.org', '', accounts[0], null]]);
      const row = await db.row<{ id: number }>("SELECT id FROM domains WHERE name = 'large.example.org'");
      const id = Number(row?.id);
      const record = (host: string, value: string, line: string): (string | number | boolean | null)[] => [
        ...[id, host, 'A', value, 300, line, null, false, true, '', false],
      ];
      const rows = Array.from({ length: 2600 }, (_none, i) => record(`h${i}`, `192.0.2.${i % 250}`, 'default'));
      rows.push(record('h1', '198.51.100.1', 'cn'), record('lines', '198.51.100.2', 'cn'));
      await insert(
        'dns_records',
        [...RECORD, 'updated_at'],
        rows.map((values) => [...values, AT]),
      );
      const client = await clientOf();
      const { rrsets } = await client.read<RawPowerdnsZone>('/zones/large.example.org.');
      const hosts = new Map(rrsets.map(({ name, records }) => [name, records?.map(({ content }) => content)]));
      assert.equal(rrsets.length, 2601);
      assert.equal(hosts.size, 2601);
      assert.deepEqual(hosts.get('h1.large.example.org.'), ['192.0.2.1']);
      assert.equal(hosts.get('lines.large.example.org.'), undefined);
      const answer = await client.call('GET', '/zones/large.example.org./export');
      assert.equal(answer.text.trim().split('\n').length, 2601);
    });
  });
