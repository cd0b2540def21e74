import { createHash, createHmac } from 'node:crypto';
import { MessageChannel, Worker } from 'node:worker_threads';
import { Injectable } from '@nestjs/common';
import bcrypt from 'bcrypt';
import type { Caller } from '../access/access.js';
import { networkOf } from '../platform/common/cidr.js';
import { after, type Cancel } from '../platform/common/clock.js';
import { FairPool, type Owner } from '../platform/common/fair-pool.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import type { Question } from './password-rater.js';

const COST = 12;
const PASSWORD_MAX = 128;

/**
 * Whom a hash is computed for, which takes about 0.2 s of one core: when too many wait, the next one is refused. A
 * friend is signed in, or comes from a network where the name has signed in before. All strangers together have the
 * turns of one user, so that a flood of logins does not shut out friends.
 */
export interface Hashing {
  friend: boolean;
  /** a friend's name or id; a stranger's network */
  user: Owner;
}

/** For whom a request, or this program, computes a hash. */
export const hashingFor = (caller: Pick<Caller, 'principal' | 'ip'> | 'system'): Hashing => {
  if (caller === 'system') return { friend: true, user: null };
  const { principal, ip } = caller;
  return principal ? { friend: true, user: principal.userId } : { friend: false, user: networkOf(ip) };
};

/** Prefix of stored hashes of what `digestOf` returns. Hashes without it are of an older format. */
const MARK = 'v2:';

/**
 * The input of bcrypt, 44 characters for every password: bcrypt ignores what follows the 72nd byte. Keyed with a name
 * of our own, so that a digest of the password that leaked elsewhere is not itself a valid password.
 */
const digestOf = (password: string): string =>
  createHmac('sha256', 'zoneward password 2').update(password).digest('base64');

/** Older hashes are of the password itself, or of its plain digest when it is longer than 72 bytes. */
const formerly = (password: string): string =>
  Buffer.byteLength(password) > 72 ? createHash('sha256').update(password).digest('base64') : password;

/**
 * The form of the digest that replaced long passwords, and of what `openssl rand -base64 32` prints. An older hash does
 * not say which of the two it is of: it stays valid, but is not renewed by such a text, so that somebody who knows the
 * digest of a long password cannot lock out its owner.
 */
const isDigest = (password: string): boolean => /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(password);

const isOutdated = (stored: string): boolean => !stored.startsWith(MARK);

/** Whether a stored hash is of the older format and is to be renewed, now that this password matched it. */
export const isToBeRenewed = (stored: string, password: string): boolean => isOutdated(stored) && !isDigest(password);

/** What is stored of a password. @param cost for tests only: less work */
export const passwordHash = async (password: string, cost = COST): Promise<string> =>
  MARK + (await bcrypt.hash(digestOf(password), cost));

/** hash of an unknown password; made beforehand, so that not even the first unknown name takes longer */
const DUMMY = '$2b$12$ryNKYNYr0E0LS5fTeCjXteeYI563FNspWtVMps7aypSN4LW1crW76';

/** Hashes passwords, and compares them, in turn. */
@Injectable()
export class Passwords {
  private readonly hashes = new FairPool('password hashes');
  private readonly strangers = new FairPool('password hashes of strangers');

  /**
   * Refuses when no more may wait. Checked before anything is written for a login, so that excess ones cost nothing.
   * @throws AppError 429
   */
  assertRoom({ friend, user }: Hashing): void {
    const pool = friend ? this.hashes : this.strangers;
    if (pool.isFull({ user })) throw pool.refusal();
  }

  /** @throws AppError 429 when too many are waiting */
  hash(password: string, who: Hashing): Promise<string> {
    return this.inTurn(() => passwordHash(password), who);
  }

  /**
   * Compares with a stored hash, once; without one (unknown or disabled user) it does the same work and answers false,
   * so that the two cannot be told apart.
   * @throws AppError 429 when too many are waiting
   */
  async matches(password: string, stored: string | null, who: Hashing): Promise<boolean> {
    const text = stored !== null && isOutdated(stored) ? formerly(password) : digestOf(password);
    const ok = await this.inTurn(() => bcrypt.compare(text, stored?.replace(MARK, '') ?? DUMMY), who);
    return ok && stored !== null;
  }

  private inTurn<T>(work: () => Promise<T>, { friend, user }: Hashing): Promise<T> {
    if (friend) return this.hashes.run({ user }, work);
    return this.strangers.run({ user }, () => this.hashes.run({ user: 'strangers' }, work));
  }
}

/** ms after which the thread that judges passwords ends, when nobody needs it. */
const KEPT_MS = 60_000;
const JUDGED = 40;

/** The thread that judges passwords, and why it ended by itself. */
interface Rater {
  thread: Worker;
  failure?: Error;
}
let rater: Rater | undefined;
let cancelEnd: Cancel | undefined;

/** The first one who sets a password starts it. */
function started(): Rater {
  const end = () => {
    void rater?.thread.terminate();
    rater = undefined;
  };
  cancelEnd?.();
  cancelEnd = after(KEPT_MS, end, { idle: true });
  if (rater) return rater;
  const one: Rater = { thread: new Worker(new URL('password-rater.js', import.meta.url), { execArgv: [] }) };
  one.thread.unref();
  one.thread.once('error', (error) => {
    one.failure = error;
  });
  one.thread.once('exit', () => {
    if (rater === one) rater = undefined;
  });
  rater = one;
  return one;
}

/** The best score of these parts of a password, 0 to 4. @throws Error when the thread ends before it has answered */
function scoreOf(parts: string[], words: string[]): Promise<number> {
  const { port1: answers, port2: port } = new MessageChannel();
  return new Promise((resolve, reject) => {
    answers.once('message', (score: number) => {
      resolve(score);
      answers.close();
    });
    const asked = started();
    const ended = () => reject(new Error('the thread that judges passwords has ended', { cause: asked.failure }));
    answers.once('close', ended);
    const question: Question = { parts, words, port };
    asked.thread.postMessage(question, [port]);
  });
}

/**
 * What is wrong with a new password, in words, or null. `inputs` are words that it must not be made of, such as the
 * user name.
 */
export async function passwordProblem(
  password: string,
  inputs: string[],
  { min_length, min_score }: { min_length: number; min_score: number },
): Promise<FieldText | null> {
  const length = [...password].length;
  if (length < min_length || length > PASSWORD_MAX)
    return say('must have {min} to {max} characters', { min: min_length, max: PASSWORD_MAX });
  // the judgement takes longer with the square of the length: of long ones an end that is good makes the whole good
  const parts = password.length > JUDGED ? [password.slice(0, JUDGED), password.slice(-JUDGED)] : [password];
  return (await scoreOf(parts, inputs.filter(Boolean))) >= min_score
    ? null
    : 'is too easy to guess; use a longer one, or words that do not belong together';
}
