import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Principal, ZoneRequest } from '../access/access.js';
import { outcomeOf } from '../audit/outcome.js';
import { type Cancel, every, now, timeMs } from '../platform/common/clock.js';
import { requestDeadline } from '../platform/common/deadline.js';
import { type AppError, errors } from '../platform/common/errors.js';
import { sha256 } from '../platform/common/hash.js';
import { Logger } from '../platform/common/logger.js';
import { SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { isDuplicate } from '../platform/database/db.js';
import { HOLDINGS, isGone, newHolding } from '../platform/database/process-name.js';
import { SealedValues } from '../platform/database/sealed-values.js';
import { currentProtocol, isForeign } from '../platform/http/protocol.js';
import { KeptAnswersRepository, type KeptRow } from './kept-answers.repository.js';

const CONTEXT = 'kept_answers.content';
const CHANGES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const FORM = /^[\x21-\x7e]{1,255}$/;

/** ms that an answer is kept */
const KEPT_MS = 86_400_000;
/** ms after which a process that stopped renewing is taken for dead */
const LIFE_MS = 30_000;
const RENEW_MS = 10_000;
/** bytes of a sealed answer: what a text of MariaDB holds, some 36 KiB of compressed JSON */
const MAX_CONTENT = 65_535;
/** what one caller may have kept at once */
const MAX_KEYS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** rows that one statement deletes */
const BATCH = 500;
/** s after which to ask again about a request that is under way */
const RUNNING_S = 1;

/** Headers that are part of an answer; the others are of the exchange that it is sent in. */
const HEADERS = [
  ...['Content-Language', 'Vary', 'Location', 'ETag', 'Link', 'X-Total-Count', 'Preference-Applied', 'Warning-Guard'],
];

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export const JSON_TYPE = 'application/json; charset=utf-8';

/** What a request with a key is told apart by. */
interface Key {
  /** of the caller and the key: the row */
  id: string;
  caller: string;
  /** SHA-256 of method, path and body */
  request: string;
}

/** The sealed content of a row. */
interface Kept {
  request: string;
  /** of the answer, where there is one */
  status?: number;
  headers?: Record<string, string>;
  /** gzip in base64; left out where it is too long */
  body?: string;
}

/** A request that is being carried out under its key. */
interface Claim extends Key {
  owner: string;
  deadline: { wrote: boolean };
  stopRenewal: Cancel;
}

/** An answer that is given again. */
export interface Replay {
  status: number;
  headers: Record<string, string>;
  /** JSON with its envelope */
  body: string;
}

const callerOf = ({ kind, userId, token }: Principal) => (kind === 'token' ? `token:${token?.id}` : `user:${userId}`);

/** It changes nothing, and the change that it is about may come under the same key. */
const isDryRun = ({ query }: ZoneRequest) => query.dry_run === 'true' || query.dry_run === '1';

/**
 * The key of a change by somebody who is signed in; null: there is none, or the header is passed over.
 * @throws AppError 400001
 */
function keyOf(request: ZoneRequest): Key | null {
  const { principal } = request.caller;
  if (!principal || !CHANGES.has(request.method)) return null;
  if (isForeign()) return foreignKeyOf(request, callerOf(principal));
  const given = request.headers['idempotency-key'];
  if (given === undefined || isDryRun(request)) return null;
  if (typeof given !== 'string' || !FORM.test(given))
    throw errors.field('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
  const caller = callerOf(principal);
  const { method, originalUrl, body } = request;
  return {
    id: sha256(`${caller} ${given}`),
    caller,
    request: sha256(`${method} ${originalUrl}\n${JSON.stringify(body ?? {})}`),
  };
}

/** The same in another protocol, where whatever comes once more under a key gets the first answer. */
function foreignKeyOf(request: ZoneRequest, caller: string): Key | null {
  const { door, prefix, repeats } = currentProtocol();
  const given = repeats?.key(request) ?? null;
  return given === null ? null : { id: sha256(`${caller} ${door} ${given}`), caller, request: sha256(prefix) };
}

/** Sends status and headers of an answer that is given again; its body is left to the caller. */
export function giveAgain({ status, headers }: Replay, response: Response): void {
  response.status(status);
  response.setHeader('Content-Type', JSON_TYPE);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Idempotent-Replayed', 'true');
}

/**
 * Answers that are kept under an `Idempotency-Key`, one row for each caller and key, which all replicas share. Nobody
 * takes over a row whose process died: a write may have been sent, and is not done again unasked. All contents are
 * sealed, since some answers have secrets, and the hash of a body would tell a short one.
 */
@Injectable()
export class KeptAnswers {
  private readonly claims = new WeakMap<ZoneRequest, Claim>();

  constructor(
    private readonly answers: KeptAnswersRepository,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    private readonly logger: Logger,
    sealed: SealedValues,
  ) {
    sealed.keep('answers kept under an Idempotency-Key, for a day', {
      fleeting: true,
      heads: async () => (await answers.heads(now())).map(({ head }) => head),
      renew: () =>
        sealed.renewColumn<string>(
          CONTEXT,
          '',
          (id, head, limit) => answers.sealedOtherwise(id, head, limit),
          (id, old, fresh) => answers.replace(id, old, fresh),
        ),
      each: async () =>
        (await answers.heads(now())).map(({ id, caller, head }) => ({
          of: caller,
          head,
          drop: (manager) => answers.delete(id, manager),
        })),
    });
  }

  /**
   * Begins a request whose route has let its caller in.
   * @returns the answer to give again; null: carry it out
   * @throws AppError 400001, 409001 (it was carried out, but there is no answer to give), 409004, 422001, 429001
   */
  async begin(request: ZoneRequest): Promise<Replay | null> {
    const key = keyOf(request);
    if (!key) return null;
    const found = await this.answers.find(key.id);
    if (found && found.expires_at > now()) return this.judge(found, key);
    if (found) await this.answers.deleteOver(key.id, now());
    if (await this.claim(request, key)) return null;
    // of two at once the other one has it
    throw errors.running('request_running', RUNNING_S);
  }

  /** Whether a request is being carried out under its key. */
  isUnderKey(request: ZoneRequest): boolean {
    return this.claims.has(request);
  }

  /** Keeps the answer that is about to be sent. Never throws: the request has been carried out. */
  async keep(request: ZoneRequest, response: Response, body: string): Promise<void> {
    const claim = this.claims.get(request);
    if (!claim) return;
    await this.ending(request, claim, async () =>
      this.answers.end(claim.id, claim.owner, await this.contentOf(claim, response, body), now(KEPT_MS)),
    );
  }

  /** The same for a failure: 429, and a failure of ours that changed nothing, leave the key free. */
  async keepFailure(request: ZoneRequest, response: Response, error: AppError, body: string): Promise<void> {
    const claim = this.claims.get(request);
    if (!claim) return;
    if (error.status !== 429 && (error.status < 500 || mayHaveChanged(request, claim, error)))
      return this.keep(request, response, body);
    await this.ending(request, claim, () => this.answers.release(claim.id, claim.owner));
  }

  /**
   * The answer that was kept of the deletion of a domain, for who is refused since the domain is gone: no right on it
   * can be judged any more. Null: there is none. Never throws.
   */
  async ofDeletion(request: ZoneRequest): Promise<Replay | null> {
    if (!request.lacksDomain || request.auditAction !== 'domain.delete') return null;
    try {
      const key = keyOf(request);
      const found = key && (await this.answers.find(key.id));
      const replay = found && found.expires_at > now() ? await this.judge(found, key) : null;
      return replay && replay.status < 300 ? replay : null;
    } catch {
      return null;
    }
  }

  /** Deletes what has expired. */
  async sweep(): Promise<void> {
    while ((await this.answers.deleteExpired(now(), BATCH)) === BATCH);
  }

  private async judge({ owner, lease_until, content, request_id: request }: KeptRow, key: Key): Promise<Replay> {
    // of a key that was lost nobody knows what it was used for
    const kept = this.box.knows(content) ? (JSON.parse(this.box.decrypt(content, CONTEXT)) as Kept) : null;
    if (kept && kept.request !== key.request) throw errors.reused('key_reused');
    if (owner !== null && lease_until > now() && !isGone(owner)) throw errors.running('request_running', RUNNING_S);
    if (owner !== null || !kept?.status) throw errors.conflict('outcome_unknown', { request });
    const { status, headers = {}, body } = kept;
    if (body === undefined) throw errors.conflict('answer_not_kept', { request, status });
    return { status, headers, body: (await unzip(Buffer.from(body, 'base64'))).toString() };
  }

  /** @returns whether nobody else has the key @throws AppError 429001 */
  private async claim(request: ZoneRequest, key: Key): Promise<boolean> {
    const { id, caller } = key;
    const { keys, bytes, first } = await this.answers.usage(caller);
    if (keys >= MAX_KEYS || bytes >= MAX_BYTES)
      throw errors.tooMany('too_many_keys', Math.max(1, (Date.parse(first ?? now()) - timeMs()) / 1000));
    const owner = newHolding();
    const content = this.box.encrypt(JSON.stringify({ request: key.request } satisfies Kept), CONTEXT);
    try {
      await this.answers.insert({
        id,
        caller,
        owner,
        lease_until: now(LIFE_MS),
        content,
        size: content.length,
        request_id: request.caller.requestId,
        expires_at: now(KEPT_MS),
      });
    } catch (error) {
      HOLDINGS.delete(owner);
      if (isDuplicate(error)) return false;
      throw error;
    }
    // a database that is down now will be asked again before the lease ends
    const renew = () => void this.answers.renew(id, owner, now(LIFE_MS)).catch(() => undefined);
    this.claims.set(request, {
      ...key,
      owner,
      deadline: requestDeadline(),
      stopRenewal: every(RENEW_MS, renew),
    });
    return true;
  }

  private async ending(request: ZoneRequest, { owner, stopRenewal }: Claim, end: () => Promise<void>): Promise<void> {
    this.claims.delete(request);
    stopRenewal();
    try {
      await end();
    } catch (err) {
      this.logger.warn(
        { err, requestId: request.caller.requestId },
        'an answer was not kept under its Idempotency-Key',
      );
    } finally {
      HOLDINGS.delete(owner);
    }
  }

  private async contentOf({ request }: Claim, response: Response, body: string): Promise<string> {
    const named = HEADERS.map((name) => [name, response.getHeader(name)]).filter(([, value]) => value !== undefined);
    const headers = Object.fromEntries(named.map(([name, value]) => [name, String(value)])) as Record<string, string>;
    const kept: Kept = { request, status: response.statusCode, headers, body: (await zip(body)).toString('base64') };
    const content = this.seal(kept);
    return content.length <= MAX_CONTENT ? content : this.seal({ request, status: response.statusCode });
  }

  private seal(kept: Kept): string {
    return this.box.encrypt(JSON.stringify(kept), CONTEXT);
  }
}

/** Whether something was stored, or may have been done at a provider, before a failure of ours. */
function mayHaveChanged({ caller }: ZoneRequest, { deadline }: Claim, { data }: AppError): boolean {
  if (outcomeOf(caller) === 'ok') return true;
  const { applied } = (data ?? {}) as { applied?: 'no' | 'unknown' };
  return applied ? applied === 'unknown' : deadline.wrote;
}
