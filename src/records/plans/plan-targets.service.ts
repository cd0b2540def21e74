import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import type { CacheRow } from '../../cache/reconcile.js';
import { RecordCache } from '../../cache/record-cache.js';
import { DriftSetsRepository, nameOf } from '../../changes/drift/drift-sets.repository.js';
import { DriftSets } from '../../changes/drift/drift-sets.service.js';
import { type Edit, itemOf, type Place, Places, upsert } from '../../changes/edits/edit.js';
import { RecordInput } from '../../changes/edits/record.dto.js';
import { isBare } from '../../changes/gate/guards.js';
import { PastRepository } from '../../changes/history/past.repository.js';
import { type ChangedState, creationOf, patchOf, sameState, stateOf } from '../../changes/history/states.js';
import { mayRead, readsAll } from '../../changes/history/who.js';
import { RecordSyncService } from '../../changes/in-doubt/record-sync.service.js';
import type { Wish } from '../../changes/plans/plan-builder.service.js';
import { rdataOf, SIGNER_TYPES } from '../../dns/record.js';
import { type DocumentRecord, NOTES, type ParsedDocument } from '../../documents/document.js';
import { dataOf } from '../../documents/known-records.js';
import { mistakeAt, parseDocument } from '../../documents/parse-document.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import { anyOf, type Scope, scopeOf } from '../../domains/change-rules/scope.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { now } from '../../platform/common/clock.js';
import { errors, fieldError } from '../../platform/common/errors.js';
import { due, sifted, turn } from '../../platform/common/turns.js';
import { validList } from '../../platform/common/validation.js';
import { say } from '../../platform/common/words/field-text.js';
import type { BatchChange } from '../batch/batch.dto.js';
import { BatchService } from '../batch/batch.service.js';
import { VersionReader } from '../history/version-reader.service.js';
import type { PlanDocument, PlanInput } from './plan.dto.js';
import { deletionsFirst, toward, type Wanted } from './plan-edits.js';
import { IGNORED, LINE } from './plan-view.js';

/** What a plan may be worked out of. */
const SOURCES = ['records', 'changes', 'document', 'version', 'change_set_id', 'from_domain_id', 'drift'] as const;

/** warnings of one plan about its document */
const MAX_WARNINGS = 100;

/** What is wanted of a zone, as a body has it. */
interface Written {
  wanted: Wanted[];
  /** it is a document without records */
  isEmpty: boolean;
  /** which records the plan does not look at */
  keeps: Scope;
}

/** What is asked of a plan, as edits of what is there. */
@Injectable()
export class PlanTargets {
  constructor(
    private readonly places: Places,
    private readonly batches: BatchService,
    private readonly versions: VersionReader,
    private readonly past: PastRepository,
    private readonly cache: RecordCache,
    private readonly policy: DomainPolicy,
    private readonly sync: RecordSyncService,
    private readonly drift: DriftSets,
    private readonly driftSets: DriftSetsRepository,
  ) {}

