import type { StoredRecord } from '../../cache/record-cache.js';
import { bareName, fullName } from '../../dns/names.js';
import { fromRdata } from '../../dns/record.js';
import { sameValueOf } from '../../dns/record-data.js';
import { typeName, typeNumber } from '../../dns/types.js';
import { RCODE, type ReadRecord, readableTexts, TYPE } from '../../dns/wire.js';
import { isUnderstood } from '../../dns/wire-rdata.js';
import type { Reply } from '../../platform/dns-client/dns-client.service.js';
import type { Status } from './propagation.dto.js';

/** What DNS should say of a record set: the enabled records of one name and type. */
export interface Wanted {
  host: string;
  type: string;
  /** absolute name and type to ask for */
  question: { name: string; type: number };
  /** canonical values of each routing line; none at all: the set should not be there */
  lines: ReadonlySet<string>[];
  /** the values are those of a wildcard above, which answers where nothing is at the name: they may be there */
  covered: boolean;
  /**
   * `same`: a server should answer with the values of a line; `some`: with some of them (weighted records are answered
   * in turns); `any`: with anything (what the vendor makes of it is not known here)
   */
  compare: 'same' | 'some' | 'any';
}

/** Types whose answer a vendor makes: an alias is answered with addresses. */
const MADE: ReadonlySet<string> = new Set(['ALIAS']);

const keyOf = (record: Parameters<typeof sameValueOf>[0]) => `${record.priority ?? ''} ${sameValueOf(record)}`;

/** The wildcards that may answer for a host, the closest first (RFC 4592). */
export function wildcardsOf(host: string): string[] {
  const labels = host.split('.');
  return host === '@' ? [] : labels.map((_, i) => ['*', ...labels.slice(i + 1)].join('.'));
}

/** @param rows all records of the domain at that name, and at its wildcards */
export function wanted(zone: string, host: string, type: string, rows: readonly StoredRecord[]): Wanted {
  const owner = [host, ...wildcardsOf(host)].find((one) => rows.some((row) => row.host === one && row.enabled));
  const enabled = rows.filter((row) => row.host === owner && row.type === type && row.enabled);
  const lines = new Map<string, Set<string>>();
  for (const row of enabled) lines.set(row.line, (lines.get(row.line) ?? new Set()).add(keyOf(row)));
  // a CNAME cannot be at the apex: a vendor that takes one answers with addresses
  const made = MADE.has(type) || enabled.some((row) => row.proxied || (type === 'CNAME' && row.host === '@'));
  const weighted = type !== 'SRV' && enabled.some((row) => row.weight !== null);
  return {
    host,
    type,
    question: { name: fullName(host, zone), type: made ? TYPE.A : typeNumber(type) },
    lines: [...lines.values()],
    covered: owner !== host,
    compare: made || !isUnderstood(type) ? 'any' : weighted ? 'some' : 'same',
  };
}

/** The status of a record set by an answer. `ttl` in seconds, null when it holds nothing of the kind. */
export function judge(want: Wanted, zone: string, reply: Reply): { status: Status; ttl: number | null } {
  const owner = want.question.name;
  const isOurs = ({ type, name }: ReadRecord) => type === want.question.type && bareName(name) === owner;
  const [answer, authority, additional] = reply.sections;
  const below = reply.authoritative ? [] : [...authority, ...additional];
  const found = reply.rcode === RCODE.NOERROR ? [...answer, ...below].filter(isOurs) : [];
  // addresses in place of an alias have its owner, or that of its target
  const made = want.compare === 'any' ? answer.filter(({ type }) => type === want.question.type) : found;
  const ttl = made.length ? Math.min(...made.map((record) => record.ttl)) : null;
  if (!want.lines.length) return { status: found.length ? 'stale' : 'published', ttl };
  // a name in between, which is not checked here, would hide the wildcard (RFC 4592)
  if (!made.length && want.covered) return { status: 'published', ttl };
  if (!made.length) return { status: isElsewhere(answer, owner) ? 'stale' : 'missing', ttl };
  if (want.compare === 'any') return { status: 'published', ttl };
  // an answer with more values differs anyway: thousands of them are not compared one by one
  const most = 2 * Math.max(...want.lines.map(({ size }) => size));
  if (found.length > most) return { status: 'stale', ttl };
  const there = new Set(
    found.flatMap((record) => {
      const [rdata = null] = readableTexts([record]);
      const read = rdata !== null && fromRdata(record.name, typeName(record.type), rdata, record.ttl, zone);
      // what cannot be read is something else, anyway
      return read ? keyOf(read) : ['unreadable'];
    }),
  );
  const fits = want.lines.some((values) =>
    want.compare === 'some' ? isWithin(there, values) : isWithin(there, values) && there.size === values.size,
  );
  return { status: fits ? 'published' : 'stale', ttl };
}

const isWithin = (some: ReadonlySet<string>, all: ReadonlySet<string>) => [...some].every((one) => all.has(one));

/** There is an alias at the name instead of what was asked for. */
const isElsewhere = (answer: readonly ReadRecord[], owner: string) =>
  answer.some(({ type, name }) => type === TYPE.CNAME && bareName(name) === owner);
