import { Injectable } from '@nestjs/common';
import { type Connection, ProviderConnections } from '../accounts/provider-connections.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { hasScope } from '../common/access.js';
import { now } from '../common/clock.js';
import { type AppError, errors } from '../common/errors.js';
import { log } from '../common/logger.js';
import { Db } from '../database/db.js';
import { Leases } from '../database/leases.js';
import { shownValue } from '../dns/record.js';
import { assertMay, judgeRecord } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { domainState } from '../domains/domain-state.js';
import { asProviderError, ProviderError } from '../providers/errors.js';
import type { Change, Outcome, ProviderDefinition } from '../providers/provider.js';
import { SettingsService } from '../settings/settings.service.js';
import type { ChangedRecord } from './changes/change-set.entity.js';
import { ChangeSets, type NewChange } from './changes/change-sets.js';
import { lockOf } from './changes/locks.js';
import { RecordCache, type StoredRecord } from './record-cache.js';
import { commitPlan, type Edit, expectation, hostsOf, NoSuchRecord, type Plan, planEdit } from './record-plan.js';
import { RecordSyncService } from './record-sync.service.js';
import { recordView } from './record-view.js';

/** ms that a writer waits for another one of the same name */
const LOCK_WAIT_MS = 60_000;

/** What became of one edit: the row's id (null after a deletion), or why not. */
export type Result = { ok: true; id: number | null } | { ok: false; error: AppError };

/** A list of edits that was carried out at the provider. */
interface Carried {
  edits: Edit[];
  plans: Plan[];
  /** one for each plan that has a change */
  outcomes: Outcome[];
  intent: number | null;
  /** the TTL belongs to the set */
  setTtl: boolean;
}

/**
 * The one road of every change of a record: whoever asks (a route, an import, a job) hands a list of edits, a single
 * edit being a list of one. Locks of the names → rules → intent stored → provider → cache, audit and intent in one
 * transaction. No transaction is open during the call.
 */
