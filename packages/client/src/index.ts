// The API of Zoneward for browsers and Node (20 or later): calls that are typed by its description, without the
// envelope; retries that change nothing twice; and waiting for what goes on in the background.
import type { components, paths } from './schema.js';

export type Schemas = components['schemas'];
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The paths of the description that have this method. */
export type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, { responses: unknown }> ? P : never;
}[keyof paths];
type OperationOf<M extends Method, P> = P extends keyof paths
  ? paths[P] extends Record<Lowercase<M>, infer O>
    ? O
    : never
  : never;
type Part<O, K extends 'path' | 'query'> = O extends { parameters: { [key in K]?: infer V } } ? NonNullable<V> : never;
type Sent<O> = O extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;
type Enveloped<E> = E extends { code: -2 } ? never : E extends { data?: infer D } ? D : never;
type Succeeded<R> = {
  [S in keyof R]: `${S & number}` extends `2${string}`
    ? R[S] extends { content: { 'application/json': infer E } }
      ? Enveloped<E>
      : null
    : never;
}[keyof R];

/** What a call answers: the `data` of the envelope. */
export type DataOf<M extends Method, P extends PathsOf<M>> =
  OperationOf<M, P> extends { responses: infer R } ? Succeeded<R> : never;

/** What holds for one call beside what the API takes. */
export interface CallOptions {
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** for writes; left out: a random one, the same for all tries of the call */
  idempotencyKey?: string;
}
type WithPart<K extends string, V> = [V] extends [never]
  ? { [key in K]?: never }
  : Record<string, never> extends V
    ? { [key in K]?: V }
    : { [key in K]: V };
/** Parameters of the path, the query and the body, as the description has them. */
export type Input<M extends Method, P extends PathsOf<M>> = CallOptions &
  WithPart<'path', Part<OperationOf<M, P>, 'path'>> &
  WithPart<'query', Part<OperationOf<M, P>, 'query'>> &
  WithPart<'body', Sent<OperationOf<M, P>>>;
type Args<M extends Method, P extends PathsOf<M>> =
  Record<string, never> extends Input<M, P> ? [input?: Input<M, P>] : [input: Input<M, P>];

/** An answer with what stands around its `data`. */
export interface Answer<D> {
  status: number;
  headers: Headers;
  data: D;
}

/** A field that was refused: `path` as in the request, of a document with its `line`. */
export interface FieldError {
  path: string;
  message: string;
  code?: string;
  line?: number;
  column?: number;
}

/** A failure that the service answered, or somebody in front of it (`code` is then the status with three zeros). */
export class ZonewardError extends Error {
  override name = 'ZonewardError';

  constructor(
    message: string,
    /** of HTTP */
    readonly status: number,
    /** six digits that begin with the status; -2: a second factor is needed */
    readonly code: number,
    readonly data: Record<string, unknown>,
    /** for the log of the service */
    readonly requestId: string | null,
    /** seconds; null: not said */
    readonly retryAfter: number | null,
  ) {
    super(message);
  }

  /** What a program tells errors apart by: docs/errors.md of the service. */
  get reason(): string {
    return typeof this.data.reason === 'string' ? this.data.reason : '';
  }

  /** What is filled into the message. */
  get params(): Record<string, unknown> {
    return (this.data.params ?? {}) as Record<string, unknown>;
  }

  get fields(): FieldError[] {
    return (this.data.errors ?? []) as FieldError[];
  }

  /** Nobody knows whether the change was made: look before it is asked for again. */
  get outcomeUnknown(): boolean {
    return this.reason === 'outcome_unknown' || this.data.applied === 'unknown';
  }
}

/** No answer came. Of a write nobody knows then whether it was made. */
export class Unreachable extends Error {
  override name = 'Unreachable';

