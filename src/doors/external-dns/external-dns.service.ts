import { Injectable } from '@nestjs/common';
import { type Caller, type Principal, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import type { StoredRecord } from '../../cache/record-cache.js';
import { doorOf } from '../../changes/change-sets.js';
import { creation, type Edit, type NewRecord, Places, type Place as Words } from '../../changes/edits/edit.js';
import { ChangeEngine } from '../../changes/engine.service.js';
import { mayRead } from '../../changes/history/who.js';
import { type Edits, Planner } from '../../changes/planner.js';
import { bareName, fullName, hostName, namesAbove } from '../../dns/names.js';
import { type DnsRecord, sameRecord, shownValue } from '../../dns/record.js';
import { assertMay } from '../../domains/access-rights.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { AppError, errors, InvalidRecord } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { AllowedRecords } from '../../records/allowed-records.js';
import { RecordsService } from '../../records/records.service.js';
import { served } from '../../records/served.js';
import { DoorNames } from '../kit/door-names.service.js';
import { type Endpoint, endpointOf, inOrder, listOf, type Named, TYPES, targetOf, wantedOf } from './endpoints.js';

const PAGE = 500;
const LINE = 'default';

/** One set of a request: what goes of it, and what shall be there. */
interface SetWish {
  host: string;
  type: string;
  /** records by target, in the form of `targetOf`; null: the target is invalid */
  gone: Map<string, DnsRecord | null>;
  made: NewRecord[];
}

/** A domain of ours, with what the targets of its endpoints are read by. */
interface Opened {
  domain: OpenDomain;
  words: Words;
}

/** The zones that may be read, by name; null: several have it, and nobody could say which is meant. */
type Zones = Map<string, number | null>;

/** What one request knows of zones. */
interface Known {
  zones: Zones;
  opened: Map<number, Promise<Opened>>;
}

/** What a request asks for in one domain. */
interface Part {
  domain: OpenDomain;
  sets: Map<string, SetWish>;
}

@Injectable()
export class ExternalDnsService {
  constructor(
    private readonly domains: DomainsService,
    private readonly policy: DomainPolicy,
    private readonly records: RecordsService,
    private readonly readable: AllowedRecords,
    private readonly names: DoorNames,
    private readonly places: Places,
    private readonly planner: Planner,
    private readonly engine: ChangeEngine,
    private readonly audit: AuditService,
  ) {}

  /** The zones that a client keeps to. @throws AppError 403 where it has none: an empty list would stand for all */
  async filter(me: Caller): Promise<{ include: string[] }> {
    const zones = await this.zones(signedIn(me));
    const include = [...zones].flatMap(([zone, id]) => (id === null ? [] : [zone]));
    if (!include.length) throw errors.forbidden('no_zone');
    return { include };
  }

  /** All sets that may be read. @param gone whether nobody waits for them any more */
  async list(me: Caller, gone: () => boolean): Promise<Endpoint[]> {
    const principal = signedIn(me);
    const zones = await this.zones(principal);
    const all: Endpoint[] = [];
    for (const [zone, id] of zones) {
      if (id === null) continue;
      const domain = await this.records.fresh(await this.policy.open(principal, id, 'read'));
      const rows: StoredRecord[] = [];
      const order = { where: 'domain_id = ?', values: [id], order: 'host ASC, id ASC' };
      for await (const page of this.readable.all(domain, order, gone)) rows.push(...page.filter(isShown));
      for (const [first, ...more] of (await setsOf(served(domain.provider, rows))).values()) {
        if (due()) await turn();
        const dnsName = fullName(first.host, zone);
        // a name belongs to the zone that is nearest to it
        if (zoneOf(zones, dnsName) !== zone) continue;
        const targets = inOrder([first, ...more].map(targetOf));
        const recordTTL = Math.min(first.ttl, ...more.map(({ ttl }) => ttl));
        all.push({ dnsName, targets, recordType: first.type, recordTTL });
      }
    }
    return all;
  }

  /** Endpoints in the form in which they come back once they are made; what cannot be made stays as it is. */
  async adjusted(me: Caller, body: unknown): Promise<object[]> {
    const known = await this.known(me);
    const list = [];
    for (const [i, one] of listOf(body, 'endpoints').entries()) {
      if (due()) await turn();
      list.push(await this.adjust(me, known, one, i));
    }
    return list;
  }

  private async adjust(me: Caller, known: Known, one: Record<string, unknown>, at: number): Promise<object> {
    // what no record can hold would never come back
    const { providerSpecific: _, ...plain } = one;
    try {
      const endpoint = endpointOf(one, String(at));
      // whoever applies it is told why its name is in no zone
      if (zoneOf(known.zones, bareName(endpoint.dnsName)) === undefined) return plain;
      const { host, domain, words } = await this.placeOf(me, known, endpoint);
      const { minTtl, maxTtl, automaticTtl } = words.definition.capabilities;
      const { recordTTL: ttl } = endpoint;
      const fit = ttl === undefined || ttl === automaticTtl ? ttl : Math.min(Math.max(ttl, minTtl), maxTtl);
      const records = readTargets(words, host, { ...endpoint, ...(fit && { recordTTL: fit }) });
      const targets = inOrder(records.map(({ record }) => targetOf(record)));
      return { ...plain, dnsName: fullName(host, domain.name), targets, ...(fit && { recordTTL: fit }) };
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return plain;
      throw error;
    }
  }

  /**
   * Changes what a request names, and nothing else: all of it is judged before any of it is done, and what is done in
   * one domain is done as a whole.
   * @throws AppError 400001, 403001, 409001, …; ProviderError
   */
  async apply(me: Caller, body: unknown): Promise<void> {
    const parts = await this.partsOf(me, body);
    if (!parts.length) this.audit.notNeeded(me);
    for (const part of parts) {
      const { planned } = await this.planner.preview(me, part.domain, editsOf(me, part));
      const misfit = planned.find(({ error }) => error);
      if (!misfit?.error) continue;
      const { edit, before, after } = misfit;
      const { host } = before ?? after ?? ('record' in edit ? edit.record : { host: '@' });
      me.asked = { name: fullName(host, part.domain.name), domain: part.domain };
      throw misfit.error;
    }
    for (const part of parts) {
      const options = { door: doorOf(me), comment: '', atomic: true };
      const { results } = await this.engine.whole(me, part.domain, editsOf(me, part), options);
      for (const result of results) if (!result.ok) throw result.error;
    }
  }

  private async partsOf(me: Caller, body: unknown): Promise<Part[]> {
    const { gone, made } = await wantedOf(body);
    const known = await this.known(me);
    const parts = new Map<number, Part>();
    const wishOf = async (endpoint: Named) => {
      const { domain, host, words } = await this.placeOf(me, known, endpoint);
      const type = endpoint.recordType.toUpperCase();
      if (!TYPES.has(type)) throw errors.field(`${endpoint.path}.recordType`, 'is none that ExternalDNS knows');
      const part = once(parts, domain.id, (): Part => ({ domain, sets: new Map() }));
      const wish = once(part.sets, `${host} ${type}`, (): SetWish => ({ host, type, gone: new Map(), made: [] }));
      return { wish, words };
    };
    for (const endpoint of gone) {
      if (due()) await turn();
      const { wish, words } = await wishOf(endpoint);
      for (const target of endpoint.targets) wish.gone.set(...formOf(words, wish, target));
    }
    for (const endpoint of made) {
      if (due()) await turn();
      const { wish, words } = await wishOf(endpoint);
      for (const one of readTargets(words, wish.host, endpoint))
        if (!wish.made.some(({ record }) => sameRecord(record, one.record))) wish.made.push(one);
    }
    return [...parts.values()];
  }

  /** @throws AppError 400001, 409001; 403001 where the name is in no zone of the caller */
  private async placeOf(me: Caller, known: Known, { dnsName, path }: Named): Promise<Opened & { host: string }> {
    const name = bareName(dnsName);
    const field = `${path}.dnsName`;
    const zone = zoneOf(known.zones, name);
    const id = zone === undefined ? null : known.zones.get(zone);
    // whoever looks it up finds why it is none
    if ((id ?? null) === null) return this.opened((await this.names.of(me, name, field)).domain, name, field);
    const opened = await once(known.opened, id as number, async () => {
      const domain = await this.policy.open(signedIn(me), id as number, 'read');
      return { domain, words: await this.places.of(domain) };
    });
    return { ...opened, host: hostName(`${name}.`, opened.domain.name, field) };
  }

  private async opened(domain: OpenDomain, name: string, field: string): Promise<Opened & { host: string }> {
    return { domain, words: await this.places.of(domain), host: hostName(`${name}.`, domain.name, field) };
  }

  private async known(me: Caller): Promise<Known> {
    return { zones: await this.zones(signedIn(me)), opened: new Map() };
  }

  private async zones(principal: Principal): Promise<Zones> {
    const zones: Zones = new Map();
    for (let page = 1, left = true; left; page += 1) {
      const { total, list } = await this.domains.list(principal, { page, limit: PAGE, sort: 'id' });
      // a private zone is not what public names are in
      for (const { id, name, private: apart } of list) if (!apart) zones.set(name, zones.has(name) ? null : id);
      left = page * PAGE < total;
    }
    return zones;
  }
}

const isShown = (row: StoredRecord): boolean => TYPES.has(row.type) && row.line === LINE && row.enabled;

/** The zone that a name belongs to: the longest of those at or above it. */
const zoneOf = (zones: Zones, name: string): string | undefined => namesAbove(name).find((zone) => zones.has(zone));

function once<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}