  /**
   * @param rows of the domain, as the provider holds them now
   * @param drifted of drift only what is in it
   * @throws AppError 400001, 404001
   */
  async of(
    me: Caller,
    domain: OpenDomain,
    input: PlanInput,
    rows: readonly CacheRow[],
    drifted: Scope = () => true,
  ): Promise<Wish> {
    const given = SOURCES.filter((source) => (input[source] ?? null) !== null);
    const [source] = given;
    if (!source)
      throw errors.field(
        'records',
        'or one of changes, document, version, change_set_id, from_domain_id and drift must be given',
        'required',
      );
    if (given[1]) throw errors.field(given[1], say('does not go together with {field}', { field: source }), 'conflict');
    const scope = scopeOf(input);
    const place = await this.places.of(domain);
    if (source === 'changes') return this.changes(input, place);
    if (source === 'change_set_id') return this.undo(me, domain, input.change_set_id as number, rows, scope);
    if (source === 'drift') return this.back(me, domain, rows, (set) => scope(set) && drifted(set));
    const mode = input.mode ?? (source === 'version' ? 'sync' : 'merge');
    const warnings: string[] = [];
    const ignored = mode === 'sync' ? anyOf(changeRulesOf(domain).drift.ignore) : () => false;
    const isOpen: Scope = (record) => scope(record) && !ignored(record);
    const { wanted, isEmpty, keeps }: Written =
      source === 'document'
        ? await written(place, input.document as PlanDocument, warnings, { rows, isOpen })
        : { wanted: await this.wanted(me, domain, place, input, source), isEmpty: false, keeps: () => false };
    const named = await sifted(wanted, ({ record }) => scope(record));
    const there = await sifted(rows, (row) => scope(row) && !keeps(row));
    const meant = await sifted(named, ({ record }) => !ignored(record));
    const free = await sifted(there, (row) => !ignored(row));
    if (meant.length < named.length || free.length < there.length) warnings.push(IGNORED);
    const wish = await toward(meant, free, mode === 'sync');
    return { ...wish, warnings, emptied: isEmpty && mode === 'sync' };
  }

  private async wanted(
    me: Caller,
    domain: OpenDomain,
    place: Place,
    input: PlanInput,
    source: string,
  ): Promise<Wanted[]> {
    if (source === 'records') return named(place, input.records as RecordInput[]);
    if (source === 'version') return this.asOf(me, domain, input.version as number);
    return this.copied(me, place, input.from_domain_id as number);
  }

  /** A list of changes; `mode` and what is not named say nothing of it. */
  private async changes(input: PlanInput, place: Place): Promise<Wish> {
    for (const field of ['mode', 'types', 'hosts'] as const)
      if (input[field] !== undefined) throw errors.field(field, 'does not go with changes', 'conflict');
    return { edits: await this.batches.editsOf(place, input.changes as BatchChange[]), warnings: [], unchanged: 0 };
  }

  /** What a version had, but for what may not be read: it stays as it is. */
  private async asOf(me: Caller, domain: OpenDomain, version: number): Promise<Wanted[]> {
    const records = await this.versions.whole(domain, version);
    const isSeen = seenBy(me, domain);
    const wanted: Wanted[] = [];
    for (const { id, state } of records) {
      if (due()) await turn();
      if (state.type !== 'SOA' && !state.read_only && isSeen(state)) wanted.push(wantedOf(state, id));
    }
    return wanted;
  }

  private async copied(me: Caller, place: Place, fromId: number): Promise<Wanted[]> {
    const from = await this.policy.open(signedIn(me), fromId, 'read');
    await this.sync.refresh(from, 'system');
    const wanted: Wanted[] = [];
    for (const row of await this.cache.following(from.id)) {
      if (due()) await turn();
      const { type, host, read_only } = row;
      if (type === 'SOA' || read_only || (type === 'NS' && host === '@') || !mayRead(me, from)(row)) continue;
      const { remote_id: _, extra: _extra, ...state } = row;
      const line = place.definition.capabilities.lines.includes(row.line) ? row.line : 'default';
      wanted.push(wantedOf({ ...state, remote_id: null, extra: null, line }, undefined));
    }
    return wanted;
  }

  /** What brings the sets that somebody changed at the provider back to what is wanted of them. */
  private async back(me: Caller, domain: OpenDomain, rows: readonly CacheRow[], scope: Scope): Promise<Wish> {
    const wanted: Wanted[] = [];
    const names = new Set<string>();
    const isSeen = seenBy(me, domain);
    for await (const page of this.drift.all(domain.id)) {
      const sets = page.filter(scope);
      const states = await this.driftSets.wanted(sets.map(({ id }) => id));
      const held = await this.drift.held(domain.id, sets);
      for (const set of sets) {
        if (due()) await turn();
        const records = states.get(set.id) ?? [];
        const there = held.get(nameOf(set)) ?? [];
        if (![...records.map(({ state }) => state), ...there].every(isSeen)) continue;
        names.add(nameOf(set));
        wanted.push(...records.map(({ id, state }) => wantedOf(state, id)));
      }
    }
    const there = await sifted(rows, (row) => names.has(nameOf(row)));
    return toward(wanted, there, true);
  }