  constructor(
    message: string,
    /** how often it was tried */
    readonly tries: number,
    readonly outcomeUnknown: boolean,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** One try of a call, for a log. Neither credentials nor bodies are in it. */
export interface Try {
  method: Method;
  /** without the query */
  path: string;
  /** from 1 */
  number: number;
  /** of HTTP; null: no answer */
  status: number | null;
  requestId: string | null;
  ms: number;
}

export interface ClientOptions {
  /** address of the service, below which `/api` is */
  url: string;
  /** API token or token of a session; left out: what needs none */
  token?: string;
  headers?: Record<string, string>;
  /** tries of a call in all; default 5 */
  tries?: number;
  /** ms for one try; default 90 000, beyond what the service itself takes. `wait` of a call is added */
  timeout?: number;
  /** ms that a call waits for its turn at most (`Retry-After`, or a call with the same key); default 60 000 */
  patience?: number;
  onTry?: (one: Try) => void;
  fetch?: typeof fetch;
}

/** What became of a plan over many domains. */
export type ManyResult = { [K in 'domains' | 'counts']: NonNullable<Schemas['PlanGroupView'][K]> };

/** What became of a plan or a list of changes. */
export type Outcome =
  | {
      state: 'done' | 'partly';
      result: Schemas['BatchResult'] | ManyResult | null;
      /** whether name servers were asked, and all show it; false: nobody has asked them */
      published: boolean;
    }
  /** it goes on: `waitForChanges` with this id */
  | { state: 'running'; changeSetId: number }
  /** a plan over many domains that goes on: `waitForPlan` with its id */
  | { state: 'applying'; result: ManyResult }
  | { state: 'waiting'; plan: Schemas['PlanView'] }
  /** it is made, and some authoritative server did not show it in time */
  | { state: 'unpublished'; report: Schemas['PropagationView'] };

interface Raw {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}
interface Envelope {
  code: number;
  data?: unknown;
  msg: string;
}
interface Arrived {
  response: Response;
  text: string;
}
/** What one try came to: an answer, or that no answer came. */
type Came = Arrived | { error: unknown };

const AGAIN = [429, 502, 503, 504];
/** Statuses of what is refused before it is known whether it was asked for before. */
const AT_THE_DOOR = [401, 403, ...AGAIN];
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

/** Address of a call below the service. @throws TypeError for a part of the path that would lead to another route */
function addressOf(path: string, { path: parts = {}, query = {} }: Raw): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const part = String(parts[name] ?? '');
    if (['', '.', '..'].includes(part)) throw new TypeError(`\`${name}\` of the path cannot be "${part}"`);
    return encodeURIComponent(part);
  });
  const asked = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, String(value)]));
  return search.size ? `${filled}?${search}` : filled;
}

function envelopeOf(text: string): Envelope | null {
  try {
    const envelope = JSON.parse(text) as Envelope;
    return typeof envelope === 'object' && typeof envelope?.code === 'number' ? envelope : null;
  } catch {
    return null;
  }
}

/** @param now ms since 1970 */
function secondsOf(retryAfter: string | null, now: number): number | null {
  if (!retryAfter) return null;
  const seconds = Number(retryAfter);
  const wait = Number.isNaN(seconds) ? (Date.parse(retryAfter) - now) / 1000 : seconds;
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}

/** @param write of which nobody knows what came, where somebody else answers, but that it was not let through */
function errorOf({ status, headers }: Response, envelope: Envelope | null, write: boolean): ZonewardError {
  const message = envelope?.msg ?? `the answer with status ${status} is none of the service`;
  const unknown = write && !envelope && (status < 300 || status >= 500);
  const data = (envelope?.data ?? (unknown ? { ...UNKNOWN } : {})) as Record<string, unknown>;
  const retryAfter = secondsOf(headers.get('retry-after'), Date.now());
  return new ZonewardError(
    message,
    status,
    envelope?.code ?? status * 1000,
    data,
    headers.get('x-request-id'),
    retryAfter,
  );
}

/** Of a change: see `outcomeUnknown`. */
const UNKNOWN = { applied: 'unknown' };

/** @throws the reason of the signal when it is aborted */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

/** A service, with a credential. */
export class Zoneward {
  readonly url: string;
  readonly #options: ClientOptions;

