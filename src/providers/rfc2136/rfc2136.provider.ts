import { Buffer } from 'node:buffer';
import { isIPv6 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fullName, zoneName } from '../../dns/names.js';
import { DEFAULT_TTL, fromRdata } from '../../dns/record.js';
import { TSIG_ALGORITHMS, type TsigKey } from '../../dns/tsig.js';
import { RCODE, type ReadRecord, TYPE, textOf } from '../../dns/wire.js';
import { nameToWire, rdataToWire, typeName, typeNumber } from '../../dns/wire-rdata.js';
import { InvalidRecord } from '../../platform/common/errors.js';
import { fromRrsets, type RrsetVerbs } from '../kit/rrsets/from-rrsets.js';
import { derivedId, type RecordSet, type SetKey } from '../kit/rrsets/record-set.js';
import {
  type Connect,
  type Credentials,
  type DnsProvider,
  listed,
  ProviderError,
  type RemoteRecord,
  type RemoteZone,
} from '../provider.js';
import { DnsClient, type DnsServer, prerequisite, rcodeError, replacement } from './client.js';
import { type Condition, conditions } from './conditions.js';

export const connect: Connect = (credentials, context) => {
  const { host, port } = serverOf(credentials);
  const server: DnsServer = { host, port, timeoutMs: context.timeoutMs, resolve: (name) => context.resolve(name) };
  return new Rfc2136(new DnsClient(server, keyOf(credentials)), zonesOf(credentials));
};

const refuse = (message: string): never => {
  throw new ProviderError('rejected', message);
};

function serverOf({ endpoint, server, port }: Credentials): { host: string; port: number } {
  const given = endpoint?.trim().replace(/^dns:\/\/|\/$/g, '') || undefined;
  if (!given) return { host: server ?? '', port: portOf(port) };
  if (isIPv6(given)) return { host: given, port: portOf(port) };
  const match = /^(\[[0-9a-f:.]+\]|[^:\s/[\]]+)(?::(\d+))?$/i.exec(given);
  if (!match) return refuse('endpoint: must be host, host:port or dns://host:port');
  return { host: match[1] as string, port: portOf(match[2] ?? port) };
}

function portOf(text: string | undefined): number {
  const port = Number(text ?? 53);
  return Number.isInteger(port) && port > 0 && port < 65536 ? port : refuse('port: must be a number from 1 to 65535');
}

function keyOf(credentials: Credentials): TsigKey {
  const { tsig_name: name = '', tsig_algorithm: algorithm = 'hmac-sha256', tsig_secret: base64 = '' } = credentials;
  if (!TSIG_ALGORITHMS.includes(algorithm)) refuse(`tsig_algorithm: must be one of ${TSIG_ALGORITHMS.join(', ')}`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) refuse('tsig_secret: must be base64');
  try {
    nameToWire(name);
  } catch {
    refuse('tsig_name: must be a domain name such as zoneward-key');
  }
  return { name, algorithm, secret: Buffer.from(base64, 'base64') };
}

function zonesOf({ zones }: Credentials): string[] {
  try {
    const names = listed(zones).map((name) => zoneName(name, 'zones'));
    return names.length ? [...new Set(names)] : refuse('zones: must name at least one zone');
  } catch (error) {
    if (error instanceof InvalidRecord) return refuse(error.message);
    throw error;
  }
}