  /** What takes a change set back, as far as nobody has changed its records since. */
  private async undo(
    me: Caller,
    domain: OpenDomain,
    id: number,
    rows: readonly CacheRow[],
    scope: Scope,
  ): Promise<Wish> {
    const steps = await this.past.stepsOf(domain.id, id);
    if (!steps.length) throw errors.notFound('change_set');
    const isSeen = seenBy(me, domain);
    const isMeant = (state: ChangedState | null) => state === null || isSeen(state);
    const now = new Map(rows.map((row) => [row.id, row]));
    const edits: Edit[] = [];
    const warnings: string[] = [];
    let seen = 0;
    for (const { record_id, ...states } of steps) {
      if (due()) await turn();
      const before = stateOf(states.state_before, states.value_before);
      const after = stateOf(states.state_after, states.value_after);
      const shown = (after ?? before) as ChangedState;
      if (!isMeant(before) || !isMeant(after)) continue;
      seen++;
      if (!scope(shown)) continue;
      const isStanding = sameState(now.get(record_id) ?? null, after);
      if (isStanding) edits.push(reversed(record_id, before, after));
      else warnings.push(`${shown.type} ${shown.host} was changed since, and stays as it is`);
    }
    // a change set of which the caller may read nothing counts as absent
    if (!seen) throw errors.notFound('change_set');
    return { edits: deletionsFirst(edits), warnings, unchanged: 0, together: true };
  }
}

/** What makes a record again what it was before it became `after`. */
function reversed(id: number, before: ChangedState | null, after: ChangedState | null): Edit {
  if (!before) return { op: 'delete', id };
  if (!after) return { ...wantedOf(before, id), op: 'create' };
  return { op: 'update', id, patch: patchOf(withoutPastEnd(before)) };
}

/** What a plan of a caller may know of; a token with rules is shown nothing else, not by what it makes of it either. */
const seenBy = (me: Caller, domain: OpenDomain) => (readsAll(me, domain) ? () => true : mayRead(me, domain));

const butFor = (ttl: boolean): string => (ttl ? ' but for the TTL' : '');

/** The records of a body. @throws AppError 400001 naming all fields that are wrong */
const named = (place: Place, list: readonly RecordInput[]): Promise<Wanted[]> =>
  validList(RecordInput, list, 'records', (input, i) => ({
    ...(upsert(place, input) as Wanted),
    source: itemOf('records', i),
  }));

/**
 * The records of a document. What name servers read with a warning is read so, too: a line that says what an earlier
 * one has said counts once, and a set has the TTL of its first line, where the provider has one for a set. What is
 * read-only in the zone stands as it is.
 * @param isOpen whether the plan may touch a record
 * @throws AppError 400001 with all mistakes, each with its line
 */
async function written(
  place: Place,
  { format, text }: PlanDocument,
  warnings: string[],
  { rows, isOpen }: { rows: readonly CacheRow[]; isOpen: Scope },
): Promise<Written> {
  const { definition: provider, zone, defaultTtl: ttl } = place;
  const parsed = await parseDocument(format, text, zone, { provider, ttl, known: rows });
  const { records, errors: wrong, repeated } = parsed;
  const isThere = readOnlyAt(rows);
  const warn = (at: number, words: string) => {
    if (warnings.length < MAX_WARNINGS) warnings.push(`${LINE} ${at} ${words}`);
  };
  for (const one of records) {
    if (due()) await turn();
    if (!one.readOnly || !isOpen(one.record) || isThere(one)) continue;
    if (one.marked) warn(one.at, 'is read-only there, and left out: the zone has none that is the same');
    else wrong.push(mistakeAt({ line: one.at }, fieldError('type', NOT_MADE, 'unsupported'), one.input));
  }
  if (wrong.length) throw errors.validation(wrong.toSorted((a, b) => a.line - b.line));
  for (const [line, words] of counted(parsed)) warn(line, words);
  for (const { line, first, otherTtl } of repeated.slice(0, MAX_WARNINGS))
    warn(line, `says what line ${first} says${butFor(otherTtl)}, and counts once`);
  const made = await sifted(records, (one) => !one.readOnly && !isThere(one));
  const ignored = new Set(parsed.ignored.map(nameOf));
  return {
    wanted: await upserts(place, made, warn),
    isEmpty: records.every(({ record }) => isBare(record)),
    keeps: ({ host, type }) => SIGNER_TYPES.has(type) || ignored.has(nameOf({ host, type })),
  };
}

