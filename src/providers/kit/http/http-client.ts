import type { Dispatcher } from 'undici';
import { monotonicMs, sleep, timeMs, timeoutSignal } from '../../../platform/common/clock.js';
import { LEAST_MS, requestDeadline } from '../../../platform/common/deadline.js';
import { due, turn } from '../../../platform/common/turns.js';
import { request } from '../../../platform/outbound/agent.js';
import { readChunks } from '../../../platform/outbound/body.js';
import { retryAfter } from '../../../platform/outbound/retry-after.js';
import { decode, encode, FOREIGN_CHARACTERS, type Form, parameters, plainWords, type RequestBody } from './body.js';
import { assertHeld, atMost, currentContext, currentDeadline, type Tries } from './deadline-context.js';
import { entriesOf } from './entries.js';
import { clipped, connectionWords, kindOf, type Late, NotBegun, ProviderError } from './errors.js';
import { currentList, MOST_ENTRIES } from './list-size.js';
import { againAt, type RateLimiter } from './rate-limiter.js';

/** Entries of an answer that are handed on at once. */
const ENTRIES = 1000;

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
  renews?: (status: number, body: unknown, sent: OutgoingRequest['headers']) => boolean;
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
  /** the answer is handed out as it came, and not looked at */
  octets?: boolean;
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
 * whose own time ends before that fails at once, and so does one that was refused ten times. A write that is made of
 * what was read (see `Tries`) is not repeated here: its failure goes to who reads again.
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

  /**
   * The entries of one list in the object that a GET answers in JSON, in pieces: of a long answer just its octets are
   * kept. It is known to be whole with the last piece alone. @throws ProviderError, also for a list that is too long
   */
  async *entries<T>(path: string, list: string, options: CallOptions = {}): AsyncGenerator<T[]> {
    const { body, headers } = await this.exchange<Uint8Array[]>('GET', path, { ...options, octets: true });
    let count = 0;
    try {
      for (const entries of entriesOf<T>(body, list)) {
        count += entries.length;
        if (count > MOST_ENTRIES)
          throw new ProviderError('unavailable', `The provider's answer has more than ${MOST_ENTRIES} ${list}`, false);
        for (let i = 0; i < entries.length; i += ENTRIES) {
          if (due()) await turn();
          yield entries.slice(i, i + ENTRIES);
        }
      }
    } catch (error) {
      throw error instanceof SyntaxError ? new ProviderError('unavailable', this.unreadable(headers), false) : error;
    }
  }

  /** Like `call`, with status and headers, for vendors that page by header. @throws ProviderError */
  async exchange<T>(method: Method, path: string, options: CallOptions = {}): Promise<HttpAnswer<T>> {
    const call = new Call(method, path, options, this.options);
    for (;;) {
      let answer: Received;
      try {
        answer = await this.attempt(call);
      } catch (error) {
        await this.waitAfterBreak(call, error);
        continue;
      }
      const success = await this.success<T>(call, answer);
      if (success) return success;
      const failure = this.failure(call, answer);
      if (!call.renewed && this.options.renews?.(answer.status, this.body(this.text(answer)), call.headers))
        call.renewed = true;
      else await this.waitAfterFailure(call, answer, failure);
    }
  }

  /** One attempt, when its turn has come. @throws ProviderError before anything is sent, and what breaks it off */
  private async attempt(call: Call): Promise<Received> {
    const { limiter, timeoutMs } = this.options;
    const { asker } = call;
    if (monotonicMs() + (call.reads ? 0 : LEAST_MS) >= call.deadline)
      throw new NotBegun('unavailable', 'The time for the call is over');
    if (asker.isRefused) throw new NotBegun('rate_limit', REFUSED).retryAt(Math.max(timeMs(), limiter.opens()));
    const outgoing = await this.outgoing(call);
    call.redact = this.redacting(outgoing);
    call.headers = outgoing.headers;
    call.sent = false;
    const send = () => {
      call.patience = atMost(timeoutMs);
      return this.send(outgoing, call.patience, () => call.begin());
    };
    return limiter.run(send, Math.min(call.end, monotonicMs() + asker.patience), call.turns++ > 0);
  }

  /** Waits until a call that was broken off may be tried once more. @throws ProviderError where it may not */
  private async waitAfterBreak(call: Call, error: unknown): Promise<void> {
    const { retries, neverTwice } = this.options;
    if (error instanceof ProviderError) throw call.isDoubtful ? error.applied(true).lateBy(call.late) : error;
    if ((error as { code?: string }).code === 'UND_ERR_INVALID_ARG') throw new NotBegun('auth', UNSENDABLE);
    // a provider that is too slow is not asked again: the caller has waited long enough, and it has enough to do
    const slow = (error as Error).name === 'TimeoutError';
    if (call.sent) call.doubt(true);
    const last = call.attempt >= retries;
    const wait = backoff(call.attempt++);
    const mayAgain = !call.sent || (call.idempotent && (call.reads || !neverTwice));
    const words = connectionWords(error, call.patience);
    const failure = new ProviderError('unavailable', call.redact(words), call.isDoubtful).lateBy(call.late);
    if (last || slow || !mayAgain || monotonicMs() + wait >= call.end) throw failure;
    await sleep(wait);
    call.repeat(failure);
  }

  /** What a successful call answers; null of a failure. @throws ProviderError where it cannot be read */
  private async success<T>(call: Call, answer: Received): Promise<HttpAnswer<T> | null> {
    const { status, headers, octets } = answer;
    if (status < 200 || status >= 300) return null;
    call.list?.add(octets.reduce((sum, { length }) => sum + length, 0));
    const body = call.options.octets ? (octets as T) : await this.decoded<T>(call, answer);
    if (!call.options.octets && this.options.failed?.(body)) return null;
    call.asker.heard(false);
    if (call.doing && !call.reads) call.doing.written = true;
    if (call.tries) call.tries.written = true;
    return { status, headers, body };
  }

  /** What an answer says. @throws ProviderError where it cannot be read */
  private async decoded<T>(call: Call, answer: Received): Promise<T> {
    const text = this.text(answer);
    // reading a long answer and what is made of it are two pieces of work
    if (text.length > LONG) await turn();
    const body = this.parse<T>(call, text, answer.headers);
    if (text.length > LONG) await turn();
    return body;
  }

  /** Waits until a call that failed may be tried once more. @throws ProviderError its failure, where it may not */
  private async waitAfterFailure(call: Call, { status, headers }: Received, failure: ProviderError): Promise<void> {
    const { asker } = call;
    const asked = retryAfter(headers['retry-after']);
    const limited = failure.kind === 'rate_limit';
    const wait = asked ?? backoff(call.attempt);
    asker.heard(limited);
    if (limited || (status === 503 && asked !== undefined)) await this.pause(failure, wait, asked !== undefined);
    const busy = limited || (call.idempotent && (BUSY.includes(status) || call.options.busy?.includes(status)));
    // a write that may still come must not come behind its own repetition
    const over = wait > asker.patience || monotonicMs() + wait > call.end;
    if (!busy || call.late || over || call.turns >= call.most || asker.isRefused) throw failure;
    // a provider that says when it takes calls again means it; one that says "now" again and again does not
    const counts = !limited || !asked;
    if (counts && call.attempt++ >= this.options.retries) throw failure;
    if (!limited) await sleep(wait);
    call.repeat(failure);
  }

  /** Pauses the account. @param named whether the provider said for how long */
  private async pause(failure: ProviderError, wait: number, named: boolean): Promise<void> {
    const { limiter } = this.options;
    const until = limiter.pause(wait, failure.message);
    if (named) failure.retryAt(until).message += `; ${againAt(until)}`;
    await limiter.reported();
  }

  private async outgoing({ method, path, options }: Call): Promise<OutgoingRequest> {
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
    const { sign, dispatcher } = this.options;
    const { url, method, headers, body } = sign ? sign(prepared) : prepared;
    const signal = timeoutSignal(timeoutMs);
    const told = dispatcher.compose((dispatch) => (more, handler) => dispatch(more, telling(handler, begin)));
    const answer = await request(url, { method, headers, body: body ?? null, signal, dispatcher: told });
    const octets = await readChunks(answer.body, MAX_BODY_MIB);
    return { status: answer.statusCode, headers: answer.headers, octets };
  }

  private text({ octets }: Received): string {
    const { charset } = this.options;
    const bytes = Buffer.concat(octets);
    return charset ? new TextDecoder(charset).decode(bytes) : bytes.toString('utf8');
  }

  /** Takes out what a request itself is authorised by as well: a token that was fetched is no credential. */
  private redacting({ headers }: OutgoingRequest): (text: string) => string {
    const values = Object.entries(headers).flatMap(([name, value]) => (PUBLIC.test(name) ? [] : value.split(/[ ;,]+/)));
    const secrets = values.filter((value) => value.length >= 8);
    return (text) => secrets.reduce((all, secret) => all.replaceAll(secret, '***'), this.options.redact(text));
  }

  private parse<T>(call: Call, text: string, headers: Received['headers']): T {
    try {
      return decode(text, this.options.answers ?? 'json') as T;
    } catch {
      if (!call.reads) call.doubt(true);
      throw new ProviderError('unavailable', this.unreadable(headers), !call.reads).lateBy(call.late);
    }
  }

  private unreadable(headers: Received['headers']): string {
    const { answers = 'json', redact } = this.options;
    const type = clipped(redact(String(headers['content-type'] ?? 'no content type')), FOREIGN_CHARACTERS);
    return `The provider's answer was cut off or is not ${answers.toUpperCase()} (${type})`;
  }

  private body(text: string): unknown {
    try {
      return decode(text, this.options.answers ?? 'json') ?? text;
    } catch {
      // many gateways answer errors in plain text or HTML
      return text;
    }
  }

  private failure(call: Call, answer: Received): ProviderError {
    const { reads, redact } = call;
    const { status } = answer;
    const text = this.text(answer);
    const body = this.body(text);
    const kind = this.options.errorKind?.(status, body) ?? kindOf(status);
    // a vendor that says a refusal by such a status has done nothing
    if (status >= 500 && kind !== 'rejected') call.doubt(UNANSWERED.includes(status));
    const own = this.options.errorMessage?.(body) ?? plainWords(redact(text));
    const words = own ? `${own} (HTTP ${status})` : `HTTP ${status}`;
    const mayHaveApplied = call.isDoubtful || (!reads && kind === 'unavailable');
    return new ProviderError(kind, redact(words), mayHaveApplied).lateBy(call.late);
  }
}