/** Where a mistake of a record stands in an endpoint. */
const FIELDS: Record<string, string> = { host: 'dnsName', type: 'recordType', ttl: 'recordTTL' };

/** The records of an endpoint. @throws InvalidRecord naming the field of the request */
function readTargets(words: Words, host: string, endpoint: Endpoint & { path?: string }): NewRecord[] {
  const { targets, recordType: type, recordTTL: ttl, path = '' } = endpoint;
  return targets.map((value, i) => {
    try {
      return creation(words, { host, type: type.toUpperCase(), value, ttl });
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error;
      throw new InvalidRecord(
        error.mistakes.map((one) => ({ ...one, path: `${path}.${FIELDS[one.path] ?? `targets.${i}`}` })),
      );
    }
  });
}

/** A target in the form of `targetOf`, and its record. An invalid target is kept: a provider may hold it like that. */
function formOf(words: Words, { host, type }: SetWish, value: string): [string, DnsRecord | null] {
  try {
    const { record } = creation(words, { host, type, value });
    return [targetOf(record), record];
  } catch (error) {
    if (error instanceof InvalidRecord) return [value, null];
    throw error;
  }
}

async function setsOf(rows: readonly StoredRecord[]): Promise<Map<string, [StoredRecord, ...StoredRecord[]]>> {
  const sets = new Map<string, [StoredRecord, ...StoredRecord[]]>();
  for (const row of rows) {
    if (due()) await turn();
    const key = `${row.host} ${row.type}`;
    const set = sets.get(key);
    if (set) set.push(row);
    else sets.set(key, [row]);
  }
  return sets;
}

