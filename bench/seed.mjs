// Fills a freshly migrated database.
import { createHash, randomBytes } from 'node:crypto';
import { open } from './sql.mjs';

const CHUNK = 200;
const NOW = '2026-01-01T00:00:00.000Z';

async function insert(db, table, columns, rows) {
  const one = `(${columns.map(() => '?').join(', ')})`;
  for (let i = 0; i < rows.length; i += CHUNK) {
    const chunk = rows.slice(i, i + CHUNK);
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${chunk.map(() => one).join(', ')}`;
    await db.run(sql, chunk.flat());
  }
}

const token = () => `svc_${randomBytes(32).toString('hex')}`;
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** Records of every type to filter: hosts with two records, the second one's text containing the first one's name. */
const mixed = (bool, id, domain, i) => {
  const [type, value] =
    i % 10 < 7
      ? ['A', `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`]
      : i % 10 < 9
        ? ['TXT', `v=DKIM1; k=rsa; p=${randomBytes(60).toString('base64')}`]
        : ['MX', `mail-${i}.example.net`];
  const host = `host-${i >> 1}`;
  const search = `${host}\n${value.toLowerCase()}`;
  return [id, domain, `r${id}`, host, type, value, 600, 'default', bool(0), bool(1), '', bool(0), NOW, NOW, search];
};

/**
 * Inserts `domains` domains, the first with `records` records, the second and third with the numbers in `filtered`, and
 * one ordinary user for each number in `permissions`, in a team that may read that many domains. Ids are explicit: the
 * database contains only the administrator (id 1) and is dropped afterwards.
 * @returns the tokens: of the administrator, restricted to the first domain; of each user
 */
export async function seed(url, { domains, records, permissions, filtered = [] }) {
  const db = open(url);
  const bool = db.kind === 'sqlite' ? Number : Boolean;
  const name = (i) => `zone-${String(i).padStart(6, '0')}.example`;
  // no rate limits: the work is measured
  const values = { rate_limits: { user: 0, token: 0 } };
  await db.run("DELETE FROM settings WHERE name = 'security'");
  await insert(db, 'settings', ['name', 'content'], [['security', JSON.stringify({ values, super: values })]]);
  await insert(
    db,
    'dns_accounts',
    ['id', 'provider', 'name', 'remark', 'credentials', 'created_at', 'updated_at'],
    [[1, 'zonefile', 'seeded', '', '', NOW, NOW]],
  );
  await insert(
    db,
    'domains',
    [
      'id',
      'name',
      'account_id',
      'remote_id',
      'status',
      'remark',
      'records_count',
      'revision',
      'created_at',
      'synced_at',
    ],
    Array.from({ length: domains }, (_, i) => {
      const id = i + 1;
      return [id, name(id), 1, name(id), 'active', '', (id === 1 ? records : filtered[id - 2]) ?? 0, 0, NOW, NOW];
    }),
  );
  const recordColumns = [
    ...['id', 'domain_id', 'remote_id', 'host', 'type', 'value', 'ttl', 'line', 'proxied', 'enabled', 'remark'],
    ...['read_only', 'updated_at', 'created_at', 'search'],
  ];
  await insert(
    db,
    'dns_records',
    recordColumns,
    Array.from({ length: records }, (_, i) => {
      const value = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
      const more = [600, 'default', bool(0), bool(1), '', bool(0), NOW, NOW, `host-${i}\n${value}`];
      return [i + 1, 1, `r${i}`, `host-${i}`, 'A', value, ...more];
    }),
  );
  let first = records + 1;
  for (const [n, count] of filtered.entries()) {
    const rows = Array.from({ length: count }, (_, i) => mixed(bool, first + i, n + 2, i));
    await insert(db, 'dns_records', recordColumns, rows);
    first += count;
  }
  await db.run(
    'INSERT INTO record_counts (domain_id, type, hits) SELECT domain_id, type, COUNT(*) FROM dns_records GROUP BY domain_id, type',
  );
  const columns = ['id', 'user_id', 'name', 'token_hash', 'narrowed', 'allowed_domains', 'allowed_services'];
  const addToken = async (id, userId, narrowedTo, role) => {
    const text = token();
    const row = [id, userId, 'bench', sha256(text), bool(narrowedTo.length > 0), JSON.stringify(narrowedTo), '["*"]'];
    await insert(db, 'api_tokens', [...columns, 'max_role', 'is_active', 'created_at'], [[...row, role, bool(1), NOW]]);
    return text;
  };
  const tokens = { pipeline: await addToken(1, 1, [1], 3), operator: await addToken(2, 1, [], 3), users: {} };
  for (const [i, count] of permissions.entries()) {
    const id = i + 2;
    const user = [id, `user-${id}`, `user-${id}`, '', '-', 1, 1, 'en', bool(0), NOW];
    await insert(
      db,
      'users',
      [
        ...['id', 'username', 'username_key', 'nickname', 'password_hash', 'role', 'status', 'language'],
        ...['totp_enabled', 'created_at'],
      ],
      [user],
    );
    await insert(db, 'teams', ['id', 'name', 'description', 'created_at'], [[id, `team-${id}`, '', NOW]]);
    await insert(db, 'team_members', ['team_id', 'user_id', 'role', 'joined_at'], [[id, id, 'member', NOW]]);
    // spread over all domains, so that a list that scans all of them would show
    const step = Math.floor(domains / count);
    await insert(
      db,
      'domain_permissions',
      ['team_id', 'domain_id', 'domain_name', 'permission'],
      Array.from({ length: count }, (_, n) => [id, n * step + 1, name(n * step + 1), 'read']),
    );
    tokens.users[count] = await addToken(id + 1, id, [], 1);
  }
  // what autovacuum would do a minute later
  if (db.kind === 'postgresql') {
    await db.run('VACUUM ANALYZE');
    // sequences do not advance for explicit ids
    for (const table of ['dns_accounts', 'domains', 'dns_records', 'api_tokens', 'users', 'teams']) {
      await db.run(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT MAX(id) + 1 FROM ${table}))`);
    }
  }
  if (db.kind === 'mysql') await db.run('ANALYZE TABLE domains, domain_permissions, dns_records');
  await db.close();
  return tokens;
}

/** A zone of as many records, which are copies of some, under other ids. @returns the tokens, as `seed` */
export async function seedCopies(url, records) {
  const first = Math.min(1000, records);
  const tokens = await seed(url, { domains: 2, records: 0, permissions: [], filtered: [first] });
  const db = open(url);
  const rest = 'ttl, line, proxied, enabled, remark, read_only, updated_at, created_at, search';
  for (let count = first; count < records; count *= 2)
    await db.run(
      `INSERT INTO dns_records (id, domain_id, remote_id, host, type, value, ${rest})
        SELECT id + ${count}, domain_id, CONCAT('r', id + ${count}), host, type, value, ${rest}
          FROM dns_records WHERE id <= ${records - count}`,
    );
  if (db.kind === 'postgresql') await db.run('ANALYZE dns_records');
  await db.close();
  return tokens;
}
