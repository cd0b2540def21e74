import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { XMLParser } from 'fast-xml-parser';
import { dnsRecord } from '../../src/dns/record.js';
import type {
  Change,
  Credentials,
  DnsProvider,
  ProviderDefinition,
  RemoteRecord,
  RemoteZone,
} from '../../src/providers/provider.js';
import { derivedId } from '../../src/providers/rrset.js';
import type { Answer, Handler, Interaction, Received, Recording, Scenario, Step } from './vendor.js';

/** The folder of recordings: any in the form that `provider-recordings/README.md` describes. */
export const recordingsFolder = resolve(
  process.env.PROVIDER_RECORDINGS ?? `${process.env.ZONEWARD_SHARED ?? '../shared'}/provider-recordings`,
);

/** A reason to skip replays, or false. In CI, and where a folder is named, the recordings have to be there. */
export const withoutRecordings: string | false =
  existsSync(recordingsFolder) || process.env.CI || process.env.PROVIDER_RECORDINGS
    ? false
    : 'no recordings: set PROVIDER_RECORDINGS to a folder of them';

/** Names of the recordings that there are. */
export const recordingNames = (): string[] =>
  readdirSync(recordingsFolder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();

export const readRecording = (name: string): Recording =>
  JSON.parse(readFileSync(`${recordingsFolder}/${name}.json`, 'utf8')) as Recording;

/** A request, as recorded or as sent, with its body read: JSON, form and XML as objects, else the text. */
export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
}

/** A record as an answer shows it, in the form of the service. `remoteId` where the vendor gives ids. */
export interface Shown {
  remoteId?: string;
  host: string;
  type: string;
  value: string;
  ttl: number;
}

/** What a scenario has been through when a request comes that was not recorded. */
export interface Course {
  zone: string;
  scenario: Scenario;
  /** requests of the adapter so far, the last is the one to answer */
  asked: readonly Asked[];
}

/** One difference between what was recorded and what the adapter does, and why it is right. Listed in one file. */
export interface Difference {
  what: string;
  reason: string;
  /** takes the difference out of a request, whosever it is */
  normal?: (asked: Asked, whose: 'recorded' | 'own') => Asked;
  /** fields of a body that the adapter sends and the recorded client did not */
  more?: readonly string[];
  /** requests of the adapter of which the body may have less than the recorded one */
  less?: (asked: Asked) => boolean;
  /** what answers a request of the adapter that the recorded client did not send */
  answer?: (asked: Asked, course: Course) => Answer | undefined;
  /** recorded requests that the adapter does not send */
  unsent?: (asked: Asked, course: Course) => boolean;
}

/** How the recordings of a kind are played: a file of `test/providers/replays` exports one as `setup`. */
export interface ReplaySetup {
  definition: ProviderDefinition;
  /** name of the file in the folder, without `.json` */
  recording: string;
  credentials(endpoint: string): Credentials;
  /** the part of recorded paths that the endpoint stands for */
  base: string;
  /** whether a request only reads; default: GET */
  reads?: (asked: Asked) => boolean;
  /** records in the answer to a request; null where it lists none */
  listed(asked: Asked, body: unknown, zone: string): Shown[] | null;
  /** the id in the answer to a write; undefined where it tells none */
  written?: (asked: Asked, body: unknown) => string | undefined;
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  trimValues: false,
});

