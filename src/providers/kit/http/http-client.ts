import type { Dispatcher } from 'undici';
import { sleep, timeMs } from '../../../platform/common/clock.js';
import { LEAST_MS, requestDeadline } from '../../../platform/common/deadline.js';
import { turn } from '../../../platform/common/turns.js';
import { request } from '../../../platform/outbound/agent.js';
import { readBody } from '../../../platform/outbound/body.js';
import { retryAfter } from '../../../platform/outbound/retry-after.js';
import { decode, encode, FOREIGN_CHARACTERS, type Form, parameters, plainWords, type RequestBody } from './body.js';
import { assertHeld, atMost, currentContext, currentDeadline } from './deadline-context.js';
import { clipped, type Late, NotBegun, ProviderError } from './errors.js';
import { againAt, type RateLimiter } from './rate-limiter.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request before it is sent; hooks return a changed copy. */
export interface OutgoingRequest {
  method: Method;
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
}

/** What an account's client is made of; `defineProvider` authors change only what `extend` takes. */
export interface HttpOptions {
  /** no final slash */
  baseUrl: string;
  headers: Record<string, string>;
  /** in what form answers come; default JSON */
  answers?: Form;
  /** encoding of answers, as `TextDecoder` names it; default UTF-8 */
  charset?: string;
  /** ms for one attempt, answer included */
  timeoutMs: number;
  /** further attempts after the first; a 429 that names a time is not counted */
  retries: number;
  /**
   * a write that was sent and broken off is not repeated: applied late, it would overwrite what others wrote after the
   * repetition
   */
  neverTwice?: boolean;
  /** ms that a call may wait in all, for its turn and between attempts; a list of changes has its deadline instead */
  waitMs: number;
  dispatcher: Dispatcher;
  /** limits of the account */
  limiter: RateLimiter;
  /** takes secrets out of a text */
  redact: (text: string) => string;
  /**
   * authorises a request before it waits for its turn, anew for each attempt: it may make calls of its own, such as one
   * for a token
   */
  beforeRequest?: (request: OutgoingRequest) => OutgoingRequest | Promise<OutgoingRequest>;
  /** signs a request when its turn has come, so that the date in it is fresh */
  sign?: (request: OutgoingRequest) => OutgoingRequest;
  /** whether an answer with a status of success is an error all the same */
  failed?: (body: unknown) => boolean;
  /** the provider's own words in an error body, parsed or text */
  errorMessage?: (body: unknown) => string | undefined;
  /** for errors that the status alone does not tell; undefined leaves the usual mapping */
  errorKind?: (status: number, body: unknown) => ProviderError['kind'] | undefined;
  /** whether a refusal is that of a token which is dropped now: the call is made once more, with another one */
  renews?: (status: number, body: unknown) => boolean;
}

type Hooks = 'beforeRequest' | 'sign' | 'failed' | 'errorMessage' | 'errorKind' | 'renews';

export interface CallOptions extends RequestBody {
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  /** the call may be repeated after an unclear failure; default: what reads, and all but POST and PATCH */
  idempotent?: boolean;
  /** the call changes nothing; default: GET */
  reads?: boolean;
  /** statuses that mean "busy", besides 429, 502, 503 and 504 */
  busy?: readonly number[];
}

export interface HttpAnswer<T> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: T;
}

/** The header of a user with a password (RFC 7617). */
export const basicAuth = (user = '', password = '') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

/** An answer larger than this is refused: no provider's page is near it. */
const MAX_BODY_MIB = 64;
/** characters of an answer that takes long to read */
const LONG = 1024 * 1024;
/** tries of one call, however often the provider says when to come again */
const MOST_TRIES = 10;
/** ms; who has more time, such as a list that goes on in the background, waits as often as it takes */
const PATIENT_MS = 3_600_000;
/** a proxy in between got no answer: the provider may still carry the request out */
const UNANSWERED = [502, 504, 524];
const BUSY = [502, 503, 504];
/** headers that hold nothing secret */
const PUBLIC = /^(accept|user-agent|content-.*|host|if-.*|.*date)$/i;

/**
 * The HTTP client of all providers. Owns the time limit (not retried), retries (idempotent calls on 502, 503, 504 and
 * broken connections, all on 429), the limits of the account, keep-alive, and failure as `ProviderError`. A 429, or a
 * 503 that names a time, pauses the whole account for as long as it says, an hour at most (see `RateLimiter`); a call
 * whose own time ends before that fails at once, and so does one that was refused ten times.
 */
export class Http {
  constructor(private readonly options: HttpOptions) {}

  /** The same client with other base URL, headers (merged), or hooks. */
  extend(more: Partial<Pick<HttpOptions, 'baseUrl' | 'headers' | 'answers' | 'charset' | 'timeoutMs' | Hooks>>): Http {
    return new Http({ ...this.options, ...more, headers: { ...this.options.headers, ...more.headers } });
  }

