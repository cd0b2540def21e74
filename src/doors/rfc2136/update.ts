import { relativeName } from '../../dns/names.js';
import { type DnsRecord, isKnownType, readRdata, readRecord, shownValue } from '../../dns/record.js';
import { CLASS, type Message, RCODE, type ReadRecord, TYPE } from '../../dns/wire.js';
import { typeName } from '../../dns/wire-rdata.js';
import { due, turn } from '../../platform/common/turns.js';
import { DnsFault } from './dns-request.js';

/** What an UPDATE says (RFC 2136), with names relative to its zone. */

/** What has to hold before anything is changed: of a name (`type` null), of a set, or of the values of a set. */
export interface Prerequisite {
  host: string;
  type: string | null;
  isThere: boolean;
  /** the set holds these and nothing else */
  values?: readonly Named[];
}

/** What a record holds, as it is stored. */
export type Content = Pick<DnsRecord, 'host' | 'type' | 'value' | 'priority' | 'line'>;

/** A record with its data. */
export interface Named {
  record: Content;
  /** why its data was not read into the form of its type, in which it is stored; null: it was */
  misfit: string | null;
}

export type Step =
  | ({ op: 'add'; ttl: number } & Named)
  | ({ op: 'delete' } & Named)
  | { op: 'delete-set'; host: string; type: string }
  | { op: 'delete-name'; host: string };

export interface Update {
  prerequisites: Prerequisite[];
  steps: Step[];
}

/** Types that no record has: those of questions and of the message itself (RFC 6895 section 3.1). */
const isMeta = (type: number): boolean => type === 0 || type === TYPE.OPT || (type >= 128 && type <= 255);

const malformed = (text: string): DnsFault => new DnsFault(RCODE.FORMERR, text);

/** @throws DnsFault FORMERR, NOTZONE; RangeError when it is malformed */
export async function readUpdate({ sections: [first, second] }: Message, zone: string): Promise<Update> {
  const prerequisites: Prerequisite[] = [];
  const values = new Map<string, Named[]>();
  for (const record of first) {
    if (due()) await turn();
    const one = prerequisiteOf(record, zone, values);
    if (one) prerequisites.push(one);
  }
  const steps: Step[] = [];
  for (const record of second) {
    if (due()) await turn();
    steps.push(stepOf(record, zone));
  }
  return { prerequisites, steps };
}

function hostOf({ name }: ReadRecord, zone: string): string {
  const host = relativeName(name, zone);
  if (host === null) throw new DnsFault(RCODE.NOTZONE, `${name} is not inside the zone ${zone}`);
  return host;
}

function contentOf(record: ReadRecord, host: string, zone: string): Named {
  const type = typeName(record.type);
  const plain = { host, type, value: record.text, priority: null, line: 'default' };
  const read = readRdata(record.name, type, record.text, record.ttl, zone);
  if (!read) return { record: plain, misfit: null };
  const { value, priority, readOnly, readOnlyReason } = read.record;
  return { record: { ...plain, value, priority }, misfit: readOnly ? (readOnlyReason ?? '') : null };
}

/** Content of a record that is added, as of one that a client of the API creates. */
function asNew({ record, misfit }: Named, zone: string): Named {
  if (misfit !== null || !isKnownType(record.type)) return { record, misfit };
  const { host, type, priority } = record;
  const read = readRecord({ host, type, value: shownValue(record), priority }, zone, { host });
  const [mistake] = read.mistakes;
  return mistake ? { record, misfit: mistake.message } : { record: { ...record, value: read.record.value }, misfit };
}

const isEmpty = ({ rdataStart, rdataEnd }: ReadRecord): boolean => rdataStart === rdataEnd;

/** RFC 2136 section 3.2. @param values of sets that are compared, each with one prerequisite */
function prerequisiteOf(record: ReadRecord, zone: string, values: Map<string, Named[]>): Prerequisite | null {
  const { type, class: of } = record;
  if (record.ttl !== 0) throw malformed('a prerequisite has a TTL');
  const host = hostOf(record, zone);
  if (of === CLASS.ANY || of === CLASS.NONE) {
    if (!isEmpty(record)) throw malformed('a prerequisite of class ANY or NONE has data');
    const isThere = of === CLASS.ANY;
    if (type === TYPE.ANY) return { host, type: null, isThere };
    if (isMeta(type)) throw malformed('a prerequisite is of a type that no record has');
    return { host, type: typeName(type), isThere };
  }
  if (of !== CLASS.IN || isMeta(type)) throw malformed('a prerequisite is of a class or type that no record has');
  const key = `${host} ${type}`;
  const known = values.get(key);
  const content = contentOf(record, host, zone);
  if (known) {
    known.push(content);
    return null;
  }
  const all = [content];
  values.set(key, all);
  return { host, type: typeName(type), isThere: true, values: all };
}

/** RFC 2136 section 3.4.1. */
function stepOf(record: ReadRecord, zone: string): Step {
  const { type, class: of, ttl } = record;
  const host = hostOf(record, zone);
  if (of === CLASS.ANY) {
    if (ttl !== 0 || !isEmpty(record)) throw malformed('a deletion of a set has a TTL or data');
    if (type === TYPE.ANY) return { op: 'delete-name', host };
    if (isMeta(type)) throw malformed('a deletion is of a type that no record has');
    return { op: 'delete-set', host, type: typeName(type) };
  }
  if ((of !== CLASS.IN && of !== CLASS.NONE) || isMeta(type))
    throw malformed('an update is of a class or type that no record has');
  const content = contentOf(record, host, zone);
  if (of === CLASS.IN) return { op: 'add', ttl, ...asNew(content, zone) };
  if (ttl !== 0) throw malformed('a deletion of a record has a TTL');
  return { op: 'delete', ...content };
}
