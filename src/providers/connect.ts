import PQueue from 'p-queue';
import type { Agent } from 'undici';
import type { Cidr } from '../common/cidr.js';
import { assertUrlAllowed, resolveAllowed } from '../outbound/guard.js';
import { ProviderError } from './errors.js';
import { Http } from './http.js';
import type { Credentials, DnsProvider, ProviderDefinition } from './provider.js';

/** What is the same for every account of this process. */
export interface ConnectOptions {
  agent: Agent;
  deny: readonly Cidr[];
  /** ms for one exchange with a provider */
  timeoutMs: number;
  zoneFiles: { root: string; reloadCommand: string | null };
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
  const { createZone } = provider;
  return {
    check: () => saying(true, () => provider.check()),
    listZones: () => saying(true, () => provider.listZones()),
    listRecords: (zone) => saying(true, () => provider.listRecords(zone)),
    apply: (zone, changes) =>
      saying(false, async () => {
        const outcomes = await provider.apply(zone, changes);
        for (const outcome of outcomes) if (!outcome.ok) named(outcome.error, definition, false);
        return outcomes;
      }),
    ...(createZone && { createZone: (name) => saying(false, () => createZone.call(provider, name)) }),
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
  const { requests, perSeconds, concurrency } = definition.limits;
  const http = new Http({
    baseUrl: '',
    headers: {},
    timeoutMs: options.timeoutMs,
    retries: 2,
    maxRetryAfterMs: 5000,
    dispatcher: options.agent,
    queue: new PQueue({ concurrency, intervalCap: requests, interval: perSeconds * 1000 }),
    redact,
  });
  return definition.connect(credentials, {
    http,
    redact,
    timeoutMs: options.timeoutMs,
    resolve: (host) => resolveAllowed(host, options.deny),
    zoneFiles: options.zoneFiles,
  });
}
