import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENTITIES } from '../../src/entities.js';
import { now } from '../../src/platform/common/clock.js';
import { sha256 } from '../../src/platform/common/hash.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import type { Db } from '../../src/platform/database/db.js';
import { type Kind, migratedDatabase, migratedFile } from './databases.js';
import { dbOn } from './db.js';

export { gate } from './gate.js';

/** A migrated database without a service. */
export async function emptyDatabase(kind: Kind): Promise<{ db: Db; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-empty-'));
  if (kind === 'sqlite') await migratedFile(join(folder, 'empty.db'));
  const server = kind === 'sqlite' ? undefined : await migratedDatabase(kind);
  const source = new AppDataSource(ENTITIES);
  await source.open(parseDatabaseUrl(server?.url ?? 'sqlite:empty.db', folder));
  const close = async () => {
    await source.destroy();
    await server?.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { db: dbOn(source), close };
}

/** Inserts a lease of another process: its owner, its lifetime in ms, optionally part of a whole. */
export const plant = (db: Db, name: string, owner: string, ms: number, within?: string) =>
  db.run('INSERT INTO leases (name, owner, expires_at, scope) VALUES (?, ?, ?, ?)', [
    sha256(name),
    owner,
    now(ms),
    within ? sha256(within) : null,
  ]);

/** Owner on another machine, whose leases are judged by expiry alone. */
export const ELSEWHERE = 'other.machine/4026531836/0123456789abcdef/1/00000000/00000000';