  /** @throws TypeError when `url` is none, or has a credential in it, or `token` is none */
  constructor(options: ClientOptions) {
    const { href, username, password, protocol, search, hash } = new URL(
      options.url,
      (globalThis as { location?: { href: string } }).location?.href,
    );
    if (username || password) throw new TypeError('a credential does not belong into `url`: use `token`');
    if (!/^https?:$/.test(protocol) || search || hash)
      throw new TypeError('`url` begins with https: or http:, and has neither `?` nor `#`');
    const token = options.token?.trim();
    // the words of whoever sends it would have it in them
    if (token !== undefined && !/^[!-~]+$/.test(token))
      throw new TypeError('`token` is none: it is empty, or has signs in it that no token has');
    this.url = href.replace(/\/+$/, '');
    this.#options = token === undefined ? options : { ...options, token };
  }

  /**
   * One call of the API. What fails on the way (no answer, 429, 502 to 504) is tried again with the same
   * `Idempotency-Key`, so that a write is made once; all else that fails is an error at once.
   * @throws ZonewardError, Unreachable, and the reason of `signal` when it is aborted
   */
  async call<M extends Method, P extends PathsOf<M>>(
    method: M,
    path: P,
    ...[input]: Args<M, P>
  ): Promise<Answer<DataOf<M, P>>> {
    const { response, text } = await this.#tried(method, path, (input ?? {}) as Raw & CallOptions);
    const envelope = envelopeOf(text);
    if (envelope?.code !== 0) throw errorOf(response, envelope, changes(method, path));
    return { status: response.status, headers: response.headers, data: (envelope.data ?? null) as DataOf<M, P> };
  }

  async get<P extends PathsOf<'GET'>>(path: P, ...args: Args<'GET', P>): Promise<DataOf<'GET', P>> {
    return (await this.call('GET', path, ...args)).data;
  }
  async post<P extends PathsOf<'POST'>>(path: P, ...args: Args<'POST', P>): Promise<DataOf<'POST', P>> {
    return (await this.call('POST', path, ...args)).data;
  }
  async put<P extends PathsOf<'PUT'>>(path: P, ...args: Args<'PUT', P>): Promise<DataOf<'PUT', P>> {
    return (await this.call('PUT', path, ...args)).data;
  }
  async patch<P extends PathsOf<'PATCH'>>(path: P, ...args: Args<'PATCH', P>): Promise<DataOf<'PATCH', P>> {
    return (await this.call('PATCH', path, ...args)).data;
  }
  async delete<P extends PathsOf<'DELETE'>>(path: P, ...args: Args<'DELETE', P>): Promise<DataOf<'DELETE', P>> {
    return (await this.call('DELETE', path, ...args)).data;
  }

  /** What answers a file: an export, or with `accept` (`text/plain`, `text/markdown`, `text/dns`) another form. */
  async text<P extends PathsOf<'GET'>>(path: P, accept: string, ...[input]: Args<'GET', P>): Promise<string> {
    const raw = (input ?? {}) as Raw & CallOptions;
    const came = await this.#tried('GET', path, { ...raw, headers: { ...raw.headers, Accept: accept } });
    const type = came.response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'nothing';
    // a page to sign in at, of a proxy, is no file
    if (accept === '*/*' ? type === 'text/html' : type !== accept)
      throw foreign(came.response, `the answer is none of the service: it is ${type}, not ${accept}`);
    return came.text;
  }

