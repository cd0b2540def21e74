import type { Agent } from 'undici';
import type { Cidr } from '../common/cidr.js';
import { assertUrlAllowed, resolveAllowed } from '../outbound/guard.js';
import { inChunks } from './chunks.js';
import { ProviderError } from './errors.js';
import { Gate } from './gate.js';
import { Http } from './http.js';
import type { Credentials, DnsProvider, Installation, ProviderDefinition } from './provider.js';
import { together } from './together.js';

/** ms that a call waits for its turn, and for a provider that is busy, where nobody has said how long it may take */
const WAIT_MS = 30_000;
/** single changes of several writers that go in one call */
const TOGETHER = 100;

/** What is the same for every account of this process. */
export interface ConnectOptions {
  agent: Agent;
  deny: readonly Cidr[];
  /** ms for one exchange with a provider */
  timeoutMs: number;
  /** what the configuration says to single kinds */
  installation: Readonly<Record<string, Installation>>;
}

/**
 * A live provider for one account: its adapter with an HTTP client that has the account's own limits. Keep it while the
 * credentials stay the same, since the limits and the open connections live in it.
 * @throws ProviderError when a URL among the credentials is not allowed
 */
export function connectProvider(
  definition: ProviderDefinition,
  credentials: Credentials,
  options: ConnectOptions,
): DnsProvider {
  const saying = async <T>(reading: boolean, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw named(error, definition, reading);
    }
  };
  let provider: DnsProvider;
  try {
    provider = connectAdapter(definition, credentials, options);
  } catch (error) {
    throw named(error, definition, true);
  }
  const { createZone, findZone, zoneInfo } = provider;
  const { atomic, replaces, chunk } = definition.capabilities;
  const listed = inChunks((zone, changes, more) => provider.apply(zone, changes, more), chunk, atomic);
  const apply = atomic && replaces === 'set' ? together(listed, Math.min(chunk, TOGETHER)) : listed;
  return {
    check: () => saying(true, () => provider.check()),
    listZones: () => saying(true, () => provider.listZones()),
    listRecords: (zone) => saying(true, () => provider.listRecords(zone)),
    apply: (zone, changes, more) =>
      saying(false, async () => {
        const outcomes = await apply(zone, changes, more);
        for (const outcome of outcomes) if (!outcome.ok) named(outcome.error, definition, false);
        return outcomes;
      }),
    ...(createZone && { createZone: (name) => saying(false, () => createZone.call(provider, name)) }),
    ...(findZone && { findZone: (name) => saying(true, () => findZone.call(provider, name)) }),
    ...(zoneInfo && { zoneInfo: (zone) => saying(true, () => zoneInfo.call(provider, zone)) }),
  };
}

/** A failure that says of which provider it is. */
const named = (error: unknown, { kind }: ProviderDefinition, reading: boolean): unknown =>
  error instanceof ProviderError ? error.of(kind, reading) : error;

/** The adapter itself, with what its kind has beside the verbs of every provider. */
export function connectAdapter(
  definition: ProviderDefinition,
  credentials: Credentials,
  options: ConnectOptions,
): DnsProvider {
  const fields = definition.credentials.flat();
  for (const field of fields) {
    const value = credentials[field.key];
    if (field.kind === 'url' && value) assertUrlAllowed(value, options.deny);
  }
  const secretKeys = new Set(fields.filter((f) => f.secret).map((f) => f.key));
  const secrets = Object.entries(credentials)
    .filter(([key, value]) => secretKeys.has(key) && value.length >= 4)
    .map(([, value]) => value);
  const redact = (text: string) => secrets.reduce((t, s) => t.replaceAll(s, '***'), text);
  const { requests, perSeconds, more, concurrency } = definition.limits;
  const http = new Http({
    baseUrl: '',
    headers: {},
    timeoutMs: options.timeoutMs,
    retries: 2,
    waitMs: WAIT_MS,
    dispatcher: options.agent,
    gate: new Gate(concurrency, [{ requests, perSeconds }, ...more]),
    redact,
  });
  return definition.connect(credentials, {
    http,
    redact,
    timeoutMs: options.timeoutMs,
    resolve: (host) => inTime(resolveAllowed(host, options.deny), host, options.timeoutMs),
    installation: options.installation[definition.kind] ?? {},
  });
}

/** The resolver of the system has no limit of its own. */
async function inTime<T>(answer: Promise<T>, host: string, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const words = `The host name ${host} was not resolved within ${ms / 1000} s`;
    timer = setTimeout(() => reject(new ProviderError('unavailable', words, false)), ms);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
