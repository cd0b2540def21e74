import assert from 'node:assert/strict';
import { CODES } from '../../src/platform/common/words/codes.js';
import { isReason, REASONS } from '../../src/platform/common/words/reasons.js';
import type { BatchResult } from '../../src/records/batch/batch.dto.js';
import type { Failure } from './answers.js';
import type { Kind } from './databases.js';
import { digLines, type Line, linesOf } from './dig.js';
import { type Powerdns, type RawZone, startPowerdns } from './powerdns.js';
import { type HttpProxy, startProxy } from './proxy.js';
import { type Answer, type Client, type Service, startService } from './server.js';

export { until } from './until.js';

/** A record as published by a name server. */
export interface Published {
  ttl: number;
  /** Presentation form. */
  rdata: string;
}

const about = (lines: Line[], name: string, type: string): Published[] =>
  lines
    .filter((line) => line.owner.toLowerCase() === `${name}.` && line.type === type)
    .map(({ ttl, rdata }) => ({ ttl, rdata }));

/** The records of one name and type in master-file text. */
export const published = (text: string, name: string, type: string): Published[] => about(linesOf(text), name, type);

/**
 * What a name server on loopback publishes for exactly this name: in the answer section, or for delegations in the
 * authority section.
 */
export const ask = async (port: number, name: string, type: string): Promise<Published[]> =>
  about(await digLines(port, name, type, '+answer', '+authority'), name, type);

/** The text of TXT rdata in presentation form. */
export function txtOf(rdata: string): string {
  const bytes = [...rdata.matchAll(/"((?:[^"\\]|\\.)*)"/g)].flatMap(([, part]) =>
    [...(part as string).matchAll(/\\(\d{3})|\\(.)|([^\\])/gs)].flatMap(([, code, escaped, plain]) =>
      code ? [Number(code)] : [...Buffer.from((escaped ?? plain) as string)],
    ),
  );
  return Buffer.from(bytes).toString('utf8');
}

/** The data of a 201 answer. */
export function made<T>(answer: Answer<T>): T {
  assert.equal(answer.status, 201, `${answer.status} ${answer.msg} ${JSON.stringify(answer.data)}`);
  assert.equal(answer.code, 0);
  return answer.data;
}

/** The data of a success. */
export function done<T>(answer: Answer<T>): T {
  assert.equal(answer.status, 200, `${answer.status} ${answer.msg} ${JSON.stringify(answer.data)}`);
  assert.equal(answer.code, 0);
  return answer.data;
}

/** What became of a list of changes that has ended, whose status and code follow from its counts. */
export function ended(answer: Answer<BatchResult>): BatchResult {
  const { applied = 0, failed = 0, unknown = 0, not_tried = 0 } = answer.data.counts ?? {};
  const lost = failed + unknown + not_tried;
  const wish = !lost ? [200, 0] : applied + unknown ? [207, 0] : [422, 422002];
  assert.deepEqual([answer.status, answer.code], wish, `${answer.msg} ${JSON.stringify(answer.data)}`);
  assert.equal(answer.data.outcomes?.length, lost + applied);
  return answer.data;
}

/** Asserts that a call failed with this status and code, and a reason of that code. @returns the answer */
export function refused(answer: Answer, status: number, code: number): Answer<Failure> {
  assert.deepEqual([answer.status, answer.code], [status, code], `${answer.msg} ${JSON.stringify(answer.data)}`);
  const { reason } = (answer.data ?? {}) as { reason?: unknown };
  assert.ok(isReason(reason), `${reason} is no known reason: ${answer.msg}`);
  // a list that does not fit has the code of its first change that does not
  if (reason !== 'changes_do_not_fit') assert.equal(CODES[REASONS[reason].kind].code, code, reason);
  return answer as Answer<Failure>;
}

/** Asserts that the provider's error was reported with this message. */
export const providerFailed = (answer: Answer, words: RegExp): void =>
  assert.match(refused(answer, 500, 500002).msg, words);

/** Runs work on all items with limited concurrency. */
export async function each<T>(items: T[], concurrency: number, work: (item: T, index: number) => Promise<unknown>) {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) await work(items[i] as T, i);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

const line = (host: string, type: string, priority: number | null, value: string, ttl: number, enabled: boolean) =>
  `${host} ${type} ${priority ?? '-'} ${value} ${ttl} ${enabled ? 'on' : 'off'}`;

/** All listed records of a domain, one sorted line each, comparable with `powerdnsLines`. */
export async function cacheLines(client: Client, domain: number): Promise<string[]> {
  const { list } = done(await client.get(`/api/domains/${domain}/records`));
  return list.map((r) => line(r.host, r.type, r.priority, r.value, r.ttl, r.enabled)).toSorted();
}

/** All records of a zone read directly from PowerDNS, without the SOA. */
export function powerdnsLines({ name, rrsets }: RawZone): string[] {
  return rrsets
    .filter((set) => set.type !== 'SOA')
    .flatMap(({ name: owner, type, ttl, records }) => {
      const host = owner === name ? '@' : owner.slice(0, -name.length - 1);
      return records.map(({ content, disabled }) => {
        const [, priority, rest] = /^(\d+) (.*)$/.exec(['MX', 'SRV'].includes(type) ? content : '') ?? [];
        // an RP has two names
        const dot = type === 'RP' ? /(?<=\S)\.(?= |$)/g : /(?<=.)\.$/;
        const value = type === 'TXT' ? txtOf(content) : (rest ?? content).replace(dot, '');
        return line(host, type, priority === undefined ? null : Number(priority), value, ttl, !disabled);
      });
    })
    .toSorted();
}

/** Adds an account. @returns its id */
export const addAccount = async (admin: Client, provider: string, credentials: object): Promise<number> =>
  made(await admin.post('/api/accounts', { provider, name: `${provider} account`, credentials })).id;

/** Adds a zone of an account. @returns the domain's id */
export const addDomain = async (admin: Client, account_id: number, name: string, create = false): Promise<number> =>
  made(await admin.post('/api/domains', { name, account_id, create })).id;

/** A service with one domain at a real PowerDNS behind a fault-injecting proxy. */
export interface World extends Service {
  pdns: Powerdns;
  proxy: HttpProxy;
  account: number;
  domain: number;
  zone: string;
  /** Path of the domain's records. */
  records: `/api/domains/${number}/records`;
  /** Asserts that the cache equals PowerDNS. */
  agree(client?: Client): Promise<void>;
}

export async function startWorld(
  kind: Kind = 'sqlite',
  env: Record<string, string> = {},
  backend: 'sqlite' | 'lmdb' = 'sqlite',
  start: (kind: Kind, env: Record<string, string>) => Promise<Service> = startService,
): Promise<World> {
  const zone = 'example.com';
  const started: (() => Promise<unknown>)[] = [];
  // stops in reverse order, also when the start fails
  const stop = async () => {
    for (const end of started.toReversed()) await end();
  };
  try {
    const pdns = await startPowerdns({ backend });
    started.push(() => pdns.stop());
    await pdns.createZone(zone);
    const proxy = await startProxy(pdns.url);
    started.push(() => proxy.stop());
    const service = await start(kind, env);
    started.push(() => service.stop());
    const account = await addAccount(service.admin, 'powerdns', { url: proxy.url, api_key: pdns.apiKey });
    const domain = await addDomain(service.admin, account, zone);
    const agree = async (client = service.admin) =>
      assert.deepEqual(await cacheLines(client, domain), powerdnsLines(await pdns.zone(zone)));
    return { ...service, pdns, proxy, account, domain, zone, records: `/api/domains/${domain}/records`, agree, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
