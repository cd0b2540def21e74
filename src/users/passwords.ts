import { createHash, createHmac } from 'node:crypto';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import bcrypt from 'bcrypt';
import type { Caller } from '../common/access.js';
import { networkOf } from '../common/cidr.js';
import { FairPool, type Owner } from '../common/fair-pool.js';

const COST = 12;
const PASSWORD_MAX = 128;

/**
 * Who waits for a hash, which takes about 0.2 s of one core: when too many do, the next one is told to come again.
 * Friends are who comes from a network where the name signed in before, or is signed in. All strangers together have
 * the turns of one user, so that a flood of logins keeps no friend out.
 */
export interface Hashing {
  friend: boolean;
  /** a friend's name or id; a stranger's network */
  user: Owner;
}

const hashes = new FairPool('password hashes');
const strangers = new FairPool('password hashes of strangers');

/** Whose hash a request, or this program, waits for. */
export const hashingFor = (caller: Pick<Caller, 'principal' | 'ip'> | 'system'): Hashing => {
  if (caller === 'system') return { friend: true, user: null };
  const { principal, ip } = caller;
  return principal ? { friend: true, user: principal.userId } : { friend: false, user: networkOf(ip) };
};

/**
 * Whether one more may wait. Asked before anything is written for a login, so that surplus ones cost nothing.
 * @throws AppError 429
 */
export function assertRoom({ friend, user }: Hashing): void {
  const pool = friend ? hashes : strangers;
  if (pool.isFull({ user })) throw pool.refusal();
}

function inTurn<T>(work: () => Promise<T>, { friend, user }: Hashing): Promise<T> {
  if (friend) return hashes.run({ user }, work);
  return strangers.run({ user }, () => hashes.run({ user: 'strangers' }, work));
}

/** Before a stored hash: of what `digestOf` makes. Hashes without it are older ones. */
const MARK = 'v2:';

/**
 * What bcrypt is given, 44 characters of every password: it ignores what follows the 72nd byte. Under a name of our
 * own, so that the digest of a password, known from wherever else, is not itself a password that opens the account.
 */
const digestOf = (password: string): string =>
  createHmac('sha256', 'zoneward password 2').update(password).digest('base64');

/** Older hashes are of the password itself, or, when it is longer than 72 bytes, of its plain digest. */
const formerly = (password: string): string =>
  Buffer.byteLength(password) > 72 ? createHash('sha256').update(password).digest('base64') : password;

/**
 * The form of what stood for long passwords then, and of what `openssl rand -base64 32` prints. An older hash does not
 * tell which of the two it is of: it goes on opening, and is made anew by no such text, so that the owner of a long
 * password is never shut out by who knew its digest.
 */
const isDigest = (password: string): boolean => /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(password);

const isOutdated = (stored: string): boolean => !stored.startsWith(MARK);

/** Whether a stored hash is an older one, to be made anew now that this password has opened it. */
export const isToBeRenewed = (stored: string, password: string): boolean => isOutdated(stored) && !isDigest(password);

/** @param cost for tests only: less work @throws AppError 429 when too many are waiting */
export const hashPassword = (password: string, who: Hashing, cost = COST): Promise<string> =>
  inTurn(async () => MARK + (await bcrypt.hash(digestOf(password), cost)), who);

/** of a password that nobody knows; made beforehand, so that not even the first unknown name takes longer */
const DUMMY = '$2b$12$ryNKYNYr0E0LS5fTeCjXteeYI563FNspWtVMps7aypSN4LW1crW76';

/**
 * Compares with a stored hash, once; without one (unknown or disabled user) it does the same work and answers false, so
 * that the two cannot be told apart.
 * @throws AppError 429 when too many are waiting
 */
export async function passwordMatches(password: string, stored: string | null, who: Hashing): Promise<boolean> {
  const text = stored !== null && isOutdated(stored) ? formerly(password) : digestOf(password);
  const ok = await inTurn(() => bcrypt.compare(text, stored?.replace(MARK, '') ?? DUMMY), who);
  return ok && stored !== null;
}

let rater: ZxcvbnFactory | undefined;
const JUDGED = 40;

/** Its word lists are loaded with the first password that is set. */
async function zxcvbn(): Promise<ZxcvbnFactory> {
  if (rater) return rater;
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs: graphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  rater = new ZxcvbnFactory({ dictionary, graphs });
  return rater;
}

/**
 * What is wrong with a new password, in words, or null. `inputs` are words that it must not be made of, such as the
 * user name.
 */
export async function passwordProblem(
  password: string,
  inputs: string[],
  { min_length, min_score }: { min_length: number; min_score: number },
): Promise<string | null> {
  const length = [...password].length;
  if (length < min_length || length > PASSWORD_MAX) return `must have ${min_length} to ${PASSWORD_MAX} characters`;
  const judging = await zxcvbn();
  const words = inputs.filter(Boolean);
  // the judgement takes longer with the square of the length and holds up everybody: of long ones an end that is good
  // makes the whole good
  const parts = password.length > JUDGED ? [password.slice(0, JUDGED), password.slice(-JUDGED)] : [password];
  return parts.some((part) => judging.check(part, words).score >= min_score)
    ? null
    : 'is too easy to guess; use a longer one, or words that do not belong together';
}
