import { fullName, toAscii } from '../../dns/names.js';
import { quoteBytes, tokens, txtFromPresentation, txtPresentation } from '../../dns/text.js';
import { following } from '../kit/http/deadline-context.js';
import { cutShort, ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { leastWork, type PlainSet, plainSets, recordsIn, setsAt, withSoa } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetMember } from '../kit/rrsets/record-set.js';
import { refusing } from '../kit/rrsets/refusing.js';
import { refuseText } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (documentation of 2022 to 2026): names absolute without final dot, parts of rdata by name. */
type ApiRecord = { name: string; type: string; ttl: number; disabled?: boolean; rData: Record<string, unknown> } & {
  comments?: string;
  expiryTtl?: number;
  glueRecords?: string;
};
type ApiZone = { name: string; type: string; internal?: boolean };
type Answer<T> = { status?: string; errorMessage?: string; response?: T } | null | undefined;
type Form = Record<string, string | number | boolean | undefined>;

const PARTS: Readonly<Record<string, readonly string[]>> = {
  ...{ A: ['ipAddress'], AAAA: ['ipAddress'], CNAME: ['cname'], NS: ['nameServer'], PTR: ['ptrName'] },
  ...{ ANAME: ['aname'], TXT: ['text'], MX: ['preference', 'exchange'], CAA: ['flags', 'tag', 'value'] },
  SRV: ['priority', 'weight', 'port', 'target'],
};
const GONE = /does not exists? to be updated/;
// servers before 2026 keep other characters as question marks, and say yes
const LIMITS = { never: [[/^$/, 'no text at all'] as const, [/[^ -~]/, 'other characters than ASCII'] as const] };

export const connect: Connect = ({ url = '', endpoint, token }, context) => {
  const http = context.http.extend({
    baseUrl: `${(endpoint || url).replace(/\/+$/, '').replace(/\/api$/, '')}/api`,
    failed: (body) => (body as Answer<unknown>)?.status !== 'ok',
    errorMessage: (body) => (body as Answer<unknown>)?.errorMessage,
    errorKind(status, body) {
      const { status: word, errorMessage = '' } = (body ?? {}) as NonNullable<Answer<unknown>>;
      if (word === 'invalid-token' || /access was denied/i.test(errorMessage)) return 'auth';
      if (/no such (authoritative )?zone|no authoritative zone/i.test(errorMessage)) return 'not_found';
      return word !== 'error' && status < 300 ? 'unavailable' : undefined;
    },
  });
  // the token in the form: servers before 2025 know no header, and addresses are logged
  const call = async <T>(path: string, form: Form, more: { reads?: boolean; idempotent?: boolean }): Promise<T> => {
    const answer = await http.post<Answer<T>>(path, { form: { token, ...form }, ...more });
    if (!answer?.response) throw cutShort('response');
    return answer.response;
  };
  const read = async (zone: RemoteZone, host: string, listZone: boolean): Promise<PlainSet[]> => {
    const form = { domain: fullName(host, zone.name), zone: zone.name, listZone };
    return plainSets(
      (await call<{ records?: ApiRecord[] }>('/zones/records/get', form, { reads: true })).records,
      plain,
    );
  };
  const whole = async (zone: RemoteZone) => withSoa(await read(zone, '@', true), zone.name);
  const some = async (zone: RemoteZone, keys: readonly { host: string }[]) =>
    (await Promise.all([...new Set(keys.map(({ host }) => host))].map((host) => read(zone, host, false)))).flat();
  const least = leastWork(some, async function* (zone) {
    yield await whole(zone);
  });
  const zones = async () => {
    const all = await allPages<ApiZone>(
      (zone) => zone.name,
      async ({ page: pageNumber }) => {
        const form = { pageNumber, zonesPerPage: 100 };
        const list = await call<{ zones?: ApiZone[]; totalZones?: number }>('/zones/list', form, { reads: true });
        const { zones: entries, totalZones: total } = list;
        // servers of 2022 answer all at once
        return total === undefined ? { entries, next: null } : { entries, total };
      },
    );
    // what is copied or forwarded from elsewhere is not written here
    return all.filter(({ type, internal }) => type === 'Primary' && !internal).map(({ name }) => remoteZone(name));
  };

  /** Makes a set as it shall be, value by value: what is to be disabled first, so that none of it goes live. */
  async function replaceSet(zone: RemoteZone, set: RecordSet, was: RecordSet): Promise<boolean> {
    const { type } = set;
    const ttlOf = ({ ttl = set.ttl }: SetMember) => ttl;
    const wasTtl = ({ ttl = was.ttl }: SetMember) => ttl;
    const known = (m: SetMember) => was.members.find((old) => old.remoteId === m.remoteId);
    const fresh = set.members.filter((m) => !known(m));
    const gone = was.members.filter((old) => !set.members.some((m) => m.remoteId === old.remoteId));
    // a value that takes another's place is an update: that which was made of it, else any
    const pairs = fresh.flatMap((m) => {
      const at = Math.max(
        0,
        gone.findIndex((old) => old.raw !== undefined && old.raw === m.raw),
      );
      return gone.splice(at, 1).map((old) => [old, m] as const);
    });
    const added = fresh.filter((m) => !pairs.some(([, made]) => made === m));
    const stay = set.members.flatMap((m) => {
      const old = known(m);
      return old && (ttlOf(m) !== wasTtl(old) || old.enabled !== m.enabled) ? [[old, m] as const] : [];
    });
    const changes = [...pairs, ...stay].sort(([, a], [, b]) => Number(a.enabled) - Number(b.enabled));
    // a value with another TTL makes the server forget of all others that they are disabled (source of 2025)
    if (set.ttl !== was.ttl && set.members.filter((m) => known(m) && !m.enabled).length > 1) {
      const words = `Technitium would switch on disabled values of ${type} ${set.host} for a moment: enable them first`;
      throw new ProviderError('rejected', words, false);
    }
    const base = { zone: zone.name, domain: fullName(set.host, zone.name), type: apiType(type) };
    const update = (old: SetMember, now: SetMember) =>
      call('/zones/records/update', { ...base, ...fields(type, old), ...change(type, old, now), ttl: ttlOf(now) }, {});
    const add = (m: SetMember) =>
      call(
        '/zones/records/add',
        { ...base, ...fields(type, m), ...m.extra, ttl: ttlOf(m), overwrite: false },
        { idempotent: true },
      );
    const remove = (m: SetMember) =>
      call('/zones/records/delete', { ...base, ...fields(type, m) }, { idempotent: true });
    const steps = [
      ...gone.filter((m) => !m.enabled).map((m) => () => remove(m)),
      ...changes.map(
        ([old, now]) =>
          () =>
            update(old, now),
      ),
      ...added.flatMap((m) => (m.enabled ? [() => add(m)] : [() => add(m), () => update(m, m)])),
      ...gone.filter((m) => m.enabled).map((m) => () => remove(m)),
    ];
    try {
      for (const [i, step] of steps.entries()) await (i ? following(step) : step());
      return true;
    } catch (error) {
      if (error instanceof ProviderError && GONE.test(error.message)) return false;
      throw error;
    }
  }

  return {
    check: () => call('/zones/list', { pageNumber: 1, zonesPerPage: 1 }, { reads: true }),
    listZones: zones,
    listRecords: async (zone) => recordsIn(await whole(zone), zone.name),
    apply: refusing(
      (record) => refuseText(record, 'Technitium', LIMITS),
      fromRrsets({ readSets: async (zone, keys) => setsAt(keys, await least(zone, keys), zone.name), replaceSet }),
    ),
    async createZone(name) {
      await call('/zones/create', { zone: name, type: 'Primary' }, {});
      return remoteZone(name);
    },
    async deleteZone({ name }) {
      await call('/zones/delete', { zone: name }, {});
    },
  };
};

