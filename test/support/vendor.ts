import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { type Connected, connectProvider } from '../../src/providers/connect.js';
import type { Credentials, DnsProvider, ProviderDefinition } from '../../src/providers/provider.js';
import { connectOptions } from './connect-options.js';

/** A request received by a stand-in. */
export interface Received {
  method: string;
  /** Without query, below the stand-in's URL. */
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  /** Parsed JSON, otherwise the text; undefined when empty. */
  body: unknown;
  /** the same as it was sent, which is what is signed */
  text?: string;
  /** Number of the connection. */
  connection: number;
}

/** Answer of a stand-in; `breakAfter` sends so many bytes of the body and then closes the connection. */
export interface Answer {
  status?: number;
  headers?: Record<string, string> | undefined;
  /** Objects are sent as JSON, texts and bytes unchanged. */
  body?: unknown;
  breakAfter?: number;
  /** The test injected it as a fault instead of the stand-in's answer. */
  injected?: boolean;
}
export type Handler = (request: Received) => Answer | Promise<Answer>;

export interface StandIn {
  url: string;
  /** All requests so far, oldest first. */
  requests: Received[];
  /** The same with their answers. */
  exchanges: { request: Received; answer: Answer }[];
  handler: Handler;
  stop(): Promise<void>;
}

/** An HTTP server on loopback in place of a provider. Its handler can be replaced at any time. */
export async function startStandIn(handler: Handler = () => ({ status: 501 }), port = 0): Promise<StandIn> {
  const connections = new Map<unknown, number>();
  const server = createServer(async (request, response) => {
    if (!connections.has(request.socket)) connections.set(request.socket, connections.size + 1);
    let raw = '';
    for await (const chunk of request) raw += chunk;
    const url = new URL(request.url ?? '/', 'http://stand-in');
    const received: Received = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: raw === '' ? undefined : parsed(raw),
      text: raw,
      connection: connections.get(request.socket) as number,
    };
    standIn.requests.push(received);
    const answer = await standIn.handler(received);
    standIn.exchanges.push({ request: received, answer });
    write(response, answer);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    requests: [],
    exchanges: [],
    handler,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return standIn;
}

function write(response: ServerResponse, { status = 200, body: given, headers, breakAfter }: Answer): void {
  const asItIs = typeof given === 'string' || Buffer.isBuffer(given);
  const text = asItIs ? given : JSON.stringify(given ?? '');
  const body = given === undefined ? '' : text;
  response.writeHead(status, {
    'content-type': asItIs ? 'text/plain' : 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  if (breakAfter === undefined) response.end(body);
  else response.write(body.slice(0, breakAfter), () => response.socket?.destroy());
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/**
 * A stand-in for all tests of the surrounding `describe`, and a provider connected to it, both available from
 * `beforeAll` on.
 */
export function standInFor<S extends StandIn, P = undefined>(start: () => Promise<S>, connect?: (standIn: S) => P) {
  const vendor = {} as { standIn: S; provider: P };
  beforeAll(async () => {
    vendor.standIn = await start();
    if (connect) vendor.provider = connect(vendor.standIn);
  });
  afterAll(() => vendor.standIn.stop());
  return vendor;
}

/** Time limit in ms of providers in tests; more than a slow machine needs. */
const PATIENCE_MS = 120_000;

/** The same without an endpoint of its own: a stand-in takes its calls, `origins` says where they would have gone. */
export function connectInPlace(definition: ProviderDefinition, credentials: Credentials, standIn: StandIn) {
  const origins = new Set<string>();
  const options = connectOptions(PATIENCE_MS);
  const agent = options.agent.compose((dispatch) => (more, handler) => {
    origins.add(String(more.origin));
    return dispatch({ ...more, origin: standIn.url }, handler);
  });
  return { origins, provider: connectProvider(definition, credentials, { ...options, agent }) };
}

const again = new WeakMap<DnsProvider, (definition: ProviderDefinition) => Connected>();

/** Connects a provider as the service does, with outbound rules that deny nothing. */
export function connectTo(
  definition: ProviderDefinition,
  credentials: Credentials,
  timeoutMs = PATIENCE_MS,
): Connected {
  const provider = connectProvider(definition, credentials, connectOptions(timeoutMs));
  again.set(provider, (other) => connectTo(other, credentials, timeoutMs));
  return provider;
}

/**
 * Connects the same account with another declaration that differs only in limits; null if `connectTo` did not create
 * it.
 */
export const connectedAgain = (provider: DnsProvider, definition: ProviderDefinition): Connected | null =>
  again.get(provider)?.(definition) ?? null;

/** Recorded traffic of one provider (dns-lexicon's recordings as JSON; stored outside of the repository). */
export interface Recording {
  zone: string;
  scenarios: Scenario[];
}
export interface Scenario {
  name: string;
  steps?: Step[];
  interactions: Interaction[];
}
export interface Step {
  op: 'find-zone' | 'create' | 'list' | 'update' | 'delete';
  type?: string;
  host?: string;
  from?: string;
  value?: string;
  ttl?: number;
  zone?: string;
  expect?: 'error';
}
export interface Interaction {
  request: { method: string; url: string; body?: unknown };
  response: { status: number; headers?: Record<string, string>; body?: unknown };
}

const shared = resolve(process.env.ZONEWARD_SHARED ?? '../shared');

/** A file in the folder of recordings and samples, which may be missing. */
export const sharedFile = (path: string): string => `${shared}/${path}`;

/** Whether provider samples are required: tests that need them then fail instead of being skipped. */
export const samplesDemanded = process.env.TEST_SAMPLES === 'demanded';

/** A reason to skip comparisons with that folder, or false. */
export const noRecordings: string | false =
  existsSync(`${shared}/provider-recordings`) || samplesDemanded
    ? false
    : 'no recordings: set ZONEWARD_SHARED to the folder that holds provider-recordings/';
