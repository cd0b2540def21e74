import { Injectable } from '@nestjs/common';
import { Db, isDuplicate, marks, type SqlValue } from '../../platform/database/db.js';
import type { Source } from './lookup.service.js';

/** rows that one statement names or reads */
const CHUNK = 500;

export interface RegistrationRow {
  id: number;
  name: string;
  expires_at: string | null;
  source: Source | null;
  checked_at: string | null;
  next_at: string;
  failures: number;
  error: string | null;
}

/** What a look-up writes. */
interface Result {
  /** null: what is known stays */
  end: { expires_at: string; source: Source } | null;
  checked_at: string;
  next_at: string;
  failures: number;
  error: string | null;
}

const COLUMNS = 'id, name, expires_at, source, checked_at, next_at, failures, error';

/** The table of registrations, one row for each registrable name. */
@Injectable()
export class RegistrationsRepository {
  constructor(private readonly db: Db) {}

  byName(name: string): Promise<RegistrationRow | undefined> {
    return this.db.row<RegistrationRow>(`SELECT ${COLUMNS} FROM registrations WHERE name = ?`, [name]);
  }

  async byNames(names: readonly string[]): Promise<RegistrationRow[]> {
    if (!names.length) return [];
    const sql = `SELECT ${COLUMNS} FROM registrations WHERE name IN (${marks(names.length)})`;
    return this.db.rows<RegistrationRow>(sql, names);
  }

  /** All rows that are due, in pages. */
  async *due(until: string): AsyncGenerator<RegistrationRow[]> {
    let last = { next_at: '', id: 0 };
    for (;;) {
      const rows = await this.db.rows<RegistrationRow>(
        `SELECT ${COLUMNS} FROM registrations WHERE next_at <= ? AND (next_at > ? OR (next_at = ? AND id > ?))
          ORDER BY next_at, id LIMIT ?`,
        [until, last.next_at, last.next_at, last.id, CHUNK],
      );
      const end = rows.at(-1);
      if (!end) return;
      yield rows;
      last = end;
    }
  }

  /** Adds names that are due at this moment; those that are there stay as they are. */
  async add(names: readonly string[], nextAt: string): Promise<void> {
    if (!names.length) return;
    const rows = names.map(() => '(?, ?, 0)').join(', ');
    const values = names.flatMap((name) => [name, nextAt]);
    try {
      await this.db.run(`INSERT INTO registrations (name, next_at, failures) VALUES ${rows}`, values);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      // another process was faster with one of them
      if (names.length > 1) for (const name of names) await this.add([name], nextAt);
    }
  }

  /** Postpones a row that was seen to be due. @returns false when another process was faster */
  async claim({ id, next_at }: Pick<RegistrationRow, 'id' | 'next_at'>, nextAt: string): Promise<boolean> {
    const sql = 'UPDATE registrations SET next_at = ? WHERE id = ? AND next_at = ?';
    return (await this.db.run(sql, [nextAt, id, next_at])) === 1;
  }

  async postpone(id: number, nextAt: string): Promise<void> {
    await this.db.run('UPDATE registrations SET next_at = ? WHERE id = ?', [nextAt, id]);
  }

  postponeAll(ids: readonly number[], nextAt: string): Promise<void> {
    const later = (count: number) => `UPDATE registrations SET next_at = ? WHERE id IN (${marks(count)})`;
    return this.each(ids, (some) => [later(some.length), [nextAt, ...some]]);
  }

  /** Makes a row due at this moment, unless it was checked since the other one. */
  async makeDue(id: number, nextAt: string, uncheckedSince: string): Promise<void> {
    const sql = 'UPDATE registrations SET next_at = ? WHERE id = ? AND (checked_at IS NULL OR checked_at < ?)';
    await this.db.run(sql, [nextAt, id, uncheckedSince]);
  }

  async writeResult(id: number, { end, checked_at, next_at, failures, error }: Result): Promise<void> {
    await this.db.run(
      `UPDATE registrations SET ${end ? 'expires_at = ?, source = ?, ' : ''}checked_at = ?, next_at = ?, failures = ?, error = ?
        WHERE id = ?`,
      [...(end ? [end.expires_at, end.source] : []), checked_at, next_at, failures, error, id],
    );
  }

  removeAll(ids: readonly number[]): Promise<void> {
    return this.each(ids, (some) => [`DELETE FROM registrations WHERE id IN (${marks(some.length)})`, some]);
  }

  private async each(ids: readonly number[], statement: (some: number[]) => [string, SqlValue[]]): Promise<void> {
    for (let i = 0; i < ids.length; i += CHUNK) await this.db.run(...statement(ids.slice(i, i + CHUNK)));
  }
}
