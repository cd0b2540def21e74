import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { XMLParser } from 'fast-xml-parser';
import { hostName } from '../../src/dns/names.js';
import { dnsRecord } from '../../src/dns/record.js';
import { derivedId } from '../../src/providers/kit/rrsets/record-set.js';
import type {
  Change,
  Credentials,
  DnsProvider,
  ProviderDefinition,
  ProviderError,
  RemoteRecord,
  RemoteZone,
} from '../../src/providers/provider.js';
import {
  type Answer,
  type Handler,
  type Interaction,
  type Received,
  type Recording,
  type Scenario,
  type Step,
  samplesDemanded,
} from './vendor.js';

/** The folder of recordings, in the format of `provider-recordings/README.md`. */
export const recordingsFolder = resolve(
  process.env.PROVIDER_RECORDINGS ?? `${process.env.ZONEWARD_SHARED ?? '../shared'}/provider-recordings`,
);

/** A reason to skip replays, or false. If a folder is configured, the recordings must exist. */
export const withoutRecordings: string | false =
  existsSync(recordingsFolder) || samplesDemanded || process.env.PROVIDER_RECORDINGS
    ? false
    : 'no recordings: set PROVIDER_RECORDINGS to a folder of them';

/** Names of the available recordings. */
export const recordingNames = (): string[] =>
  readdirSync(recordingsFolder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();

export const readRecording = (name: string): Recording =>
  JSON.parse(readFileSync(`${recordingsFolder}/${name}.json`, 'utf8')) as Recording;

/** A recorded or sent request with its body parsed: JSON, form and XML as objects, otherwise the text. */
export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
}

/**
 * A record of an answer in the service's form. `remoteId` only if the vendor has ids; the other fields if the vendor
 * has them.
 */
export interface Shown extends Partial<Pick<RemoteRecord, 'line' | 'enabled' | 'readOnly'>> {
  remoteId?: string | undefined;
  host: string;
  type: string;
  value: string;
  ttl: number;
}

/** State of a scenario when an unrecorded request arrives. */
export interface Course {
  zone: string;
  scenario: Scenario;
  /** Requests of the adapter so far; the last one is to be answered. */
  asked: readonly Asked[];
  /** Interactions recorded before the next write, sent or not, or before the recorded request in question. */
  known: readonly Interaction[];
}

/** An accepted difference between the recording and the adapter, with its reason; all are listed in one file. */
export interface Difference {
  what: string;
  reason: string;
  /** Restores parts removed from a scenario, as if recorded with the adapter. */
  restored?: (scenario: Scenario, zone: string) => Scenario;
  /** Removes the difference from a request, recorded or the adapter's own. */
  normal?: (asked: Asked, whose: 'recorded' | 'own', course: Course) => Asked;
  /** Splits a request of the adapter into those that the recorded client sent for it. */
  parts?: (asked: Asked, course: Course) => readonly Asked[] | undefined;
  /** Joins the answers to its parts, none of which was refused. */
  joined?: (answers: readonly Answer[], asked: Asked) => Answer | undefined;
  /** Body fields sent by the adapter but not by the recorded client. */
  more?: readonly string[];
  /**
   * Requests of the adapter whose query and body may omit recorded fields: a read any, a write those already known and
   * unchanged.
   */
  less?: (asked: Asked) => boolean;
  /** Answers a request that the recorded client did not send. */
  answer?: (asked: Asked, course: Course) => Answer | undefined;
  /** Adapts a recorded answer to what the adapter requested. */
  fitted?: (answer: Answer, asked: Asked, course: Course) => Answer;
  /** Whether a write that was recorded once may be repeated. */
  again?: (course: Course) => boolean;
  /** Recorded requests that the adapter does not send. */
  unsent?: (asked: Asked, course: Course) => boolean;
}