  /**
   * Every entry of a list, of those that are arrays and of those that are `{total, list}`: in one answer where it
   * fits one, else page by page, from the beginning again where its length changes meanwhile.
   * @param limit entries a page; given: no single answer is asked for
   * @throws ZonewardError also where the list does not say how long it is, or never keeps still
   */
  async *all<P extends PathsOf<'GET'>>(
    path: P,
    input: Omit<Input<'GET', P>, 'query'> & { query?: Record<string, unknown> },
    limit?: number,
  ): AsyncGenerator<
    DataOf<'GET', P> extends (infer T)[] ? T : DataOf<'GET', P> extends { list: (infer T)[] } ? T : never
  > {
    const raw = input as Raw & CallOptions;
    const whole = limit === undefined ? await this.#whole(path, raw) : null;
    yield* (whole ?? (await this.#paged(path, raw, limit ?? MOST_ENTRIES))) as never[];
  }

  /** A list in one answer; null: it does not fit one. */
  async #whole(path: string, raw: Raw & CallOptions): Promise<unknown[] | null> {
    try {
      const { list, total } = await this.#part(path, raw);
      return list.length >= total ? list : null;
    } catch (error) {
      const pages = (one: FieldError) => one.path === 'page';
      if (error instanceof ZonewardError && error.code === 400001 && error.fields.some(pages)) return null;
      throw error;
    }
  }

  async #paged(path: string, raw: Raw & CallOptions, limit: number): Promise<unknown[]> {
    let entries: unknown[] = [];
    let length: number | null = null;
    for (let page = 1, again = 0; ; page++) {
      const { response, list, total } = await this.#part(path, { ...raw, query: { ...raw.query, page, limit } });
      // a page with nothing on it before the end is none that may be taken for the end
      if ((length !== null && total !== length) || (!list.length && entries.length < total)) {
        if (++again > RESTARTS) throw foreign(response, 'the list changes faster than it can be read');
        [entries, length, page] = [[], null, 0];
        continue;
      }
      length = total;
      entries.push(...list);
      if (entries.length >= total) return entries;
    }
  }