/** The list of a domain, worked out by the records that are there when it is carried out. */
function editsOf(me: Caller, { domain, sets }: Part): Exclude<Edits, readonly Edit[]> {
  const wishes = [...sets.values()];
  const isSeen = mayRead(me, domain);
  return {
    hosts: [...new Set(wishes.map(({ host }) => host))],
    sets: wishes.map(({ host, type }) => ({ host, type, line: LINE })),
    of: async (rows) => {
      const here = await setsOf(served(domain.provider, rows).filter(isShown));
      const edits = [];
      for (const wish of wishes) {
        if (due()) await turn();
        edits.push(editsOfSet(domain, here.get(`${wish.host} ${wish.type}`) ?? [], isSeen, wish));
      }
      // what goes makes room first: a CNAME for addresses
      return [...edits.flatMap(({ gone }) => gone), ...edits.flatMap(({ made }) => made)];
    },
  };
}

function editsOfSet(
  domain: OpenDomain,
  rows: readonly StoredRecord[],
  isSeen: (row: StoredRecord) => boolean,
  { host, type, gone, made }: SetWish,
) {
  const isWanted = (row: DnsRecord) => made.some(({ record }) => sameRecord(record, row));
  // a record that may not be read counts as absent, so that no answer confirms a guess
  const going = rows.filter((row) => isSeen(row) && !isWanted(row) && gone.has(targetOf(row)));
  const found = new Set(going.map(targetOf));
  for (const [target, record] of gone)
    if (record && !found.has(target) && !isWanted(record)) assertMay(domain.access, domain.id, 'delete', record);
  const others = rows.filter((row) => !isWanted(row) && !going.includes(row));
  const seen = others.filter(isSeen);
  // values that the client did not name: TXT records of others stay beside its own
  if (made.length && type !== 'TXT' && seen.length)
    throw errors.conflict('set_of_others', { name: fullName(host, domain.name), type });
  const missing = made.filter(({ record }) => !rows.some((row) => sameRecord(record, row)));
  const kept = made.filter((one) => !missing.includes(one));
  const moved = missing.splice(0, going.length).map(({ record, ttlGiven }, i): Edit => {
    const { priority, ttl } = record;
    const patch = { value: shownValue(record), ...(priority !== null && { priority }), ...(ttlGiven && { ttl }) };
    return { op: 'update', id: (going[i] as StoredRecord).id, patch };
  });
  const named = ({ record, ttlGiven }: NewRecord) => ({ enabled: true, ...(ttlGiven && { ttl: record.ttl }) });
  return {
    gone: going.slice(moved.length).map(({ id }): Edit => ({ op: 'delete', id })),
    made: [...moved, ...[...kept, ...missing].map((one): Edit => ({ op: 'upsert', ...one, patch: named(one) }))],
  };
}