/** One call, and what is known of its attempts so far. */
class Call {
  // taken here: the limiter may run the call in the context of another one
  readonly doing = currentContext();
  readonly list = currentList();
  readonly deadline = currentDeadline();
  readonly asker = requestDeadline();
  /** of a write that is repeated from a new read alone */
  readonly tries: Tries | undefined;
  readonly reads: boolean;
  readonly idempotent: boolean;
  /** ms of `monotonicMs()` at which it gives up */
  readonly end: number;
  /** turns of the limiter that it may take */
  readonly most: number;
  attempt = 0;
  turns = 0;
  sent = false;
  renewed = false;
  patience: number;
  redact: (text: string) => string;
  headers: OutgoingRequest['headers'] = {};
  /** one that was sent and went without an answer: it may still come */
  late: Late = null;
  private unclear = false;

  constructor(
    readonly method: Method,
    readonly path: string,
    readonly options: CallOptions,
    { waitMs, timeoutMs, redact }: HttpOptions,
  ) {
    this.reads = options.reads ?? method === 'GET';
    this.idempotent = options.idempotent ?? (this.reads || (method !== 'POST' && method !== 'PATCH'));
    this.tries = this.reads || this.doing?.tries?.written ? undefined : this.doing?.tries;
    this.attempt = this.tries?.attempt ?? 0;
    this.turns = this.tries?.turns ?? 0;
    this.end = this.tries?.end ?? (Number.isFinite(this.deadline) ? this.deadline : monotonicMs() + waitMs);
    this.most = this.end - monotonicMs() > PATIENT_MS ? Number.POSITIVE_INFINITY : MOST_TRIES;
    this.patience = timeoutMs;
    this.redact = redact;
  }

  /**
   * Whether an attempt of a write may have been carried out: a later one that certainly was not takes nothing of that
   * back.
   */
  get isDoubtful(): boolean {
    return this.unclear && !this.reads;
  }

  /** @param comes whether the attempt went without an answer */
  doubt(comes: boolean): void {
    if (!this.reads && (comes || this.late)) this.late = this.unclear ? 'again' : 'once';
    this.unclear = true;
    if (this.doing && !this.reads) this.doing.unclear = true;
  }

  /** Called when it may be made once more. @throws ProviderError the failure, where what it says is to be read anew */
  repeat(failure: ProviderError): void {
    const { tries, attempt, turns, end } = this;
    if (tries) throw Object.assign(tries, { attempt, turns, end, again: failure }).again;
  }

  /** Called right before it is sent. @throws NotBegun */
  begin(): void {
    assertHeld(this.doing);
    this.sent = true;
  }
}

interface Received {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  octets: Uint8Array[];
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
