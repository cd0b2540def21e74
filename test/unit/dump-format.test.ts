import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, it } from '@jest/globals';
import { DumpError, verifyDump } from '../../src/platform/dump/format.js';

const HEADER = {
  ...{ format: 'zoneward-dump', format_version: 1, version: '0.1.0', created_at: '2026-01-01T00:00:00.000Z' },
  ...{ database: 'sqlite', migrations: ['Foundation1763600000000'], keys: ['0123abcd'] },
  tables: [{ name: 'users', columns: [{ name: 'id', kind: 'int' }] }],
};
const END = { end: true, rows: { users: 1 }, last_ids: { users: 1 } };

/** A dump with a checksum that is right, whatever is in it. */
async function verified(header: unknown, end: object = END, rows: unknown[] = [[1]]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-dump-'));
  try {
    const lines = [header, { table: 'users' }, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('');
    const sha256 = createHash('sha256').update(lines).digest('hex');
    const path = join(folder, 'dump.gz');
    writeFileSync(path, gzipSync(`${lines}${JSON.stringify({ ...end, sha256 })}\n`));
    await verifyDump(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a dump', () => {
  it('is taken when it is one', () => verified(HEADER));
  it('is taken with texts that hold line ends of Unicode', () =>
    verified(HEADER, END, [['a\u2028b\u2029c\r\nd\u0085']]));

  const table = (name: unknown, columns: unknown = HEADER.tables[0]?.columns) => [...HEADER.tables, { name, columns }];
  const WRONG: [string, unknown, object?, unknown[]?][] = [
    ['a name that is a statement', { ...HEADER, tables: table('users; DROP TABLE users; --') }],
    ['a column that is one', { ...HEADER, tables: table('x', [{ name: 'id) SELECT (1', kind: 'int' }]) }],
    ['a kind that is none', { ...HEADER, tables: table('x', [{ name: 'id', kind: 'sql' }]) }],
    ['no columns', { ...HEADER, tables: table('x', []) }],
    ['migrations that are no list', { ...HEADER, migrations: 'all' }],
    ['no keys', { ...HEADER, keys: undefined }],
    ['no header', 'zoneward-dump'],
    ['a last id that is a statement', HEADER, { ...END, last_ids: { users: '1); DROP TABLE users; --' } }],
    ['a last id of another table', HEADER, { ...END, last_ids: { 'users; --': 1 } }],
    ['no last ids', HEADER, { ...END, last_ids: undefined }],
    ['a row that is none', HEADER, END, [7]],
    ['a row that is nothing', HEADER, END, [null]],
    ['a line without end', HEADER, END, [['x'.repeat(65 * 1024 * 1024)]]],
  ];
  for (const [what, header, end, rows] of WRONG)
    it(`is refused with ${what}`, () => assert.rejects(verified(header, end, rows), DumpError));
});
