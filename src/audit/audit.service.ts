import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../common/access.js';
import { now } from '../common/clock.js';
import { sha256 } from '../common/hash.js';
import { Db } from '../database/db.js';
import type { AuditLog } from './audit.entity.js';
import { noteOutcome } from './outcome.js';

/** What happened. `before` and `after` are what the API shows of a thing, never rows: no secrets get here. */
export interface AuditEntry {
  /** `<noun>.<verb>` */
  action: string;
  domain?: { id: number; name: string } | null;
  target?: { type: string; id: number | string | null; name: string | null } | null;
  before?: unknown;
  after?: unknown;
  result?: 'ok' | 'failed';
  error?: string | null;
  /** number of the list of record changes that it belongs to */
  changeSet?: number | null;
}

/** Who did it: a request's caller, or `system` for jobs. */
export type Actor = Caller | 'system';

const SECRET = /pass(word)?$|secret|token$|api_key|private_key|credential|setup_code/i;
const MAX_TEXT = 4000;

/** A copy fit for storing: long texts cut, and, as a second line of defence, values of secret-looking keys starred. */
export function scrub(value: unknown, key = ''): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') {
    if (SECRET.test(key)) return '***';
    return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)` : value;
  }
  if (Array.isArray(value)) return value.map((item) => scrub(item, key));
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, scrub(v, k)]));
  return value;
}

const json = (value: object | null) => value && JSON.stringify(value);
const stateOf = (value: unknown) => scrub(value) as object | null;

/** The columns in the order in which they are hashed. */
export const HASHED = [
  'seq',
  'created_at',
  'actor_type',
  'user_id',
  'username',
  'token_id',
  'token_name',
  'action',
  'domain',
  'domain_id',
  'target',
  'state_before',
  'state_after',
  'result',
  'error',
  'ip',
  'user_agent',
  'request_id',
] as const;

type Hashed = Pick<AuditLog, (typeof HASHED)[number] | 'change_set_id'>;

/**
 * Hash of an entry: SHA-256 over the hash before it and the entry's own columns as a JSON array; `change_set_id` only
 * where it is set, since older entries have none.
 */
export const entryHash = (previous: string, row: Hashed): string => {
  const more = row.change_set_id === null ? [] : [row.change_set_id];
  return sha256(previous + JSON.stringify([...HASHED.map((column) => row[column] ?? null), ...more]));
};

/** Appends to the audit log. Rows are numbered without gaps and chained by hash. */
@Injectable()
export class AuditService {
  constructor(private readonly db: Db) {}

  /**
   * Writes an entry in the caller's transaction: as the last thing, since it locks the end of the chain.
   */
  async write(manager: EntityManager, actor: Actor, entry: AuditEntry): Promise<void> {
    await this.db.run('UPDATE audit_chain SET seq = seq + 1 WHERE id = 1', [], manager);
    const end = await this.db.row<{ seq: number; hash: string }>(
      'SELECT seq, hash FROM audit_chain WHERE id = 1',
      [],
      manager,
    );
    if (!end) throw new Error('the audit chain has no start');
    const caller = actor === 'system' ? null : actor;
    const { principal } = caller ?? { principal: null };
    const row: Hashed = {
      seq: Number(end.seq),
      created_at: now(),
      actor_type: principal?.kind ?? (caller ? 'user' : 'system'),
      user_id: principal?.userId ?? null,
      username: principal?.username ?? null,
      token_id: principal?.token?.id ?? null,
      token_name: principal?.token?.name ?? null,
      action: entry.action,
      domain: entry.domain?.name ?? null,
      domain_id: entry.domain?.id ?? null,
      target: stateOf(entry.target),
      state_before: stateOf(entry.before),
      state_after: stateOf(entry.after),
      result: entry.result ?? 'ok',
      error: entry.error?.slice(0, MAX_TEXT) ?? null,
      ip: caller?.ip ?? '',
      user_agent: caller?.userAgent ?? '',
      request_id: caller?.requestId ?? '',
      change_set_id: entry.changeSet ?? null,
    };
    const hash = entryHash(end.hash, row);
    const { target, state_before, state_after } = row;
    const states = { target: json(target), state_before: json(state_before), state_after: json(state_after) };
    await this.db.insert('audit_logs', { ...row, ...states, prev_hash: end.hash, hash }, manager);
    await this.db.run('UPDATE audit_chain SET hash = ? WHERE id = 1', [hash], manager);
    if (caller) noteOutcome(caller, entry.result ?? 'ok');
  }

  /** An entry in a transaction of its own. */
  async append(actor: Actor, entry: AuditEntry): Promise<void> {
    await this.db.transaction((manager) => this.write(manager, actor, entry));
  }

  /** Nothing was changed that an entry could tell: where the request succeeds, none is written. */
  notNeeded(actor: Actor): void {
    if (actor !== 'system') noteOutcome(actor, 'unneeded');
  }
}