  async #part(path: string, raw: Raw & CallOptions): Promise<{ response: Response; list: unknown[]; total: number }> {
    const { response, text } = await this.#tried('GET', path, raw);
    const envelope = envelopeOf(text);
    if (envelope?.code !== 0) throw errorOf(response, envelope, false);
    const data = envelope.data as unknown[] | { total: number; list: unknown[] };
    if (!Array.isArray(data)) {
      if (!Array.isArray(data?.list)) throw foreign(response, 'the answer is no list');
      return { response, ...data };
    }
    const total = response.headers.get('x-total-count');
    if (total === null) throw foreign(response, 'the list does not say how long it is: X-Total-Count is missing');
    return { response, list: data, total: Number(total) };
  }

  /**
   * Applies a plan exactly as it was shown. `only` does not go with one over many domains.
   * @throws ZonewardError: 412001 something else stands there by now, 409003 guards are met, 423002 a freeze
   */
  async apply(
    plan: number,
    body: Schemas['ApplyInput'] = {},
    { override, ...options }: CallOptions & { override?: string } = {},
  ): Promise<Outcome> {
    const query = { wait: WAIT, ...(override === undefined ? {} : { override }) };
    return this.outcome(
      await this.call('POST', '/api/plans/{id}/apply', { path: { id: plan }, query, body, ...options }),
    );
  }

  /** What the answer to a plan or a list of changes says. */
  outcome({ status, headers, data }: Answer<unknown>): Outcome {
    const said = (data ?? {}) as Record<string, unknown>;
    if (status === 202 && said.state === 'waiting') return { state: 'waiting', plan: data as Schemas['PlanView'] };
    if (status === 202 && 'verdict' in said)
      return { state: 'unpublished', report: data as Schemas['PropagationView'] };
    if (status === 202 && typeof said.change_set_id === 'number')
      return { state: 'running', changeSetId: said.change_set_id };
    if (status === 202 && 'domains' in said) return { state: 'applying', result: data as ManyResult };
    const published = headers.has('preference-applied') && (said.verdict ?? 'published') === 'published';
    return { state: status === 207 ? 'partly' : 'done', result: data as Schemas['BatchResult'] | null, published };
  }

  /**
   * Waits until a list of changes has ended, or goes on only after somebody or at a time: `hold_reason`,
   * `paused_until`.
   * @param timeout ms; it is answered as it is then
   */
  waitForChanges(
    domain: number | string,
    changeSetId: number,
    options: CallOptions & { timeout?: number } = {},
  ): Promise<Schemas['ChangeSetDetail']> {
    return this.#until(
      () =>
        this.get('/api/domains/{domain_id}/changes/{changeSetId}', {
          path: { domain_id: domain, changeSetId },
          ...signalOf(options),
        }),
      ({ state, hold_reason, paused_until }) => state === 'done' || hold_reason !== null || paused_until !== null,
      options,
    );
  }

  /**
   * Waits until a plan over many domains, which is applied, has come to each of them; of those that are `running` then
   * the lists of changes go on: `waitForChanges`.
   * @param timeout ms; it is answered as it is then
   */
  waitForPlan(id: number, options: CallOptions & { timeout?: number } = {}): Promise<Schemas['PlanGroupView']> {
    return this.#until(
      async () =>
        (await this.get('/api/plans/{id}', {
          path: { id },
          ...signalOf(options),
        })) as unknown as Schemas['PlanGroupView'],
      ({ domains }) =>
        domains?.every(
          ({ state, change_set_id }) => state !== 'not_tried' && (state !== 'running' || change_set_id !== null),
        ) ?? true,
      options,
    );
  }

  /** Waits until a job has ended: `done` or `failed`. @param timeout ms; it is answered as it is then */
  waitForJob(id: number, options: CallOptions & { timeout?: number } = {}): Promise<Schemas['JobView']> {
    return this.#until(
      () => this.get('/api/system/jobs/{id}', { path: { id }, ...signalOf(options) }),
      ({ state }) => state === 'done' || state === 'failed',
      options,
    );
  }

  /**
   * Waits until all authoritative name servers show a record.
   * @param seconds in all; the verdict is then what it is
   */
  async waitUntilPublished(
    domain: number | string,
    record: number,
    seconds = 60,
    options: CallOptions = {},
  ): Promise<Schemas['PropagationView']> {
    for (const end = Date.now() + seconds * 1000; ; ) {
      const left = Math.ceil((end - Date.now()) / 1000);
      const wait = Math.min(Math.max(left, 1), LONGEST_PUBLISHED);
      const path = { domain_id: domain, record_id: record };
      const report = await this.get('/api/domains/{domain_id}/records/{record_id}/propagation', {
        path,
        query: { wait },
        ...signalOf(options),
      });
      if (report.verdict === 'published' || Date.now() >= end) return report;
      await sleep(FIRST_PAUSE, options.signal);
    }
  }

  async #until<T>(
    look: () => Promise<T>,
    ended: (seen: T) => boolean,
    { timeout = Number.POSITIVE_INFINITY, signal }: CallOptions & { timeout?: number },
  ): Promise<T> {
    for (let pause = FIRST_PAUSE, end = Date.now() + timeout; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
      const seen = await look();
      const left = end - Date.now();
      if (ended(seen) || left <= 0) return seen;
      await sleep(Math.min(pause, left), signal);
    }
  }

  async #tried(method: Method, path: string, raw: Raw & CallOptions): Promise<Arrived> {
    const { tries = 5, patience = 60_000 } = this.#options;
    const request = this.#request(method, path, raw);
    // what is signed in by nobody has no key, and a write without one is sent once
    const repeatable = !changes(method, path) || 'Idempotency-Key' in request.headers;
    for (let number = 1, waited = 0, lost = false; ; number++) {
      const came = await this.#once(method, path, request, number, raw);
      raw.signal?.throwIfAborted();
      const failure =
        'error' in came
          ? unreachable(this.url, changes(method, path), number, came.error)
          : failureOf(came, changes(method, path));
      if (!failure) return came as Arrived;
      // what was not let in any more says nothing of the try before it
      if (lost && failure instanceof ZonewardError && AT_THE_DOOR.includes(failure.status))
        Object.assign(failure.data, UNKNOWN);
      lost ||= failure.outcomeUnknown;
      const pause = pauseAfter(failure, number);
      if (!repeatable || !mayPass(failure, number < tries) || waited + pause > patience) throw failure;
      waited += pause;
      await sleep(pause, raw.signal);
    }
  }

  #request(method: Method, path: string, raw: Raw & CallOptions) {
    const { token, headers } = this.#options;
    const write = raw.idempotencyKey !== undefined || (changes(method, path) && token !== undefined);
    return {
      url: this.url + addressOf(path, raw),
      method,
      redirect: 'manual' as const,
      headers: {
        Accept: 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(raw.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
        ...raw.headers,
        ...(write ? { 'Idempotency-Key': raw.idempotencyKey ?? crypto.randomUUID() } : {}),
      } as Record<string, string>,
      ...(raw.body === undefined ? {} : { body: JSON.stringify(raw.body) }),
    };
  }

  async #once(
    method: Method,
    path: string,
    { url, ...init }: { url: string } & RequestInit,
    number: number,
    { query, signal }: Raw & CallOptions,
  ): Promise<Came> {
    const { timeout = 90_000, fetch: send = fetch, onTry } = this.#options;
    const wait = Number(query?.wait ?? 0) * 1000 + publishedWait(init.headers as Record<string, string>);
    const late = AbortSignal.timeout(timeout + wait);
    const began = Date.now();
    const told = (response: Response | null) =>
      onTry?.({
        method,
        path,
        number,
        status: response?.status ?? null,
        requestId: response?.headers.get('x-request-id') ?? null,
        ms: Date.now() - began,
      });
    try {
      const response = await send(url, { ...init, signal: signal ? AbortSignal.any([signal, late]) : late });
      // an answer that breaks off is none
      const text = await response.text();
      told(response);
      return { response, text };
    } catch (error) {
      told(null);
      return { error };
    }
  }
}

