import { Injectable } from '@nestjs/common';
import { givesWay } from '../../changes/edits/record-rules.js';
import { PastRepository } from '../../changes/history/past.repository.js';
import type { ChangedState } from '../../changes/history/states.js';
import { fullName, hostmasterOf } from '../../dns/names.js';
import { MANAGED_TYPES } from '../../dns/record.js';
import { wireDataOf } from '../../dns/record-data.js';
import { CLASS, RCODE, TYPE, type WireRecord } from '../../dns/wire.js';
import { rdataToWire, typeNumber } from '../../dns/wire-rdata.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { due, turn } from '../../platform/common/turns.js';
import { providerOf } from '../../providers/registry.js';
import { VersionReader } from '../../records/history/version-reader.service.js';
import { SettingsService } from '../../settings/settings.service.js';
import { DnsFault } from './dns-request.js';

/** Octets of records in one message of a transfer. */
const MESSAGE_BYTES = 16_384;
/** Octets of data that a message of 64 KiB has room for beside a header, a question, a name and a signature. */
const MOST_RDATA = 64_000;
const LINE = 'default';
/** Changes that are told as differences: those of each page are sorted anew, and of many the whole zone is shorter. */
const MOST_CHANGES = 5000;
/** Seconds of the SOA: when secondaries look again, after a failure, when they give up, and its own TTL. */
const SOA_TIMES = '3600 600 1209600 300';
const SOA_TTL = 3600;
/** Octets of a record beside its name and its data. */
const FIXED = 10;

/** A zone at one of its versions. */
interface Served {
  domain: OpenDomain;
  soa: WireRecord;
  /** whether a record is in DNS */
  isShown: (state: ChangedState) => boolean;
}

/** Zones as secondaries are told them: by their versions, whose numbers are the serials. */
@Injectable()
export class DnsTransfers {
  constructor(
    private readonly versions: VersionReader,
    private readonly past: PastRepository,
    private readonly settings: SettingsService,
  ) {}

  /** The SOA of a domain: its serial is the number of its newest version. */
  async soa({ id, name }: Pick<OpenDomain, 'id' | 'name'>): Promise<WireRecord> {
    return this.soaAt(name, Math.max(1, await this.past.newest(id)));
  }

  /**
   * The whole zone (RFC 5936), or what became of it since a serial (RFC 1995), in pieces that fit a message each.
   * Records that are changed meanwhile are told as they were. The whole zone, too, where its history does not reach so
   * far back, tells of too much, or cannot tell which records have left DNS: those that give way to others are still
   * there.
   * @throws DnsFault SERVFAIL where a record has no form in DNS or fits no message: without it the zone is another one
   */
  async *pieces(domain: OpenDomain, serial: number | null): AsyncGenerator<WireRecord[]> {
    const newest = await this.past.newest(domain.id);
    if (!newest)
      throw new DnsFault(RCODE.SERVFAIL, `the records of ${domain.name} were not read from its provider yet`);
    const soa = await this.soaAt(domain.name, newest);
    // the same or a newer one (RFC 1982), which is the client's to mend (RFC 1995 section 2)
    if (serial !== null && ((newest - serial) | 0) <= 0) {
      yield [soa];
      return;
    }
    const zone = { domain, soa, isShown: await this.shownIn(domain, newest) };
    const isKnown = serial !== null && (await this.isTold(domain, serial, newest));
    yield* packed(isKnown ? this.since(zone, serial, newest) : this.whole(zone, newest));
  }

  /** Whether differences are told from this version on. */
  private async isTold({ id, provider }: OpenDomain, from: number, to: number): Promise<boolean> {
    if (from >= to || providerOf(provider)?.capabilities.yields || !(await this.past.one(id, from))) return false;
    return (await this.past.countBetween(id, from, to)) <= MOST_CHANGES;
  }

  private async *whole({ domain, soa, isShown }: Served, version: number): AsyncGenerator<WireRecord> {
    yield soa;
    for await (const page of this.versions.pages(domain.id, version))
      for (const { state } of page) {
        if (due()) await turn();
        if (isShown(state)) yield wireOf(state, domain.name);
      }
    yield soa;
  }

  /** One difference: what goes, then what comes (RFC 1995 section 4). */
  private async *since({ domain, soa, isShown }: Served, from: number, to: number): AsyncGenerator<WireRecord> {
    yield soa;
    for (const side of ['before', 'after'] as const) {
      yield side === 'before' ? await this.soaAt(domain.name, from) : soa;
      for await (const difference of this.versions.between(domain.id, from, to)) {
        if (due()) await turn();
        const state = difference[side];
        if (state && isShown(state)) yield wireOf(state, domain.name);
      }
    }
    yield soa;
  }

  /** Which records are in DNS: of sets with records of the vendor's own that give way, those that do not. */
  private async shownIn({ id, provider }: OpenDomain, version: number): Promise<(state: ChangedState) => boolean> {
    const isPlain = ({ enabled, line, type }: ChangedState) => enabled && line === LINE && !MANAGED_TYPES.has(type);
    const capabilities = providerOf(provider)?.capabilities;
    if (!capabilities?.yields) return isPlain;
    const own = new Set<string>();
    for await (const page of this.versions.pages(id, version))
      for (const { state } of page) if (!givesWay(state, capabilities)) own.add(`${state.host} ${state.type}`);
    return (state) => isPlain(state) && (!givesWay(state, capabilities) || !own.has(`${state.host} ${state.type}`));
  }

  private async soaAt(zone: string, serial: number): Promise<WireRecord> {
    const { hostname } = new URL(await this.settings.publicUrl());
    // an address is no name of a server
    const server = /^[a-z][a-z0-9.-]*$/i.test(hostname) ? `${hostname}.` : '.';
    const rdata = rdataToWire('SOA', `${server} ${hostmasterOf(zone)} ${serial} ${SOA_TIMES}`);
    return { name: `${zone}.`, type: TYPE.SOA, class: CLASS.IN, ttl: SOA_TTL, rdata };
  }
}

/** @throws DnsFault */
function wireOf(state: ChangedState, zone: string): WireRecord {
  const { host, type, ttl } = state;
  const name = fullName(host, zone);
  const rdata = wireDataOf(state);
  if (rdata && rdata.length <= MOST_RDATA)
    return { name: `${name}.`, type: typeNumber(type), class: CLASS.IN, ttl, rdata };
  throw new DnsFault(RCODE.SERVFAIL, `the record ${name} ${type} has no form in which it could be transferred`);
}

/** Records in pieces of about one message. */
async function* packed(records: AsyncIterable<WireRecord>): AsyncGenerator<WireRecord[]> {
  let piece: WireRecord[] = [];
  let size = 0;
  for await (const record of records) {
    const own = record.name.length + 1 + FIXED + record.rdata.length;
    if (piece.length && size + own > MESSAGE_BYTES) {
      yield piece;
      piece = [];
      size = 0;
    }
    piece.push(record);
    size += own;
  }
  yield piece;
}
