import { isIP } from 'node:net';
import type { Cidr } from '../../../platform/common/cidr.js';
import { after } from '../../../platform/common/clock.js';
import { resolveAllowed } from '../../../platform/outbound/guard.js';
import { byDns } from '../../../platform/outbound/lookup.js';
import { httpsTo, httpTo, tcpTo } from '../../../platform/outbound/sockets.js';
import type { Probing, Verdict } from './decide.js';

/** The target of a check, as a client of `name` would reach it. */
export interface Subject {
  /** an address, or the target of a CNAME, which is resolved for each check */
  value: string;
  /** the full name of the record set, for HTTP and TLS */
  name: string;
  check: Probing;
}

/** bytes of an answer in which a text is looked for */
const MAX_BODY = 65_536;
/** ms by which the timeout of a check may be late: later, this process was too busy to see an answer in time */
const LATE_MS = 500;
const DEFAULT_STATUS = [200, 399] as const;

/**
 * Checks a target once; never throws. `up` is null where this process was too busy to know. It connects to the very
 * address that the outbound rules allowed; redirects are not followed, and certificates are not verified unless the
 * check asks for it.
 * @param allow inner addresses that may be checked, see `mayConnect`
 */
export async function probe(target: Subject, deny: readonly Cidr[], allow: readonly Cidr[]): Promise<Verdict> {
  const { check } = target;
  const begin = performance.now();
  const limit = check.timeout_s * 1000;
  const end = new AbortController();
  const { signal } = end;
  // data that arrived while this process was busy is read before the timeout counts
  const cancel = after(limit, () => setImmediate(() => end.abort()), { idle: true });
  try {
    const work = resolveAllowed(target.value, deny, check.public_only ? [] : allow, (host) => byDns(host, signal)).then(
      (address) => (check.kind === 'tcp' ? connected(address, check.port, signal) : answered(address, target, signal)),
    );
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('timeout')), { once: true });
    });
    await Promise.race([work, late]);
    return { up: true, error: null, latency_ms: Math.round(performance.now() - begin) };
  } catch (error) {
    if (signal.aborted && performance.now() - begin > limit + LATE_MS)
      return { up: null, error: 'this node was too busy to hear an answer', latency_ms: null };
    const words = signal.aborted ? `no answer within ${check.timeout_s} s` : wordsOf(error as Error);
    return { up: false, error: words.slice(0, 200), latency_ms: null };
  } finally {
    cancel();
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
};

const wordsOf = ({ message, code }: Error & { code?: string }): string => REASONS[code ?? ''] ?? message;

/** Resolves when a connection is open. @throws Error */
export function connected(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // a signal that is aborted already emits no event
    signal.throwIfAborted();
    const socket = tcpTo(host, port);
    const end = (done: () => void) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      done();
    };
    const abort = () => end(() => reject(signal.reason));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('connect', () => end(resolve));
    socket.once('error', (error) => end(() => reject(error)));
  });
}

/** Resolves when the answer is as expected. @throws Error */
function answered(address: string, { name, check }: Subject, signal: AbortSignal): Promise<void> {
  const { kind, port, path, expect_status, expect_body, verify_tls } = check;
  const standard = port === (kind === 'https' ? 443 : 80);
  const options = {
    port,
    path: path ?? '/',
    // a new connection: a kept one does not show whether clients can connect
    agent: false as const,
    signal,
    headers: { host: standard ? name : `${name}:${port}`, 'user-agent': 'zoneward', connection: 'close' },
  };
  return new Promise((resolve, reject) => {
    const request =
      kind === 'https'
        ? httpsTo(address, { ...options, servername: isIP(name) ? '' : name, rejectUnauthorized: verify_tls })
        : httpTo(address, options);
    request.once('error', reject);
    request.once('response', (response) => {
      const status = response.statusCode ?? 0;
      const [least, most] = expect_status === null ? DEFAULT_STATUS : [expect_status, expect_status];
      const end = (done: () => void) => {
        done();
        request.destroy();
      };
      if (status < least || status > most) return end(() => reject(new Error(`HTTP ${status}`)));
      if (expect_body === null) return end(resolve);
      const wanted = Buffer.from(expect_body);
      let size = 0;
      // where the text may have begun
      let rest = Buffer.alloc(0);
      const missing = () => end(() => reject(new Error('the answer lacks the expected text')));
      response.on('data', (chunk: Buffer) => {
        const seen = Buffer.concat([rest, chunk.subarray(0, MAX_BODY - size)]);
        size += chunk.length;
        rest = seen.subarray(Math.max(0, seen.length - wanted.length + 1));
        if (seen.includes(wanted)) end(resolve);
        else if (size >= MAX_BODY) missing();
      });
      response.once('end', missing);
      response.once('error', reject);
      return undefined;
    });
    request.end();
  });
}