/** Entries of a page at most. */
const MOST_ENTRIES = 500;
/** How often a list is read from its beginning again. */
const RESTARTS = 5;
/** Seconds that the service is asked to wait for the end of an apply. */
const WAIT = 50;
/** Seconds that it waits for publication at most. */
const LONGEST_PUBLISHED = 300;

const signalOf = ({ signal }: CallOptions): CallOptions => (signal ? { signal } : {});

/** The header that asks for an answer when all authoritative name servers show the change. @param seconds 1 to 300 */
export const preferPublished = (seconds?: number): Record<string, string> =>
  seconds === undefined ? {} : { Prefer: `respond-published; wait=${Math.min(seconds, LONGEST_PUBLISHED)}` };

const publishedWait = ({ Prefer = '' }: Record<string, string>): number =>
  Number(/wait=(\d+)/.exec(Prefer)?.[1] ?? 0) * 1000;

/** Whether a call changes anything: a plan does not, and is made again where its answer was lost. */
const changes = (method: Method, path: string): boolean =>
  method !== 'GET' && !(method === 'POST' && path.endsWith('/plans'));

/** An answer that is not what the service would say. */
const foreign = (response: Response, msg: string): ZonewardError =>
  errorOf(response, { code: response.status * 1000, msg }, false);

/** The failure that an answer is, or null. */
function failureOf({ response, text }: Arrived, write: boolean): ZonewardError | null {
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    const envelope = {
      code: (response.status || 300) * 1000,
      msg: 'the address leads elsewhere: use the one that it leads to',
    };
    return errorOf(response, envelope, write);
  }
  if (response.ok) return null;
  return errorOf(response, envelopeOf(text), write);
}

/** Whether a failure may be gone with the next try. @param again whether there are tries left */
function mayPass(failure: ZonewardError | Unreachable, again: boolean): boolean {
  if (failure instanceof Unreachable) return again;
  // the first try of this very call goes on: its answer is waited for
  if (failure.code === 409004) return true;
  return again && AGAIN.includes(failure.status) && failure.reason !== 'setup_needed';
}

/** ms before the next try: as the service says, else doubled with each, half of it by chance. @param number of tries */
function pauseAfter(failure: ZonewardError | Unreachable, number: number): number {
  if (failure instanceof ZonewardError && failure.retryAfter !== null)
    return failure.retryAfter * 1000 + Math.random() * FIRST_PAUSE;
  const most = Math.min(FIRST_PAUSE * 2 ** (number - 1), LONGEST_PAUSE);
  return most / 2 + (Math.random() * most) / 2;
}

function unreachable(url: string, write: boolean, tries: number, error: unknown): Unreachable {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  const why = cause?.code ?? cause?.message ?? message;
  return new Unreachable(`no answer from ${url} (${why})`, tries, write, error);
}
