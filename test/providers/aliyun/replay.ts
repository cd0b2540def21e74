import { aliyun } from '../../../src/providers/aliyun/declaration.js';
import { type Asked, type Course, isWished, type ReplaySetup } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  RecordId: string;
  RR: string;
  Type: string;
  Value: string;
  TTL: number;
  Line: string;
  Status: string;
  Locked: boolean;
}
interface List {
  TotalCount: number;
  DomainRecords: { Record: Recorded[] };
}
type Words = Record<string, string>;
const OWN = /^(AccessKeyId|Signature.*|Timestamp)$/;

/** Recorded 2019. */
export const setup: ReplaySetup = {
  definition: aliyun,
  recording: 'aliyun',
  base: '',
  finds: true,
  credentials: (endpoint) => ({ access_key_id: 'an-id', access_key_secret: 'a-secret-for-the-tests', endpoint }),
  reads: ({ query }) => `${query.Action}`.startsWith('Describe'),
  listed({ query }, body) {
    if (query.Action !== 'DescribeDomainRecords') return null;
    return (body as List).DomainRecords.Record.map((r) => ({
      ...{ remoteId: r.RecordId, type: r.Type, host: r.RR, value: r.Value, ttl: r.TTL },
      ...{ line: r.Line, enabled: r.Status === 'ENABLE', readOnly: r.Locked },
    }));
  },
  written: (_asked, body) => (body as { RecordId?: string } | undefined)?.RecordId,
};

/** Parameters without those that say who asks, pages, values that are looked for, and what an id says already. */
export function parameters({ query, ...asked }: Asked): Asked {
  const own = Object.entries(query).filter(([name]) => !OWN.test(name));
  const {
    Action,
    DomainName = '',
    Line,
    PageSize: _1,
    PageNumber: _2,
    ValueKeyWord: _3,
    ...rest
  } = Object.fromEntries(own);
  const line: Words = Line === undefined || Line === 'default' ? {} : { Line };
  const kept: Words = /^(Update|Delete)/.test(`${Action}`) ? {} : { DomainName };
  return { ...asked, method: 'GET', query: { ...rest, ...kept, ...line, Action: `${Action}` } };
}

/** The list of zones, of the recorded answers for single zones. */
export function zones({ query }: Asked, { scenario }: Course): Answer | undefined {
  if (query.Action !== 'DescribeDomains') return undefined;
  const bodies = scenario.interactions.map(
    ({ response }) => response.body as { DomainName?: string; DnsServers?: object },
  );
  const names = new Set(bodies.flatMap((body) => (body?.DnsServers ? [body.DomainName] : [])));
  return { body: { Domains: { Domain: [...names].map((DomainName) => ({ DomainName })) }, TotalCount: names.size } };
}

/** Of a list that is longer than the recorded page, that page alone. */
export function firstPage(answer: Answer, { query }: Asked): Answer {
  if (query.Action !== 'DescribeDomainRecords') return answer;
  const list = answer.body as List;
  return { ...answer, body: { ...list, TotalCount: list.DomainRecords.Record.length } };
}

/** A list that was not recorded, of those that were since the last write, each with a part of the zone. */
export function records({ query }: Asked, { known }: Course): Answer | undefined {
  if (query.Action !== 'DescribeDomainRecords') return undefined;
  const lists = known
    .slice(known.findLastIndex(({ request }) => /Action=(Add|Update|Delete)/.test(request.url)) + 1)
    .flatMap(({ response }) => (response.body as Partial<List>).DomainRecords?.Record ?? []);
  const found = lists.filter(({ RR, Type }) => RR === (query.RRKeyWord ?? RR) && Type === (query.TypeKeyWord ?? Type));
  const all = [...new Map(found.map((one) => [one.RecordId, one])).values()];
  return { body: { DomainRecords: { Record: all }, TotalCount: all.length } };
}

/** What a write is answered that the recorded client spared itself, since it had found such a record. */
export function unneeded({ query }: Asked, course: Course): Answer | undefined {
  const { RR, Type, Value, TTL, RecordId } = query as Words;
  const there = course.known.flatMap(({ request, response }): Partial<Recorded>[] => {
    const asked = Object.fromEntries(new URL(request.url).searchParams) as Words;
    return asked.Action === 'AddDomainRecord'
      ? [{ ...asked, RecordId: (response.body as Recorded).RecordId }]
      : ((response.body as Partial<List>).DomainRecords?.Record ?? []);
  });
  const twin = there.some((one) => one.RR === RR && one.Type === Type && one.Value === Value);
  if (!twin || !isWished(course, { type: Type, host: RR, value: Value, ttl: TTL })) return undefined;
  if (query.Action === 'AddDomainRecord')
    return { status: 400, body: { Code: 'DomainRecordDuplicate', Message: 'The domain record is duplicated.' } };
  const known = there.some((one) => one.RecordId === RecordId && one.RR === RR && one.Type === Type);
  return query.Action === 'UpdateDomainRecord' && known ? { body: { RecordId } } : undefined;
}
