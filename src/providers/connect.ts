import type { Dispatcher } from 'undici';
import type { Cidr } from '../platform/common/cidr.js';
import { requestDeadline } from '../platform/common/deadline.js';
import type { Logger } from '../platform/common/logger.js';
import type { Metrics } from '../platform/metrics/metrics.js';
import { assertUrlAllowed, resolveAllowed } from '../platform/outbound/guard.js';
import type { Annotate, Traces } from '../platform/traces/traces.js';
import { asProviderError, ProviderError } from './kit/http/errors.js';
import { Http } from './kit/http/http-client.js';
import { RateLimiter } from './kit/http/rate-limiter.js';
import { inChunks } from './kit/records/chunks.js';
import { coalesce } from './kit/rrsets/coalesce.js';
import { keyText } from './kit/rrsets/record-set.js';
import { kept, keptOutcome } from './kit/values/kept.js';
import { zoneNamed } from './kit/zone/zones.js';
import type { Apply, Credentials, DnsProvider, Installation, Outcome, ProviderDefinition } from './provider.js';
import { memorySessions, type SharedSessions } from './shared-sessions.js';
import { type TunnelApi, tunnelVerbs } from './tunnels.js';

/** ms that a call without a deadline waits for its turn and for a busy provider */
const WAIT_MS = 30_000;
/** single changes of several requests that are sent in one call */
const COALESCED = 100;

/** of connections without a database */
const OWN_SESSIONS = memorySessions();

/** Options that are the same for every account of this process. */
interface ConnectOptions {
  agent: Dispatcher;
  deny: readonly Cidr[];
  /** ms for one exchange with a provider */
  timeoutMs: number;
  /** what the configuration says to single kinds */
  installation: Readonly<Record<string, Installation>>;
  metrics: Metrics;
  traces: Traces;
  logger: Logger;
  /** ms; a call that takes longer is logged as a warning */
  slowMs?: number;
  /** where the calls wait for their turn (see `rateLimiterOf`); left out: one of its own */
  limiter?: RateLimiter | undefined;
  /** left out: those of this process */
  sessions?: SharedSessions;
}

/** A provider for one account, with defaults for the verbs that its adapter does not have. */
export interface Connected extends Required<Omit<DnsProvider, 'deleteZone'>> {
  /** see `Apply.recordsAt` */
  recordsAt: NonNullable<Apply['recordsAt']>;
}

type Verb = Exclude<keyof Connected, 'tunnels'> | `tunnels.${keyof TunnelApi}`;

/**
 * A live provider for one account: its adapter with an HTTP client that has the account's own limits. Keep it while the
 * credentials stay the same, since the limits and the open connections live in it. The adapter is read with the first
 * call.
 * @throws ProviderError when a URL among the credentials is not allowed
 */
export function connectProvider(
  definition: ProviderDefinition,
  credentials: Credentials,
  options: ConnectOptions,
): Connected {
  const { atomic, replaces, chunk, types } = definition.capabilities;
  const writable = new Set<string>(types);
  try {
    assertAddresses(definition, credentials, options);
  } catch (error) {
    throw named(error, definition, true);
  }
  let adapter: Promise<DnsProvider> | undefined;
  const connected = (): Promise<DnsProvider> => {
    adapter ??= connectAdapter(definition, credentials, options).catch((error: unknown) => {
      // nothing was asked for; the next call tries again
      adapter = undefined;
      throw asProviderError(error).applied(false);
    });
    return adapter;
  };
  /** @param whole of what is known to have gone well later only, with what came of it */
  const saying = <T>(
    verb: Verb,
    reading: boolean,
    work: (provider: DnsProvider) => Promise<T>,
    whole?: Promise<string>,
  ): Promise<T> => {
    const { kind } = definition;
    if (!reading) requestDeadline().wrote = true;
    const attributes = { 'provider.kind': kind, 'provider.verb': verb };
    return options.traces.span(`${kind} ${verb}`, { client: true, attributes }, (annotate) =>
      measured(verb, reading, work, annotate, whole),
    );
  };
  const measured = async <T>(
    verb: Verb,
    reading: boolean,
    work: (provider: DnsProvider) => Promise<T>,
    annotate: Annotate,
    whole?: Promise<string>,
  ): Promise<T> => {
    const begin = performance.now();
    let outcome = 'ok';
    try {
      const result = await work(await connected());
      // of a list the first failure
      if (verb === 'apply') outcome = (result as Outcome[]).map(outcomeOf).find((one) => one !== 'ok') ?? 'ok';
      return result;
    } catch (error) {
      outcome = kindOf(error);
      // an entry of a list that has no such part
      throw named(reading && error instanceof TypeError ? asProviderError(error) : error, definition, reading);
    } finally {
      const ms = performance.now() - begin;
      const { kind } = definition;
      const tell = (came: string) => options.metrics.providerSeconds.observe({ kind, verb, outcome: came }, ms / 1000);
      tellEnd(outcome, whole, tell);
      annotate({ outcome }, outcome !== 'ok');
      if (ms > (options.slowMs ?? Number.POSITIVE_INFINITY))
        options.logger.warn({ provider: kind, verb, outcome, ms: Math.round(ms) }, 'slow call of a provider');
    }
  };
  const listed = inChunks(async (zone, changes, more) => (await connected()).apply(zone, changes, more), chunk, atomic);
  const apply = atomic && replaces === 'set' ? coalesce(listed, Math.min(chunk, COALESCED)) : listed;
  return {
    check: () => saying('check', true, (provider) => provider.check()),
    listZones: () => saying('listZones', true, (provider) => provider.listZones()),
    listRecords: (zone, more) =>
      saying('listRecords', true, async (provider) =>
        (await provider.listRecords(zone, more)).map((record) => kept(record, zone.name, writable)),
      ),
    async *recordPieces(zone, more) {
      let outcome = 'ok';
      let tell: (came: string) => void = () => undefined;
      const whole = new Promise<string>((resolve) => {
        tell = resolve;
      });
      const fail = (error: unknown): never => {
        // an entry of a list that has no such part
        const failure = named(error instanceof TypeError ? asProviderError(error) : error, definition, true);
        outcome = kindOf(failure);
        throw failure;
      };
      // the first piece is there when the provider has answered
      const begin = async (provider: DnsProvider) => {
        const pieces = (provider.recordPieces?.(zone, more) ?? onePiece(provider.listRecords(zone, more)))[
          Symbol.asyncIterator
        ]();
        return { pieces, next: await pieces.next() };
      };
      const begun = await saying('listRecords', true, begin, whole);
      try {
        for (let { pieces, next } = begun; !next.done; next = await pieces.next().catch(fail))
          yield next.value.map((record) => kept(record, zone.name, writable));
      } finally {
        tell(outcome);
      }
    },
    recordsAt: (zone, keys) =>
      saying('recordsAt', true, async ({ apply: { recordsAt } }) => {
        const wanted = new Set(keys.map(keyText));
        const found = (await recordsAt?.(zone, keys)) ?? null;
        return found?.filter((one) => wanted.has(keyText(one))).map((one) => kept(one, zone.name, writable)) ?? null;
      }),
    apply: (zone, changes, more) =>
      saying('apply', false, async () => {
        const outcomes = await apply(zone, changes, more);
        for (const outcome of outcomes) if (!outcome.ok) named(outcome.error, definition, false);
        return outcomes.map(keptOutcome);
      }),
    createZone: (name) =>
      saying('createZone', false, async (provider) => {
        if (provider.createZone) return provider.createZone(name);
        throw new ProviderError('rejected', 'Zones are not created here', false);
      }),
    findZone: (name) =>
      saying('findZone', true, async (provider) =>
        provider.findZone ? provider.findZone(name) : zoneNamed(name, provider.listZones()),
      ),
    zoneInfo: (zone) => saying('zoneInfo', true, async (provider) => (await provider.zoneInfo?.(zone)) ?? null),
    tunnels: tunnelVerbs((verb, reading, call) =>
      saying(verb, reading, async ({ tunnels }) => {
        if (tunnels) return call(tunnels);
        throw new ProviderError('rejected', 'There are no tunnels here', false);
      }),
    ),
  };
}

