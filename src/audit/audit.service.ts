import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../access/access.js';
import type { AuditAction } from '../access/audit-actions.js';
import { now } from '../platform/common/clock.js';
import { Db } from '../platform/database/db.js';
import { AuditPendingRepository, type NewEntry } from './audit-pending.repository.js';
import { AuditLinker } from './linker.service.js';
import { noteOutcome } from './outcome.js';

/** An audit entry. `before` and `after` are views of the API, never rows: they hold no secrets. */
export interface AuditEntry {
  action: AuditAction;
  domain?: { id: number; name: string } | null | undefined;
  target?: { type: string; id: number | string | null; name: string | null } | null;
  before?: unknown;
  after?: unknown;
  result?: 'ok' | 'failed';
  error?: string | null;
  /** number of the list of record changes that it belongs to */
  changeSet?: number | null;
}

/** The caller of a request, or `system` for jobs. */
export type Actor = Caller | 'system';

const SECRET = /pass(word)?$|secret|token$|api_key|private_key|credential|setup_code/i;
const MAX_TEXT = 4000;

/** A copy fit for storing: long texts cut, and, as a second line of defence, values of secret-looking keys starred. */
function scrub(value: unknown, key = ''): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') {
    if (SECRET.test(key)) return '***';
    return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)` : value;
  }
  if (Array.isArray(value)) return value.map((item) => scrub(item, key));
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, scrub(v, k)]));
  return value;
}

/** bytes of a state: a TEXT column of MariaDB holds 65 535 */
const MAX_STATE = 60_000;

/** A state as it is stored; of one that is too long for some database only its length. */
const stateOf = (value: unknown): string | null => {
  const state = scrub(value);
  if (state === null) return null;
  const text = JSON.stringify(state);
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_STATE ? JSON.stringify({ left_out: `${bytes} bytes` }) : text;
};

/** The columns that say who did it, and from where. */
function authorOf(caller: Caller | null) {
  const principal = caller?.principal ?? null;
  return {
    actor_type: principal?.kind ?? (caller ? ('user' as const) : ('system' as const)),
    user_id: principal?.userId ?? null,
    username: principal?.username ?? null,
    token_id: principal?.token?.id ?? null,
    token_name: principal?.token?.name ?? null,
    ip: caller?.ip ?? '',
    user_agent: caller?.userAgent ?? '',
    request_id: caller?.requestId ?? '',
    door: caller?.door ?? null,
  };
}

/** Writes entries. `AuditLinker` adds numbers and hashes afterwards, so that writers never wait for each other. */
@Injectable()
export class AuditService {
  constructor(
    private readonly db: Db,
    private readonly entries: AuditPendingRepository,
    private readonly linker: AuditLinker,
  ) {}

  /** Writes an entry in the caller's transaction. */
  async write(manager: EntityManager, actor: Actor, entry: AuditEntry): Promise<void> {
    const caller = actor === 'system' ? null : actor;
    const row: NewEntry = {
      ...authorOf(caller),
      created_at: now(),
      action: entry.action,
      domain: entry.domain?.name ?? null,
      domain_id: entry.domain?.id ?? null,
      target: stateOf(entry.target),
      state_before: stateOf(entry.before),
      state_after: stateOf(entry.after),
      result: entry.result ?? 'ok',
      error: entry.error?.slice(0, MAX_TEXT) ?? null,
      change_set_id: entry.changeSet ?? null,
    };
    await this.entries.insert(row, manager);
    this.db.afterCommit(manager, () => this.linker.wake());
    if (caller) noteOutcome(caller, entry.result ?? 'ok');
  }

  /** An entry in a transaction of its own. */
  async append(actor: Actor, entry: AuditEntry): Promise<void> {
    await this.db.transaction((manager) => this.write(manager, actor, entry));
  }

  /** Says that nothing was changed: a request that succeeds gets no entry. */
  notNeeded(actor: Actor): void {
    if (actor !== 'system') noteOutcome(actor, 'unneeded');
  }
}