/** Warnings that are given once with their number of occurrences, by the line of the first one. */
function* counted({ leftAside, notes }: ParsedDocument): Generator<[line: number, words: string]> {
  const signed = leftAside.filter(({ type }) => SIGNER_TYPES.has(type));
  const types = [...new Set(signed.map(({ type }) => type))].toSorted().join(', ');
  if (signed[0])
    yield [signed[0].line, `and others: ${signed.length} records that signers maintain are left aside (${types})`];
  for (const { line, key, count } of notes) yield [line, `and others: ${NOTES[key](count)}`];
}

/** @param warn of a line whose TTL is not that of its set */
async function upserts(
  place: Place,
  records: readonly DocumentRecord[],
  warn: (at: number, words: string) => void,
): Promise<Wanted[]> {
  const { ttlOf, toggle } = place.definition.capabilities;
  const ttls = new Map<string, number>();
  const wanted: Wanted[] = [];
  for (const { at, input, record, isStored } of records) {
    if (due()) await turn();
    if (isStored) {
      wanted.push({ op: 'upsert', record, ttlGiven: false, remark: '', patch: {} });
      continue;
    }
    const one = upsert(place, input) as Wanted;
    one.source = { order: at, at: `document, line ${at}`, tell: (error) => mistakeAt({ line: at }, error, input) };
    wanted.push(one);
    const { host, type, line, enabled } = record;
    const isHeld = enabled || toggle === 'record';
    if (ttlOf !== 'set' || !isHeld || !one.ttlGiven) continue;
    const set = JSON.stringify([host, type, line]);
    const first = ttls.get(set) ?? one.record.ttl;
    ttls.set(set, first);
    if (first === one.record.ttl) continue;
    warn(at, `names another TTL for ${type} ${host} than its first line: that one counts, ${first}`);
    one.record.ttl = first;
    one.patch = { ...one.patch, ttl: first };
  }
  return wanted;
}

const NOT_MADE = 'records of this type are not made here, and the zone has none that is the same';

/** Whether a record is one of those that are read-only, in this form or another one. */
function readOnlyAt(rows: readonly CacheRow[]): (one: DocumentRecord) => boolean {
  const fixed = rows.filter((row) => row.read_only);
  const hosts = new Set(fixed.map(({ host }) => host));
  const keyOf = (host: string, type: string, rdata: string) => JSON.stringify([host, dataOf(type, rdata)]);
  const keys = new Set(fixed.map((row) => keyOf(row.host, row.type, row.value)));
  return ({ record: { host, type, ...record }, readOnly }) =>
    hosts.has(host) && keys.has(keyOf(host, type, readOnly ? record.value : rdataOf({ type, ...record })));
}

/** @param id that it had; undefined: it is another record */
function wantedOf(state: ChangedState | (CacheRow & { extra: null }), id: number | undefined): Wanted {
  const wanted = withoutPastEnd(state as ChangedState);
  const { host: _h, type: _t, value: _v, ...patch } = patchOf(wanted);
  return { op: 'upsert', ...creationOf(wanted), patch, ...(id !== undefined && { revives: id }) };
}

/** A record that comes back stays, where it would have ended by now. */
const withoutPastEnd = (state: ChangedState): ChangedState =>
  state.expires_at && state.expires_at <= now() ? { ...state, expires_at: null } : state;