  get<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call<T>('GET', path, options);
  }
  post<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call<T>('POST', path, options);
  }
  put<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call<T>('PUT', path, options);
  }
  patch<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call<T>('PATCH', path, options);
  }
  delete<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call<T>('DELETE', path, options);
  }

  /** Body of a 2xx answer: parsed, or undefined when empty. @throws ProviderError */
  async call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
    return (await this.exchange<T>(method, path, options)).body;
  }

  /** Like `call`, with status and headers, for vendors that page by header. @throws ProviderError */
  async exchange<T>(method: Method, path: string, options: CallOptions = {}): Promise<HttpAnswer<T>> {
    const { retries, waitMs, limiter } = this.options;
    const reads = options.reads ?? method === 'GET';
    const idempotent = options.idempotent ?? (reads || (method !== 'POST' && method !== 'PATCH'));
    const doing = currentContext();
    const deadline = currentDeadline();
    const asker = requestDeadline();
    const end = Number.isFinite(deadline) ? deadline : performance.now() + waitMs;
    const most = end - performance.now() > PATIENT_MS ? Number.POSITIVE_INFINITY : MOST_TRIES;
    // whether an attempt so far may have been carried out: a later one that certainly was not takes nothing of that
    // back
    let unclear = false;
    // one that was sent and went without an answer: it may still come
    let late: Late = null;
    const doubtful = () => unclear && !reads;
    const doubt = (may: boolean, comes = false) => {
      if (!may) return;
      if (!reads && (comes || late)) late = unclear ? 'again' : 'once';
      unclear = true;
      if (doing && !reads) doing.unclear = true;
    };
    // taken here: the limiter may run the call in the context of another one
    let sent = false;
    const begin = () => {
      assertHeld(doing);
      sent = true;
    };
    let turns = 0;
    let patience = this.options.timeoutMs;
    let renewed = false;
    let redact = this.options.redact;
    for (let attempt = 0; ; ) {
      const last = attempt >= retries;
      let answer: Received;
      try {
        if (performance.now() + (reads ? 0 : LEAST_MS) >= deadline)
          throw new NotBegun('unavailable', 'The time for the call is over');
        if (asker.isRefused) throw new NotBegun('rate_limit', REFUSED).retryAt(Math.max(timeMs(), limiter.opens()));
        const outgoing = await this.outgoing(method, path, options);
        redact = this.redacting(outgoing);
        sent = false;
        const send = () => {
          patience = atMost(this.options.timeoutMs);
          return this.send(outgoing, patience, begin);
        };
        answer = await limiter.run(send, Math.min(end, performance.now() + asker.patience), turns++ > 0);
      } catch (error) {
        if (error instanceof ProviderError) throw doubtful() ? error.applied(true).lateBy(late) : error;
        if ((error as { code?: string }).code === 'UND_ERR_INVALID_ARG') throw new NotBegun('auth', UNSENDABLE);
        // a provider that is too slow is not asked again: the caller has waited long enough, and it has enough to do
        const slow = (error as Error).name === 'TimeoutError';
        doubt(sent, true);
        const wait = backoff(attempt++);
        const mayAgain = !sent || (idempotent && (reads || !this.options.neverTwice));
        if (!last && !slow && mayAgain && performance.now() + wait < end) {
          await sleep(wait);
          continue;
        }
        const words = connectionWords(error, patience);
        throw new ProviderError('unavailable', redact(words), doubtful()).lateBy(late);
      }
      const { status, headers, text } = answer;
      const success = status >= 200 && status < 300;
      if (success) {
        // reading a long answer and what is made of it are two pieces of work
        if (text.length > LONG) await turn();
        const body = this.parse<T>(text, headers, reads, () => {
          doubt(!reads, true);
          return late;
        });
        if (text.length > LONG) await turn();
        if (!this.options.failed?.(body)) {
          asker.heard(false);
          if (doing && !reads) doing.written = true;
          return { status, headers, body };
        }
      }
      doubt(status >= 500, UNANSWERED.includes(status));
      const failure = this.failure(status, text, { reads, unclear: doubtful(), redact }).lateBy(late);
      if (!renewed && this.options.renews?.(status, this.body(text))) {
        renewed = true;
        continue;
      }
      const asked = retryAfter(headers['retry-after']);
      const limited = failure.kind === 'rate_limit';
      const wait = asked ?? backoff(attempt);
      asker.heard(limited);
      const paused = (limited || status === 503) && asked !== undefined;
      if (limited || paused) {
        const until = limiter.pause(wait, failure.message);
        if (paused) failure.retryAt(until).message += `; ${againAt(until)}`;
        await limiter.reported();
      }
      const busy = limited || (idempotent && (BUSY.includes(status) || options.busy?.includes(status)));
      // a write that may still come must not come behind its own repetition
      const over = wait > asker.patience || performance.now() + wait > end;
      if (!busy || late || over || turns >= most || asker.isRefused) throw failure;
      // a provider that says when it takes calls again means it; one that says "now" again and again does not
      if (!limited || !asked) attempt++;
      if (last && (!limited || !asked)) throw failure;
      if (!limited) await sleep(wait);
    }
  }

  private async outgoing(method: Method, path: string, options: CallOptions): Promise<OutgoingRequest> {
    const url = new URL(this.options.baseUrl + path);
    for (const [key, value] of parameters(options.query ?? {})) url.searchParams.set(key, value);
    const { body, type } = encode(options);
    const accept = this.options.answers === 'json' || !this.options.answers ? 'application/json' : '*/*';
    const headers = { accept, 'user-agent': 'zoneward', ...this.options.headers, ...options.headers };
    const outgoing: OutgoingRequest = { method, url, headers, body };
    if (type) outgoing.headers['content-type'] ??= type;
    return this.options.beforeRequest ? this.options.beforeRequest(outgoing) : outgoing;
  }

  /** @param begin is told right before the first octet goes out, over a connection that is there; it may throw */
  private async send(prepared: OutgoingRequest, timeoutMs: number, begin: () => void): Promise<Received> {
    const { sign, dispatcher, charset } = this.options;
    const { url, method, headers, body } = sign ? sign(prepared) : prepared;
    const signal = AbortSignal.timeout(timeoutMs);
    const told = dispatcher.compose((dispatch) => (more, handler) => dispatch(more, telling(handler, begin)));
    const answer = await request(url, { method, headers, body, signal, dispatcher: told });
    const bytes = await readBody(answer.body, MAX_BODY_MIB);
    const text = charset ? new TextDecoder(charset).decode(bytes) : bytes.toString('utf8');
    return { status: answer.statusCode, headers: answer.headers, text };
  }

  /** Takes out what a request itself is authorised by as well: a token that was fetched is no credential. */
  private redacting({ headers }: OutgoingRequest): (text: string) => string {
    const values = Object.entries(headers).flatMap(([name, value]) => (PUBLIC.test(name) ? [] : value.split(/[ ;,]+/)));
    const secrets = values.filter((value) => value.length >= 8);
    return (text) => secrets.reduce((all, secret) => all.replaceAll(secret, '***'), this.options.redact(text));
  }

  private parse<T>(text: string, headers: Received['headers'], reads: boolean, doubt: () => Late): T {
    const { answers = 'json', redact } = this.options;
    try {
      return decode(text, answers) as T;
    } catch {
      const type = clipped(redact(String(headers['content-type'] ?? 'no content type')), FOREIGN_CHARACTERS);
      const words = `The provider's answer was cut off or is not ${answers.toUpperCase()} (${type})`;
      throw new ProviderError('unavailable', words, !reads).lateBy(doubt());
    }
  }

  private body(text: string): unknown {
    try {
      return decode(text, this.options.answers ?? 'json') ?? text;
    } catch {
      // many gateways answer errors in plain text or HTML
      return text;
    }
  }

  private failure(
    status: number,
    text: string,
    { reads, unclear, redact }: { reads: boolean; unclear: boolean; redact: (text: string) => string },
  ): ProviderError {
    const body = this.body(text);
    const own = this.options.errorMessage?.(body) ?? plainWords(redact(text));
    const kind = this.options.errorKind?.(status, body) ?? kindOf(status);
    const words = own ? `${own} (HTTP ${status})` : `HTTP ${status}`;
    return new ProviderError(kind, redact(words), unclear || (!reads && kind === 'unavailable'));
  }
}