const remoteZone = (name: string): RemoteZone => ({ id: name, name: toAscii(name) });
const apiType = (type: string): string => (type === 'ALIAS' ? 'ANAME' : type);

function plain(record: ApiRecord): PlainSet {
  const { name, type, ttl, disabled, rData } = record;
  const parts = (PARTS[type] ?? Object.keys(rData)).map((part) => String(rData[part]));
  if (type === 'TXT') parts[0] = txtPresentation(String(rData.text));
  if (type === 'CAA') parts[2] = quoteBytes(Buffer.from(String(rData.value)));
  const values = [{ rdata: parts.join(' '), enabled: !disabled, raw: record, extra: ownOf(record) }];
  return { name, type: type === 'ANAME' ? 'ALIAS' : type, ttl, values };
}

/** The parts of a value, which say which one is meant. A text is that one only if it is split as it was. */
function fields(type: string, { rdata, raw }: SetMember): Form {
  const parts = PARTS[apiType(type)] ?? [];
  if (type !== 'TXT') return Object.fromEntries((tokens(rdata) ?? []).map(({ text }, i) => [parts[i] ?? '', text]));
  const text = txtFromPresentation(rdata) ?? '';
  const strings = (raw as ApiRecord | undefined)?.rData?.characterStrings;
  const split = Array.isArray(strings) && strings.length > 1 && strings.join('') === text;
  return split ? { text: strings.join('\n'), splitText: true } : { text };
}

/** What an update makes of a value: what it does not name it resets. */
function change(type: string, old: SetMember, now: SetMember): Form {
  const made = Object.entries(fields(type, old.rdata === now.rdata ? old : { ...now, raw: undefined }));
  const parts = made.map(([part, value]) => {
    const name = part === 'aname' ? 'newAName' : `new${part[0]?.toUpperCase()}${part.slice(1)}`;
    return [type === 'CNAME' ? part : name, value] as const;
  });
  return { ...Object.fromEntries(parts), disable: !now.enabled, ...old.extra };
}

/** What a write names besides, as it names it. */
const ownOf = ({ comments, expiryTtl, glueRecords: glue }: ApiRecord): object => ({ comments, expiryTtl, glue });