/** How the recordings of a provider kind are replayed: `test/providers/<kind>/replay.ts` exports one as `setup`. */
export interface ReplaySetup {
  definition: ProviderDefinition;
  /** File name in the folder, without `.json`. */
  recording: string;
  /** Credentials of the recorded requests, as far as requests show them. */
  credentials(endpoint: string, recording: Recording): Credentials;
  /** The recordings look zones up by name like the adapter's `findZone`, which is compared, too. */
  finds?: boolean;
  /** The prefix of recorded paths that the endpoint replaces. */
  base: string;
  /** Whether a request only reads; default: GET. */
  reads?: (asked: Asked) => boolean;
  /** Requests that poll the state of a write: their answers are returned in order. */
  looks?: (asked: Asked) => boolean;
  /** Records in the answer to a request; null if it lists none. */
  listed(asked: Asked, body: unknown, zone: string, scenario: Scenario): Shown[] | null;
  /** The id in the answer to a write; undefined if it has none. */
  written?: (asked: Asked, body: unknown) => string | undefined;
  /** Expected error of a scenario in which the account is refused; undefined for others. */
  refusal?: (scenario: Scenario) => ProviderError['kind'] | undefined;
  /** Whether the answer to a write is an error despite its status. */
  refused?: (body: unknown) => boolean;
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  trimValues: false,
});

/** TTL of a record for steps that omit it. */
export const STEP_TTL = 3600;

/** The fields of a record that steps specify. */
export type Wished = { type: unknown; host: unknown; value: unknown; ttl: unknown };

/** Whether a step expects such a record: unrecorded requests are answered only for these. */
export const isWished = ({ scenario }: Course, { type, host, value, ttl }: Wished): boolean =>
  (scenario.steps ?? []).some(
    (step) =>
      (step.op === 'create' || step.op === 'update') &&
      isDeepStrictEqual(
        [step.type, step.host, step.value, step.ttl ?? STEP_TTL].map(String),
        [type, host, value, ttl].map(String),
      ),
  );

/** A name, with or without final dot, relative to its zone. */
export function hostIn(name: string, zone: string): string {
  const bare = name.replace(/\.$/, '');
  return bare === zone ? '@' : bare.endsWith(`.${zone}`) ? bare.slice(0, -zone.length - 1) : bare;
}

/** Removes the quotes of a text, if it has any. */
export const unquoted = (text: string): string =>
  text.startsWith('"')
    ? [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, one = '']) => one.replace(/\\(.)/g, '$1')).join('')
    : text;

/** Whether a field had this value in a request or answer before the next write. */
export function isKnown({ asked, known }: Course, key: string, value: unknown): boolean {
  const holds = (node: unknown): boolean =>
    typeof node === 'object' &&
    node !== null &&
    Object.entries(node).some(([name, one]) => (name === key && isDeepStrictEqual(one, value)) || holds(one));
  const bodies = known.flatMap(({ request, response }) => [request.body, response.body]);
  return [...asked.slice(0, -1).map(({ body }) => body), ...bodies.map(readBody)].some(holds);
}

const NAMES = ['ALIAS', 'CNAME', 'MX', 'NS', 'PTR', 'SRV'];

/**
 * A recorded record with the final dot on its target. The recorded client sent targets as given; if the target ends
 * with a zone that the step did not name, the client appended its own.
 */
export const targetOf = (type: unknown, value: string, { scenario, zone }: Course): string => {
  if (!NAMES.includes(`${type}`)) return value;
  const bare = value.replace(/\.$/, '');
  const given = (scenario.steps ?? []).find((step) => step.type === type && bare === `${step.value}.${zone}`);
  return `${given?.value ?? bare}.`;
};

/**
 * The value of a record from its rdata in zone file form: texts without quotes, MX and SRV without preference.
 * @param zone to which names without a final dot are relative
 */
export function shownValue(type: string, rdata: string, zone: string): string {
  if (type === 'TXT') return unquoted(rdata);
  if (!NAMES.includes(type)) return rdata;
  const [name = '', ...before] = rdata.split(' ').reverse();
  const absolute = name === '@' ? zone : name.endsWith('.') ? name.slice(0, -1) || '.' : `${name}.${zone}`;
  return [...before.reverse().slice(['MX', 'SRV'].includes(type) ? 1 : 0), absolute].join(' ');
}