interface Received {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  text: string;
}

function kindOf(status: number): ProviderError['kind'] {
  if (status === 401 || status === 403) return 'auth';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limit';
  return status >= 500 ? 'unavailable' : 'rejected';
}

const backoff = (attempt: number): number => 100 * 2 ** attempt + Math.random() * 100;

/** A handler that says when its request goes out. */
const telling = (handler: Dispatcher.DispatchHandler, begin: () => void): Dispatcher.DispatchHandler => ({
  onRequestStart: (...args) => {
    begin();
    handler.onRequestStart?.(...args);
  },
  onResponseStart: (...args) => handler.onResponseStart?.(...args),
  onResponseData: (...args) => handler.onResponseData?.(...args),
  onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
  onResponseError: (...args) => handler.onResponseError?.(...args),
});

const REFUSED = 'The provider has refused the calls for this request too often';

const UNSENDABLE =
  'A credential holds a character that no request can carry, such as a line break or a typographic quote';

function connectionWords(error: unknown, timeoutMs: number): string {
  const e = error as { name?: string; code?: string; message?: string };
  if (e.name === 'TimeoutError') return `The provider did not answer within ${timeoutMs / 1000} s`;
  if (e.code === 'EOUTBOUND') return e.message ?? 'The address is not allowed';
  return `The provider cannot be reached or broke the connection (${e.code ?? e.message ?? 'unknown error'})`;
}
