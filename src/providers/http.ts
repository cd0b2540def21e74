import type PQueue from 'p-queue';
import { type Dispatcher, request } from 'undici';
import { sleep } from '../common/clock.js';
import { readBody } from '../outbound/body.js';
import { clipped, ProviderError } from './errors.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request just before it is sent; signing hooks return a changed copy. */
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
  /** ms for one attempt, answer included */
  timeoutMs: number;
  /** further attempts after the first */
  retries: number;
  /** ms; a longer `Retry-After` is not waited for */
  maxRetryAfterMs: number;
  dispatcher: Dispatcher;
  /** per-account rate and concurrency limit */
  queue: PQueue;
  /** takes secrets out of a text */
  redact: (text: string) => string;
  /** signs a request; called anew for each attempt */
  beforeRequest?: (request: OutgoingRequest) => OutgoingRequest | Promise<OutgoingRequest>;
  /** the provider's own words in an error body, parsed JSON or text */
  errorMessage?: (body: unknown) => string | undefined;
  /** for errors that the status alone does not tell; undefined leaves the usual mapping */
  errorKind?: (status: number, body: unknown) => ProviderError['kind'] | undefined;
}

export interface CallOptions {
  query?: Record<string, string | number | boolean | undefined>;
  json?: unknown;
  headers?: Record<string, string>;
  /** the call may be repeated after an unclear failure; default: all but POST and PATCH */
  idempotent?: boolean;
}

export interface HttpAnswer<T> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: T;
}

/** An answer larger than this is refused: no provider's page is near it. */
const MAX_BODY_MIB = 64;
/** So much of an answer that is not JSON is repeated at most. */
const FOREIGN_CHARACTERS = 100;
const BUSY = new Set([429, 502, 503, 504]);

/**
 * The one HTTP client of all providers. Owns the time limit (not retried), retries (idempotent calls on 429, 502, 503,
 * 504 and broken connections, others on 429 only; `Retry-After` is honoured up to its bound), the account's rate and
 * concurrency limit, keep-alive, and failure as `ProviderError`.
 */
export class Http {
  constructor(private readonly options: HttpOptions) {}

  /** The same client with other base URL, headers (merged), or hooks. */
  extend(
    more: Partial<
      Pick<HttpOptions, 'baseUrl' | 'headers' | 'beforeRequest' | 'errorMessage' | 'errorKind' | 'timeoutMs'>
    >,
  ): Http {
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

  /** Body of a 2xx answer: parsed JSON, or undefined when empty. @throws ProviderError */
  async call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
    return (await this.exchange<T>(method, path, options)).body;
  }

  /** Like `call`, with status and headers, for vendors that page by header. @throws ProviderError */
  async exchange<T>(method: Method, path: string, options: CallOptions = {}): Promise<HttpAnswer<T>> {
    const { retries, maxRetryAfterMs } = this.options;
    const idempotent = options.idempotent ?? (method !== 'POST' && method !== 'PATCH');
    // whether an attempt so far may have been carried out: a later one that certainly was not takes nothing of that
    // back
    let unclear = false;
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= retries;
      let answer: { status: number; headers: Dispatcher.ResponseData['headers']; text: string };
      try {
        answer = (await this.options.queue.add(() => this.send(method, path, options))) as typeof answer;
      } catch (error) {
        const certain = neverSent(error);
        unclear ||= !certain;
        // a provider that is too slow is not asked again: the caller has waited long enough, and it has enough to do
        const slow = (error as Error).name === 'TimeoutError';
        if (!last && !slow && (idempotent || certain)) {
          await sleep(backoff(attempt));
          continue;
        }
        throw new ProviderError(
          'unavailable',
          this.options.redact(connectionWords(error, this.options.timeoutMs)),
          unclear,
        );
      }
      const { status, headers, text } = answer;
      if (status >= 200 && status < 300) return { status, headers, body: this.parse<T>(text, headers) };
      const wait = retryAfter(headers['retry-after']) ?? backoff(attempt);
      unclear ||= status >= 500;
      if (!last && BUSY.has(status) && (idempotent || status === 429) && wait <= maxRetryAfterMs) {
        await sleep(wait);
        continue;
      }
      throw this.failure(status, text, unclear);
    }
  }

  private async send(method: Method, path: string, options: CallOptions) {
    const url = new URL(this.options.baseUrl + path);
    for (const [key, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    let outgoing: OutgoingRequest = {
      method,
      url,
      headers: { accept: 'application/json', 'user-agent': 'zoneward', ...this.options.headers, ...options.headers },
      body: options.json === undefined ? undefined : JSON.stringify(options.json),
    };
    if (outgoing.body !== undefined) outgoing.headers['content-type'] ??= 'application/json';
    if (this.options.beforeRequest) outgoing = await this.options.beforeRequest(outgoing);
    const signal = AbortSignal.timeout(this.options.timeoutMs);
    const answer = await request(outgoing.url, {
      method: outgoing.method,
      headers: outgoing.headers,
      body: outgoing.body,
      signal,
      dispatcher: this.options.dispatcher,
    });
    const text = (await readBody(answer.body, MAX_BODY_MIB)).toString('utf8');
    return { status: answer.statusCode, headers: answer.headers, text };
  }

  private parse<T>(text: string, headers: Dispatcher.ResponseData['headers']): T {
    if (text === '') return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch {
      const type = clipped(
        this.options.redact(String(headers['content-type'] ?? 'no content type')),
        FOREIGN_CHARACTERS,
      );
      throw new ProviderError('unavailable', `The provider's answer was cut off or is not JSON (${type})`);
    }
  }

  private failure(status: number, text: string, unclear: boolean): ProviderError {
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // many gateways answer errors in plain text or HTML
    }
    const own = this.options.errorMessage?.(body) ?? plainWords(this.options.redact(text));
    const kind = this.options.errorKind?.(status, body) ?? kindOf(status);
    const words = own ? `${own} (HTTP ${status})` : `HTTP ${status}`;
    return new ProviderError(kind, this.options.redact(words), unclear || kind === 'unavailable');
  }
}

function kindOf(status: number): ProviderError['kind'] {
  if (status === 401 || status === 403) return 'auth';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limit';
  return status >= 500 ? 'unavailable' : 'rejected';
}

const backoff = (attempt: number): number => 100 * 2 ** attempt + Math.random() * 100;

/** ms that a `Retry-After` header asks for: seconds or an HTTP date. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const plainWords = (text: string): string | undefined =>
  text && !/^\s*[<{[]/.test(text) ? clipped(text.trim(), FOREIGN_CHARACTERS) : undefined;

/** True when the request certainly did not reach the provider. */
function neverSent(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? (error as { cause?: { code?: string } }).cause?.code;
  return [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
    'EOUTBOUND',
  ].includes(code ?? '');
}

function connectionWords(error: unknown, timeoutMs: number): string {
  const e = error as { name?: string; code?: string; message?: string };
  if (e.name === 'TimeoutError') return `The provider did not answer within ${timeoutMs / 1000} s`;
  if (e.code === 'EOUTBOUND') return e.message ?? 'The address is not allowed';
  return `The provider cannot be reached or broke the connection (${e.code ?? e.message ?? 'unknown error'})`;
}