function wireOf(set: RecordSet): Buffer[] {
  try {
    return set.members.map((m) => rdataToWire(set.type, m.rdata));
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** records of a transfer that are read before others have their turn */
const TURN = 500;

/** More sets than this are read by one transfer of the zone instead of each by queries. */
const MANY_SETS = 10;

class Rfc2136 implements DnsProvider, RrsetVerbs {
  readonly apply = fromRrsets(this);

  constructor(
    private readonly client: DnsClient,
    private readonly zones: string[],
  ) {}

  async check(): Promise<void> {
    await this.verifyZone(this.zones[0] as string);
  }

  async listZones(): Promise<RemoteZone[]> {
    await Promise.all(this.zones.map((name) => this.verifyZone(name)));
    return this.zones.map((name) => ({ id: name, name }));
  }

  async listRecords(zone: RemoteZone): Promise<RemoteRecord[]> {
    const records = new Map<string, RemoteRecord>();
    for (const [i, read] of (await this.client.transfer(zone.name)).entries()) {
      if (i % TURN === TURN - 1) await nextTurn();
      const record = toRecord(read, zone.name);
      // values that differ in spelling only are one record
      if (record && !records.has(record.remoteId)) records.set(record.remoteId, record);
    }
    return [...records.values()];
  }

  /** Reading at one moment is safe, since writing is conditional on what was read. */
  async readSets(zone: RemoteZone, keys: SetKey[]): Promise<RecordSet[]> {
    if (keys.length <= MANY_SETS) return Promise.all(keys.map((key) => this.readSet(zone, key)));
    return this.transferred(zone, keys);
  }

  /** Sets as a transfer of the zone has them. */
  private async transferred(zone: RemoteZone, keys: readonly SetKey[]): Promise<RecordSet[]> {
    const wanted = new Map(keys.map((key) => [keyFor(zone.name, key), [] as ReadRecord[]]));
    const types = new Set(keys.map(({ type }) => typeNumber(type)));
    for (const [i, read] of (await this.client.transfer(zone.name)).entries()) {
      if (i % TURN === TURN - 1) await nextTurn();
      if (types.has(read.type)) wanted.get(`${read.type} ${nameOrThrow(read).toLowerCase()}`)?.push(read);
    }
    return keys.map((key) => setOf(wanted.get(keyFor(zone.name, key)) ?? [], zone.name, key));
  }

  /**
   * A query is cheap but shows names through a wildcard that do not exist, and hides what lies below a delegation. What
   * it says is therefore put to the server as a prerequisite, which looks at the zone's own data; when it does not
   * hold, the zone is transferred.
   */
  private async readSet(zone: RemoteZone, { host, type }: SetKey): Promise<RecordSet> {
    // for the NS of a delegation a server that has the child zone too would answer with the child's
    if (type !== 'NS' || host === '@') {
      const name = fullName(host, zone.name);
      const answer = await this.client.query(name, typeNumber(type));
      if (answer.authoritative && (answer.rcode === RCODE.NOERROR || answer.rcode === RCODE.NXDOMAIN)) {
        const set = setOf(answer.sections[0], zone.name, { host, type });
        if (await this.holds(zone, [set])) return set;
      }
    }
    const [set] = await this.transferred(zone, [{ host, type }]);
    return set as RecordSet;
  }

  async replaceSets(zone: RemoteZone, sets: RecordSet[], was: RecordSet[]): Promise<boolean> {
    if (sets.some((set) => set.type === 'NS' && set.host === '@' && set.members.length === 0)) {
      refuse('The zone must keep at least one NS record at its apex');
    }
    const steps = sets.map((set, i) => {
      const name = fullName(set.host, zone.name);
      const apexNs = set.type === 'NS' && set.host === '@';
      const movesTtl = set.ttl !== was[i]?.ttl;
      return replacement(
        { name, type: typeNumber(set.type), ttl: set.ttl, movesTtl },
        wireOf(set),
        wireOf(was[i] as RecordSet),
        apexNs,
      );
    });
    const updates = (['before', 'additions', 'after'] as const).flatMap((part) => steps.flatMap((step) => step[part]));
    const needed = conditions(zone.name, sets, was);
    const prerequisites = [...this.prerequisites(zone, was), ...needed.map((one) => one.prerequisite)];
    if ((await this.client.update(zone.name, prerequisites, updates)) !== RCODE.NOERROR) {
      await this.assertHold(zone, needed);
      return false;
    }
    await this.verifyWritten(zone, sets, was).catch((error: ProviderError) => {
      throw error.kind === 'rejected' ? error : new ProviderError(error.kind, error.message, true);
    });
    return true;
  }

  /**
   * Servers ignore a CNAME beside other data, and other data beside a CNAME, without a word (RFC 2136 section 3.4.2.2).
   * It can happen to sets only that were not there before: look whether they are there now.
   */
  private async verifyWritten(zone: RemoteZone, sets: RecordSet[], was: RecordSet[]): Promise<void> {
    const fresh = sets.filter((set, i) => set.members.length > 0 && was[i]?.members.length === 0);
    if (fresh.length === 0 || (await this.holds(zone, fresh))) return;
    const now = await this.transferred(zone, fresh);
    for (const [i, set] of fresh.entries()) {
      // one that holds something else was changed by another writer right after
      if (now[i]?.members.length) continue;
      throw new ProviderError(
        'rejected',
        `The server ignored the change of ${set.type} ${fullName(set.host, zone.name)}: ${
          set.type === 'NS'
            ? 'it takes no NS at a wildcard, or a CNAME is there'
            : 'CNAME and other data exclude each other'
        }`,
        sets.length > 1,
      );
    }
  }

  private async assertHold(zone: RemoteZone, needed: readonly Condition[]): Promise<void> {
    const test = (list: readonly Condition[]) =>
      this.client.update(
        zone.name,
        list.map((one) => one.prerequisite),
        [],
      );
    if (!needed.length || (await test(needed)) === RCODE.NOERROR) return;
    for (const one of needed) if ((await test([one])) !== RCODE.NOERROR) refuse(one.words);
  }

  private async holds(zone: RemoteZone, sets: RecordSet[]): Promise<boolean> {
    return (await this.client.update(zone.name, this.prerequisites(zone, sets), [])) === RCODE.NOERROR;
  }

  private prerequisites(zone: RemoteZone, sets: RecordSet[]) {
    return sets.flatMap((set) => prerequisite(fullName(set.host, zone.name), typeNumber(set.type), wireOf(set)));
  }

  private async verifyZone(name: string): Promise<void> {
    const answer = await this.client.query(name, TYPE.SOA).catch((error: ProviderError) => {
      throw new ProviderError(error.kind, `Zone ${name}: ${error.message}`, false);
    });
    if (answer.rcode !== RCODE.NOERROR) throw rcodeError(answer.rcode, `Zone ${name}`);
    const soa = answer.sections[0].some((r) => r.type === TYPE.SOA && nameOrThrow(r).toLowerCase() === `${name}.`);
    if (!answer.authoritative || !soa) {
      throw new ProviderError('not_found', `Zone ${name}: the server does not serve it`);
    }
  }
}

function toRecord(read: ReadRecord, zone: string): RemoteRecord | null {
  const record = fromRdata(nameOrThrow(read), typeName(read.type), rdataOrThrow(read), read.ttl, zone);
  return record && { ...record, remoteId: derivedId(record) };
}

const broken = (what: string) => new ProviderError('unavailable', `${what}: the server sent broken data`, false);

function nameOrThrow(read: ReadRecord): string {
  try {
    return read.name;
  } catch {
    throw broken('A name');
  }
}

function rdataOrThrow(read: ReadRecord): string {
  try {
    return textOf(read);
  } catch {
    throw broken(`${nameOrThrow(read)} ${typeName(read.type)}`);
  }
}

/** A set among all of a zone, as its records have type and name. */
const keyFor = (zone: string, { host, type }: SetKey): string => `${typeNumber(type)} ${fullName(host, zone)}.`;

function setOf(records: readonly ReadRecord[], zone: string, { host, type }: SetKey): RecordSet {
  const set: RecordSet = { host, type, ttl: DEFAULT_TTL, members: [] };
  const name = `${fullName(host, zone)}.`;
  const number = typeNumber(type);
  for (const read of records) {
    if (read.type !== number || nameOrThrow(read).toLowerCase() !== name) continue;
    const record = toRecord(read, zone);
    if (!record) continue;
    if (set.members.length === 0) set.ttl = read.ttl;
    set.members.push({ remoteId: record.remoteId, rdata: rdataOrThrow(read), enabled: true });
  }
  return set;
}