@Injectable()
export class RecordWriter {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly connections: ProviderConnections,
    private readonly cache: RecordCache,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly sync: RecordSyncService,
    private readonly settings: SettingsService,
  ) {}

  /** @throws AppError 400001, 404001, 409001 when an edit is not allowed: then nothing at all was done */
  async apply(actor: Actor, domain: OpenDomain, edits: Edit[]): Promise<Result[]> {
    const connection = await this.connections.of(domain.account_id);
    try {
      return await this.locked(actor, domain, await this.withDefaults(edits), connection);
    } catch (error) {
      throw error instanceof NoSuchRecord ? errors.notFound('Record') : error;
    }
  }

  /** Creations that name no TTL get that of the settings. */
  private async withDefaults(edits: Edit[]): Promise<Edit[]> {
    const bare = (edit: Edit) => edit.op === 'create' && (edit.input.ttl ?? null) === null;
    if (!edits.some(bare)) return edits;
    const { default_ttl: defaultTtl } = await this.settings.read('general');
    return edits.map((edit) => (bare(edit) ? { ...edit, defaultTtl } : edit) as Edit);
  }

  private async locked(actor: Actor, domain: OpenDomain, edits: Edit[], connection: Connection): Promise<Result[]> {
    const hosts = await this.hosts(domain, edits, connection);
    const names = connection.definition.capabilities.replaces === 'zone' ? [null] : hosts;
    const done = await this.leases.hold(
      names.map((host) => lockOf(domain.id, host)),
      LOCK_WAIT_MS,
      async () => {
        // somebody may have renamed a record while we waited for the locks
        const still = await this.hosts(domain, edits, connection);
        if (still.some((host) => !hosts.includes(host))) return null;
        return this.carryOut(actor, domain, edits, hosts, connection);
      },
    );
    return done ?? this.locked(actor, domain, edits, connection);
  }

  private async hosts(domain: OpenDomain, edits: Edit[], { definition }: Connection): Promise<string[]> {
    const all: string[] = [];
    for (const edit of edits) {
      const row = edit.op === 'create' ? null : await this.cache.one(domain.id, edit.id);
      // before anything is said about it: what does not fit a record tells what it holds
      if (row) assertMay(domain.access, domain.id, edit.op === 'delete' ? 'delete' : 'update', row);
      all.push(...hostsOf(edit, row, definition, domain.name));
    }
    return [...new Set(all)];
  }

  private async carryOut(
    actor: Actor,
    domain: OpenDomain,
    edits: Edit[],
    hosts: string[],
    { provider, definition }: Connection,
  ): Promise<Result[]> {
    const rows = await this.cache.all(domain.id, hosts);
    const mayRead = (row: StoredRecord) =>
      readsRecords(actor) && judgeRecord(domain.access, domain.id, 'read', row).allowed;
    const plans = edits.map((edit) => planEdit(edit, definition, domain, rows, mayRead));
    if (plans.every((plan) => plan.idle)) {
      this.audit.notNeeded(actor);
      return plans.map(({ before }) => ({ ok: true, id: (before as StoredRecord).id }));
    }
    const changes = plans.map((p) => p.change).filter((c): c is Change => c !== null);
    const rows_ = plans.flatMap((plan, i) => (plan.change ? [newChange((edits[i] as Edit).op, plan, definition)] : []));
    const requestId = actor === 'system' ? '' : actor.requestId;
    const intent = changes.length ? await this.sets.open(domain, requestId, rows_) : null;
    const zone = { id: domain.remote_id, name: domain.name };
    let outcomes: Outcome[];
    try {
      outcomes = changes.length ? await provider.apply(zone, changes) : [];
    } catch (error) {
      // an adapter that throws broke its contract: nothing is known about what it did
      const failure = asProviderError(error);
      outcomes = changes.map(() => ({ ok: false, error: failure, tried: true }));
    }
    const setTtl = definition.capabilities.ttlOf === 'set';
    return this.conclude(actor, domain, { edits, plans, outcomes, intent, setTtl });
  }

  /** Cache, audit and intent of what the provider has answered. */
  private async conclude(
    actor: Actor,
    domain: OpenDomain,
    { edits, plans, outcomes, intent, setTtl }: Carried,
  ): Promise<Result[]> {
    let next = 0;
    const ended = plans.map((plan) => ({ plan, outcome: plan.change ? (outcomes[next++] as Outcome) : null }));
    const doubtful = outcomes.some((o) => !o.ok && o.error.mayHaveApplied);
    const results = await this.db.transaction(async (manager) => {
      const list: Result[] = [];
      const written: (StoredRecord | null)[] = [];
      await domainState.raiseRevision(this.db, manager, domain.id);
      for (const { plan, outcome } of ended) {
        if (outcome && !outcome.ok) {
          list.push({ ok: false, error: outcome.error });
          written.push(null);
          continue;
        }
        // without a change a record keeps the id that it has; disabled here, it has none
        const remoteId = outcome ? outcome.remoteId : (plan.before?.remote_id ?? null);
        if (plan.idle) {
          list.push({ ok: true, id: (plan.before as StoredRecord).id });
          written.push(null);
          continue;
        }
        const updatedAt = now();
        const id = await commitPlan(this.cache, manager, plan, { domainId: domain.id, remoteId, setTtl });
        list.push({ ok: true, id });
        written.push(id === null ? null : asStored(plan, id, domain.id, remoteId, updatedAt));
      }
      const states = ended.flatMap(({ plan, outcome }, i) => {
        if (!outcome) return [];
        const recordId = written[i]?.id ?? plan.before?.id ?? null;
        const state = outcome.ok ? 'applied' : outcome.error.mayHaveApplied ? 'unknown' : 'failed';
        return [{ state: state as 'applied' | 'unknown' | 'failed', recordId }];
      });
      await this.sets.conclude(manager, domain.id, intent, states);
      for (const [i, { plan }] of ended.entries()) {
        if (plan.idle) continue;
        const result = list[i] as Result;
        const record = written[i] ?? plan.before;
        await this.audit.write(manager, actor, {
          action: `record.${(edits[i] as Edit).op}`,
          domain,
          target: {
            type: 'record',
            id: record?.id ?? null,
            name: `${(plan.after ?? plan.before)?.host} ${(plan.after ?? plan.before)?.type}`,
          },
          before: plan.before && recordView(plan.before, domain),
          after: result.ok ? written[i] && recordView(written[i], domain) : wanted(plan),
          result: result.ok ? 'ok' : 'failed',
          error: result.ok ? null : result.error.message,
          changeSet: intent,
        });
      }
      return list;
    });
    if (doubtful) {
      log().warn({ domain: domain.name }, 'the provider gave no clear answer; asking it what it holds');
      void this.sync.settleAll();
    }
    return results;
  }

  /** A single edit. @returns the row's id, null after a deletion. @throws AppError, ProviderError */
  async one(actor: Actor, domain: OpenDomain, edit: Edit): Promise<number | null> {
    const [result] = await this.apply(actor, domain, [edit]);
    if (!result) throw new ProviderError('unavailable', 'The provider gave no answer').of(domain.provider, false);
    if (!result.ok) throw result.error;
    return result.id;
  }
}

/** What a plan that failed meant to make, its value as it would have been shown. */
const wanted = ({ after }: Plan) => after && { ...after, value: shownValue(after) };
/** Whether a request may see records at all: a token may be limited to writing them. */
const readsRecords = (actor: Actor): boolean =>
  actor === 'system' || !actor.principal?.token || hasScope(actor.principal.token.allowedServices, 'records:read');

const kept = (row: StoredRecord | null): ChangedRecord | null => {
  if (!row) return null;
  const { id, domain_id, value, updated_at, created_at, pending, ...rest } = row;
  return rest;
};

function newChange(op: Edit['op'], plan: Plan, definition: ProviderDefinition): NewChange {
  const { before, after, remark } = plan;
  const [expected] = expectation(plan, definition);
  const host = (after ?? before)?.host ?? '';
  const state_after = after && { ...after, remark, remote_id: null, read_only: false, value: undefined };
  return {
    op,
    record_id: before?.id ?? null,
    host,
    host_before: before && before.host !== host ? before.host : null,
    type: (after ?? before)?.type ?? '',
    state_before: kept(before),
    value_before: before?.value ?? null,
    state_after: state_after as ChangedRecord | null,
    value_after: after?.value ?? null,
    expected: expected ? (expected[1] ?? '') : null,
  };
}

const asStored = (
  plan: Plan,
  id: number,
  domainId: number,
  remoteId: string | null,
  updatedAt: string,
): StoredRecord => ({
  ...(plan.after as StoredRecord),
  id,
  domain_id: domainId,
  remote_id: remoteId,
  read_only: false,
  pending: plan.before?.pending ?? false,
  remark: plan.remark,
  updated_at: updatedAt,
  created_at: plan.before ? plan.before.created_at : updatedAt,
});