/** Tells what came of a call: of one that went well so far, when all of it is known. */
function tellEnd(outcome: string, whole: Promise<string> | undefined, tell: (outcome: string) => void): void {
  if (whole && outcome === 'ok') void whole.then(tell);
  else tell(outcome);
}

async function* onePiece<T>(list: Promise<T>): AsyncGenerator<T> {
  yield await list;
}

const kindOf = (error: unknown): string => (error instanceof ProviderError ? error.kind : 'internal');
const outcomeOf = (outcome: Outcome): string => (outcome.ok ? 'ok' : kindOf(outcome.error));

/** A failure that says of which provider it is. */
const named = (error: unknown, { kind }: ProviderDefinition, reading: boolean): unknown =>
  error instanceof ProviderError ? error.of(kind, reading) : error;

/** @throws ProviderError when a URL among the credentials is not allowed */
function assertAddresses(
  { credentials: lists }: ProviderDefinition,
  credentials: Credentials,
  { deny }: ConnectOptions,
) {
  for (const { key, kind } of lists.flat()) {
    const value = credentials[key];
    if (kind === 'url' && value) assertUrlAllowed(value, deny);
  }
}

/** The limits of an account of this kind. @param paused see `RateLimiter` */
export function rateLimiterOf(
  { kind, limits }: ProviderDefinition,
  metrics: Metrics,
  paused?: (until: number, why: string) => Promise<void>,
): RateLimiter {
  const { requests, perSeconds, more, concurrency } = limits;
  const waited = (ms: number) => metrics.queueSeconds.observe({ kind }, ms / 1000);
  return new RateLimiter(concurrency, [{ requests, perSeconds }, ...more], waited, paused);
}

/** The adapter itself, with what its kind has beside the verbs of every provider. */
export async function connectAdapter(
  definition: ProviderDefinition,
  credentials: Credentials,
  options: ConnectOptions,
): Promise<DnsProvider> {
  const fields = definition.credentials.flat();
  const secretKeys = new Set(fields.filter((f) => f.secret).map((f) => f.key));
  const secrets = Object.entries(credentials)
    .filter(([key, value]) => secretKeys.has(key) && value.length >= 4)
    // as vendors repeat them, too: in an address, in JSON, in the header that they came in
    .flatMap(([, value]) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
  const redact = (text: string) => secrets.reduce((t, s) => t.replaceAll(s, '***'), text);
  const http = new Http({
    baseUrl: (credentials.endpoint || definition.api || '').replace(/\/+$/, ''),
    headers: {},
    timeoutMs: options.timeoutMs,
    retries: 2,
    neverTwice: definition.capabilities.replaces !== 'record',
    waitMs: WAIT_MS,
    dispatcher: options.agent,
    limiter: options.limiter ?? rateLimiterOf(definition, options.metrics),
    redact,
  });
  const { connect } = await definition.load();
  return connect(credentials, {
    http,
    redact,
    timeoutMs: options.timeoutMs,
    resolve: (host) => resolveAllowed(host, options.deny),
    installation: options.installation[definition.kind] ?? {},
    sessions: options.sessions ?? OWN_SESSIONS,
  });
}
