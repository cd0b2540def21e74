// Entries of the audit log, chained as the service chains them.
import { entryHash } from '../dist/src/audit/chain.js';
import { open } from './sql.mjs';

const ROWS = 100;
/** Entries of one domain and of one user, the same number in a small log and in a large one. */
const OF_ONE = 200;

/** Appends entries like a version without seals. */
export async function appendEntries(url, count) {
  const db = open(url);
  const [end] = await db.prepare('SELECT seq, hash FROM audit_chain WHERE id = 1')([]);
  let { seq, hash } = end;
  const names = 'created_at, actor_type, user_id, username, action, domain, domain_id, target, state_after, result, ip';
  const columns = `${names}, user_agent, request_id, change_set_id, seq, prev_hash, hash`.split(', ');
  const one = `(${columns.map(() => '?').join(', ')})`;
  const begin = Date.now() - count * 1000;
  if (db.kind === 'sqlite') await db.run('BEGIN');
  for (let i = 0; i < count; i += ROWS) {
    const values = [];
    for (let k = i; k < Math.min(count, i + ROWS); k++) {
      const of = (k / OF_ONE) | 0;
      const after = { host: `host-${k}`, type: 'A', value: `10.0.${(k >> 8) & 255}.${k & 255}`, ttl: 600 };
      const target = { type: 'record', id: k, name: after.host };
      const row = {
        ...{ seq: ++seq, created_at: new Date(begin + k * 1000).toISOString(), actor_type: 'user', user_id: 1 },
        ...{
          username: of % 2 ? `user-${of}` : 'root',
          token_id: null,
          token_name: null,
          domain: `zone-${of}.example`,
          domain_id: of + 1,
        },
        ...{ action: k % 3 ? 'record.create' : 'record.delete', target, state_before: null, state_after: after },
        ...{ result: 'ok', error: null, ip: '127.0.0.1', user_agent: 'bench', request_id: `r-${k}`, change_set_id: k },
        prev_hash: hash,
      };
      hash = entryHash(hash, row);
      const stored = { ...row, target: JSON.stringify(target), state_after: JSON.stringify(after), hash };
      values.push(...columns.map((column) => stored[column]));
    }
    await db.run(
      `INSERT INTO audit_logs (${columns.join(', ')}) VALUES ${Array(values.length / columns.length)
        .fill(one)
        .join(', ')}`,
      values,
    );
  }
  await db.run('UPDATE audit_chain SET seq = ?, hash = ?, secret = NULL, signature = NULL WHERE id = 1', [seq, hash]);
  if (db.kind === 'sqlite') await db.run('COMMIT');
  if (db.kind === 'postgresql') await db.run('ANALYZE audit_logs');
  if (db.kind === 'mysql') await db.run('ANALYZE TABLE audit_logs');
  await db.close();
}