/** Parses a body of any format to an object. */
export function readBody(body: unknown): unknown {
  if (typeof body !== 'string') return body ?? undefined;
  const text = body.trim();
  if (text.startsWith('<')) return parser.parse(text);
  if (/^[{[]/.test(text)) return JSON.parse(text);
  return /^[^=\s]+=/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : text || undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** XML elements of one name as a list: none, one or several. */
export const elements = (node: unknown): Record<string, unknown>[] =>
  node === undefined || node === '' ? [] : ([node].flat() as Record<string, unknown>[]);

interface Entry {
  index: number;
  interaction: Interaction;
  asked: Asked;
  reads: boolean;
  served: boolean;
}

/** Plays one scenario: answers the adapter's requests from the recording, and collects what was compared. */
class Player {
  readonly misses: string[] = [];
  /** Answers since the last step. */
  given: { asked: Asked; body: unknown; status: number }[] = [];
  private readonly entries: Entry[];
  private readonly course: Course & { asked: Asked[]; known: readonly Interaction[] };
  private cursor = -1;
  /** Whether a value is among the new ones of the record that is updated. */
  changes: (value: unknown) => boolean = () => false;
  /** An unrecorded write was answered, so later reads were not recorded either. */
  private beyond = false;

  constructor(
    private readonly setup: ReplaySetup,
    private readonly differences: readonly Difference[],
    zone: string,
    recorded: Scenario,
  ) {
    const scenario = differences.reduce((one, { restored }) => restored?.(one, zone) ?? one, recorded);
    this.course = { zone, scenario, asked: [], known: [] };
    this.entries = scenario.interactions.map((interaction, index) => {
      this.course.known = scenario.interactions.slice(0, index);
      const url = new URL(interaction.request.url);
      const path = decodeURIComponent(
        url.pathname.startsWith(setup.base) ? url.pathname.slice(setup.base.length) : url.pathname,
      );
      const { method, body } = interaction.request;
      const query = Object.fromEntries(url.searchParams);
      const asked = this.normal({ method, path, query, body: readBody(body) }, 'recorded');
      return { index, interaction, asked, reads: this.isRead(asked), served: false };
    });
  }

  private normal(asked: Asked, whose: 'recorded' | 'own'): Asked {
    return this.differences.reduce((one, { normal }) => normal?.(one, whose, this.course) ?? one, asked);
  }

  private isRead(asked: Asked): boolean {
    return this.setup.reads?.(asked) ?? asked.method === 'GET';
  }

  private matches(own: Asked, { asked: recorded }: Entry): boolean {
    const less = this.differences.some((one) => one.less?.(own));
    const more = new Set(this.differences.flatMap((one) => one.more ?? []));
    const free = (key: string, value: unknown) =>
      this.isRead(own) || (isKnown(this.course, key, value) && !this.changes(value));
    const fitting = (mine: object, theirs: object) => [
      Object.fromEntries(Object.entries(mine).filter(([key]) => key in theirs || !more.has(key))),
      Object.fromEntries(Object.entries(theirs).filter(([key, value]) => key in mine || !less || !free(key, value))),
    ];
    const [query, theirQuery] = fitting(own.query, recorded.query);
    const both = isObject(own.body) && isObject(recorded.body);
    const [body, theirBody] = both ? fitting(own.body as object, recorded.body as object) : [own.body, recorded.body];
    return isDeepStrictEqual({ ...own, query, body }, { ...recorded, query: theirQuery, body: theirBody });
  }

  readonly handler: Handler = (request: Received) => {
    const path = decodeURIComponent(request.path);
    const { method, query } = request;
    const write = this.entries.find((entry) => !entry.reads && entry.index > this.cursor);
    this.course.known = this.course.scenario.interactions.slice(0, write?.index);
    const whole = this.normal({ method, path, query, body: readBody(request.body) }, 'own');
    const parts = this.differences.reduce<readonly Asked[]>(
      (all, difference) => all.flatMap((one) => difference.parts?.(one, this.course) ?? [one]),
      [whole],
    );
    const answers = parts.map((own) => {
      this.course.asked.push(own);
      const answer = this.answer(own);
      this.given.push({ asked: own, body: answer.body, status: answer.status ?? 200 });
      return answer;
    });
    const refusal = answers.find(({ status = 200 }) => status >= 300);
    if (refusal) return refusal;
    const joined = this.differences.map((one) => one.joined?.(answers, whole)).find(Boolean);
    return joined ?? (answers.at(-1) as Answer);
  };

  private answer(own: Asked): Answer {
    const matching = this.entries.filter((entry) => entry.reads === this.isRead(own) && this.matches(own, entry));
    const made = () => {
      for (const { answer } of this.differences) {
        const found = answer?.(own, this.course);
        if (found) return found;
      }
      return undefined;
    };
    let entry: Entry | undefined;
    if (this.setup.looks?.(own)) {
      entry = matching.find((e) => !e.served) ?? matching.at(-1);
    } else if (this.isRead(own)) {
      // the recorded state between the previous and the next write, otherwise the nearest
      const next =
        this.entries.find((e) => !e.reads && e.index > this.cursor && !this.isUnsent(e))?.index ??
        Number.POSITIVE_INFINITY;
      entry = this.beyond ? undefined : matching.find((e) => e.index > this.cursor && e.index < next);
      if (!entry) {
        const answer = made();
        if (answer) return answer;
        entry = matching.findLast((e) => e.index < next) ?? matching[0];
      }
    } else {
      entry = matching.find((e) => !e.served);
      if (entry) this.cursor = Math.max(this.cursor, entry.index);
    }
    if (!entry) {
      const answer = made();
      if (answer) {
        this.beyond ||= !this.isRead(own) && !this.isRefusal(answer);
        return answer;
      }
      if (this.differences.some((one) => one.again?.(this.course))) entry = matching.at(-1);
    }
    if (!entry) {
      const alike = this.entries.filter((e) => e.asked.method === own.method && e.reads === this.isRead(own));
      const near = alike.length ? alike : this.entries;
      this.misses.push(
        `not recorded:\n  ${JSON.stringify(own)}\nrecorded:\n  ${near.map((e) => JSON.stringify(e.asked)).join('\n  ')}`,
      );
      return { status: 501, body: 'not recorded' };
    }
    entry.served = true;
    const { status, headers, body } = entry.interaction.response;
    const answer: Answer = { status, headers, ...(body === null || status === 204 ? {} : { body }) };
    return this.differences.reduce((one, { fitted }) => fitted?.(one, own, this.course) ?? one, answer);
  }

  private isUnsent({ asked, index }: Entry): boolean {
    const course = { ...this.course, known: this.course.scenario.interactions.slice(0, index) };
    return this.differences.some((one) => one.unsent?.(asked, course));
  }

  /** Recorded writes that the adapter did not send. */
  left(): string[] {
    return this.entries.filter((e) => !e.reads && !e.served && !this.isUnsent(e)).map((e) => JSON.stringify(e.asked));
  }

  /** Records listed in answers since the last step. */
  shown(): Shown[] {
    const { zone, scenario } = this.course;
    const all = this.given.flatMap(({ asked, body, status }) =>
      status >= 200 && status < 300 ? (this.setup.listed(asked, readBody(body), zone, scenario) ?? []) : [],
    );
    return [...new Map(all.map(canonical).map((one) => [JSON.stringify(one), one])).values()];
  }

  /** Whether the last write was refused by a recorded answer. */
  refused(): boolean {
    const last = this.given.findLast(({ asked }) => !this.isRead(asked));
    return !!last && this.isRefusal(last);
  }

  private isRefusal({ status = 200, body }: Answer): boolean {
    return status >= 400 || !!this.setup.refused?.(readBody(body));
  }

  /** Ids in answers to writes since the last step. */
  ids(): string[] {
    return this.given.flatMap(({ asked, body, status }) => {
      const id = !this.isRead(asked) && status < 300 ? this.setup.written?.(asked, readBody(body)) : undefined;
      return id === undefined ? [] : [id];
    });
  }
}

/** The compared fields of a listed record: common ones, and those of this setup. */
const short = (one: RemoteRecord | Shown, more: readonly (keyof Shown)[]) =>
  (['host', 'type', 'value', 'ttl', ...more] as const).map((field) => one[field] ?? null);
/** Canonical addresses and names, which vendors return as they were sent. */
const canonical = (one: Shown): Shown => ({
  ...{ ...one, host: one.host.toLowerCase() },
  value:
    one.type === 'AAAA'
      ? new URL(`http://[${one.value}]`).hostname.slice(1, -1)
      : NAMES.includes(one.type)
        ? one.value.toLowerCase()
        : one.value,
});
const text = (one: unknown) => JSON.stringify(one);

/** How much was compared: a replay without comparisons proves nothing. */
export interface Compared {
  zones: number;
  ids: number;
  records: number;
  writes: number;
  refusals: number;
}

/**
 * Runs the recorded steps with an adapter, and compares each request with the recorded ones, ids with those of recorded
 * answers, and lists with the recorded answers.
 * @param open connects the adapter to the replaying server
 */
export async function playScenario(
  setup: ReplaySetup,
  differences: readonly Difference[],
  zoneName: string,
  scenario: Scenario,
  open: (handler: Handler) => DnsProvider,
): Promise<Compared> {
  const player = new Player(setup, differences, zoneName, scenario);
  const compared: Compared = { zones: 0, ids: 0, records: 0, writes: 0, refusals: 0 };
  const derived = setup.definition.capabilities.ids === 'derived';
  const provider = open(player.handler);
  const record = ({ host = '@', type = 'TXT', value = '', ttl = STEP_TTL }: Step) =>
    // some recordings have a CNAME that points to itself
    ({ ...dnsRecord({ host: 'any', type, value, ttl }, zoneName), host: hostName(host, zoneName) });

  async function carryOut(zone: RemoteZone, changes: Change[]) {
    const outcomes = await provider.apply(zone, changes);
    for (const [i, outcome] of outcomes.entries()) {
      const change = changes[i] as Change;
      if (!outcome.ok && change.op === 'update' && player.refused()) {
        compared.writes++;
        compared.refusals++;
        continue;
      }
      assert.ok(outcome.ok, `${change.op}: ${outcome.ok ? '' : outcome.error.message}`);
      compared.writes++;
      if (change.op === 'delete') {
        assert.equal(outcome.remoteId, null);
        continue;
      }
      const { after } = change;
      const told = derived
        ? [derivedId(after)]
        : [
            ...player.ids(),
            ...player.shown().flatMap((one) => (one.value === after.value && one.remoteId ? [one.remoteId] : [])),
          ];
      assert.ok(told.includes(String(outcome.remoteId)), `the id ${outcome.remoteId} is none of ${text(told)}`);
      compared.ids++;
    }
  }

  try {
    const kind = setup.refusal?.(scenario);
    if (kind) {
      await assert.rejects(provider.listZones(), { kind });
      compared.refusals++;
      return compared;
    }
    const zones = await provider.listZones();
    const zone = zones.find((z) => z.name === zoneName);
    const wanted = (scenario.steps ?? []).filter((step) => step.op === 'find-zone');
    for (const step of wanted) {
      const name = step.zone ?? zoneName;
      const there = zones.some((z) => z.name === name);
      assert.equal(
        there,
        step.expect !== 'error',
        `${name} is ${there ? '' : 'not '}among ${text(zones.map((z) => z.name))}`,
      );
      compared.zones++;
      if (setup.finds) assert.equal((await provider.findZone?.(name))?.name, there ? name : undefined);
    }
    for (const step of scenario.steps ?? []) {
      if (step.op === 'find-zone') continue;
      assert.ok(zone, `${zoneName} is among the zones ${text(zones)}`);
      player.given = [];
      if (step.op === 'create') {
        await carryOut(zone, [{ op: 'create', after: record(step) }]);
        continue;
      }
      const listed = await provider.listRecords(zone);
      const shown = player.shown();
      const own = derived ? [] : (['remoteId'] as const);
      const more = [...own, ...(['line', 'enabled', 'readOnly'] as const).filter((key) => shown.some((r) => key in r))];
      const order = (list: (RemoteRecord | Shown)[]) => list.map((one) => text(short(one, more))).sort();
      assert.deepEqual(order(listed), order(shown), `${step.op}: what is listed is what was answered`);
      compared.records += listed.length + 1;
      if (step.op === 'list') continue;
      const host = step.from ?? step.host;
      const found = listed.filter(
        (r) =>
          r.host === host &&
          r.type === step.type &&
          (step.op !== 'delete' || step.value === undefined || r.value === step.value),
      );
      assert.ok(found.length > 0, `${step.op}: ${host} is not listed`);
      player.given = [];
      const differs = (one: RemoteRecord) => one.host !== step.host || one.value !== step.value;
      if (step.op === 'delete') {
        await carryOut(
          zone,
          found.map((before) => ({ op: 'delete', before })),
        );
        continue;
      }
      const [before, after] = [found.find(differs) ?? (found[0] as RemoteRecord), record(step)];
      player.changes = (value) =>
        (before.value !== after.value && unquoted(`${value}`).replace(/\.$/, '') === after.value) ||
        (before.host !== after.host && hostIn(`${value}`, zoneName) === after.host) ||
        (before.ttl !== after.ttl && `${value}` === `${after.ttl}`);
      await carryOut(zone, [{ op: 'update', before, after }]);
      player.changes = () => false;
    }
  } finally {
    assert.deepEqual(player.misses, [], player.misses.join('\n'));
  }
  assert.deepEqual(player.left(), [], 'recorded writes that the adapter did not send');
  return compared;
}