/** A body as an object, whatever its form. */
export function readBody(body: unknown): unknown {
  if (typeof body !== 'string') return body ?? undefined;
  const text = body.trim();
  if (text.startsWith('<')) return parser.parse(text);
  if (/^[{[]/.test(text)) return JSON.parse(text);
  return /^[^=\s]+=/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : text || undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Elements of one name in a document of XML, be there none, one or several. */
export const elements = (node: unknown): Record<string, unknown>[] =>
  node === undefined || node === '' ? [] : ([node].flat() as Record<string, unknown>[]);

interface Entry {
  index: number;
  interaction: Interaction;
  asked: Asked;
  reads: boolean;
  served: boolean;
}

/** Plays one scenario: answers what an adapter asks with what was recorded, and keeps what was compared. */
class Player {
  readonly misses: string[] = [];
  /** what was answered since the last step */
  given: { asked: Asked; body: unknown; status: number }[] = [];
  private readonly entries: Entry[];
  private readonly course: Course & { asked: Asked[] };
  private cursor = -1;
  /** a write that was not recorded was answered: what is read after it was not recorded either */
  private beyond = false;

  constructor(
    private readonly setup: ReplaySetup,
    private readonly differences: readonly Difference[],
    zone: string,
    scenario: Scenario,
  ) {
    this.course = { zone, scenario, asked: [] };
    this.entries = scenario.interactions.map((interaction, index) => {
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
    return this.differences.reduce((one, { normal }) => normal?.(one, whose) ?? one, asked);
  }

  private isRead(asked: Asked): boolean {
    return this.setup.reads?.(asked) ?? asked.method === 'GET';
  }

  private matches(own: Asked, { asked: recorded }: Entry): boolean {
    let body = own.body;
    let theirs = recorded.body;
    if (isObject(body) && isObject(theirs)) {
      const there = theirs;
      const more = new Set(this.differences.flatMap((one) => one.more ?? []));
      body = Object.fromEntries(Object.entries(body).filter(([key]) => key in there || !more.has(key)));
      const mine = body as object;
      const less = this.differences.some((one) => one.less?.(own));
      if (less) theirs = Object.fromEntries(Object.entries(there).filter(([key]) => key in mine));
    }
    return isDeepStrictEqual({ ...own, body }, { ...recorded, body: theirs });
  }

  readonly handler: Handler = (request: Received) => {
    const path = decodeURIComponent(request.path);
    const own = this.normal(
      { method: request.method, path, query: request.query, body: readBody(request.body) },
      'own',
    );
    this.course.asked.push(own);
    const answer = this.answer(own);
    this.given.push({ asked: own, body: answer.body, status: answer.status ?? 200 });
    return answer;
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
    if (this.isRead(own)) {
      // as the zone was between the write before and the write after, else nearest to that
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
      entry = matching.find((e) => !e.served) ?? matching.at(-1);
      if (entry) this.cursor = Math.max(this.cursor, entry.index);
    }
    if (!entry) {
      const answer = made();
      if (answer) {
        this.beyond ||= !this.isRead(own);
        return answer;
      }
      const alike = this.entries.filter((e) => e.asked.method === own.method && e.reads === this.isRead(own));
      const near = alike.length ? alike : this.entries;
      this.misses.push(
        `not recorded:\n  ${JSON.stringify(own)}\nrecorded:\n  ${near.map((e) => JSON.stringify(e.asked)).join('\n  ')}`,
      );
      return { status: 501, body: 'not recorded' };
    }
    entry.served = true;
    const { status, headers, body } = entry.interaction.response;
    return { status, headers, ...(body === null || status === 204 ? {} : { body }) };
  }

  private isUnsent({ asked }: Entry): boolean {
    return this.differences.some((one) => one.unsent?.(asked, this.course));
  }

  /** Recorded writes that the adapter did not send. */
  left(): string[] {
    return this.entries.filter((e) => !e.reads && !e.served && !this.isUnsent(e)).map((e) => JSON.stringify(e.asked));
  }

  /** Records that were listed in answers since the last step. */
  shown(): Shown[] {
    const all = this.given.flatMap(({ asked, body, status }) =>
      status >= 200 && status < 300 ? (this.setup.listed(asked, readBody(body), this.course.zone) ?? []) : [],
    );
    return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  }

  /** Ids that answers to writes told since the last step. */
  ids(): string[] {
    return this.given.flatMap(({ asked, body, status }) => {
      const id = !this.isRead(asked) && status < 300 ? this.setup.written?.(asked, readBody(body)) : undefined;
      return id === undefined ? [] : [id];
    });
  }
}

const short = ({ remoteId, host, type, value, ttl }: RemoteRecord | Shown) => ({ remoteId, host, type, value, ttl });
const text = (one: unknown) => JSON.stringify(one);

/** How much was compared: a replay that compares nothing is worth nothing. */
export interface Compared {
  zones: number;
  ids: number;
  records: number;
  writes: number;
}

/**
 * Has an adapter do what the recording client was asked to do, and compares each request with the recorded ones, ids
 * with those of the recorded answers, and lists with what the recorded answers hold.
 * @param open connects the adapter to what answers as recorded
 */
export async function playScenario(
  setup: ReplaySetup,
  differences: readonly Difference[],
  zoneName: string,
  scenario: Scenario,
  open: (handler: Handler) => DnsProvider,
): Promise<Compared> {
  const player = new Player(setup, differences, zoneName, scenario);
  const compared: Compared = { zones: 0, ids: 0, records: 0, writes: 0 };
  const derived = setup.definition.capabilities.ids === 'derived';
  const provider = open(player.handler);
  const record = ({ host = '@', type = 'TXT', value = '', ttl = 3600 }: Step) =>
    dnsRecord({ host, type, value, ttl }, zoneName);

  async function carryOut(zone: RemoteZone, changes: Change[]) {
    const outcomes = await provider.apply(zone, changes);
    for (const [i, outcome] of outcomes.entries()) {
      const change = changes[i] as Change;
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
      const order = (list: (RemoteRecord | Shown)[]) =>
        list
          .map(short)
          .map(({ remoteId, ...rest }) => text(derived ? rest : { ...rest, remoteId }))
          .sort();
      assert.deepEqual(order(listed), order(player.shown()), `${step.op}: what is listed is what was answered`);
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
      const change = (before: RemoteRecord): Change =>
        step.op === 'delete' ? { op: 'delete', before } : { op: 'update', before, after: record(step) };
      await carryOut(zone, step.op === 'delete' ? found.map(change) : [change(found[0] as RemoteRecord)]);
    }
  } finally {
    assert.deepEqual(player.misses, [], player.misses.join('\n'));
  }
  assert.deepEqual(player.left(), [], 'recorded writes that the adapter did not send');
  return compared;
}
