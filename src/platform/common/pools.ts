import { availableParallelism } from 'node:os';
import type { ReasonOf } from './words/reasons.js';

/** Why a pool takes no more. */
type PoolReason = Extract<ReasonOf<'tooMany'>, `${string}pool_full`>;

/** Limits of a pool. */
export interface Bounds {
  /** Slots of this process. */
  all: number;
  /** Slots of one user: about half at most, so that no user blocks all others. */
  user: number;
  /** Slots at one target: a domain, account or server. */
  target: number;
  /** Slots of one user at one target that several users share; omitted: all of the target's. */
  userAtTarget?: number;
  /** Work started per second at one target; omitted: unlimited. */
  perSecond?: number;
  /** Maximum number of waiters, in total and per user; further requests are refused. */
  waiting: number;
  waitingOfUser: number;
  /** Reason and `Retry-After` seconds of a refusal. */
  reason: PoolReason;
  seconds: number;
}

/** For background work: it waits, and its queue is bounded elsewhere. */
const PATIENT = {
  waiting: Number.POSITIVE_INFINITY,
  waitingOfUser: Number.POSITIVE_INFINITY,
  reason: 'pool_full',
  seconds: 0,
} as const;
/** No waiting: a slot is free at once or the request is refused. */
const AT_ONCE = { waiting: 0, waitingOfUser: 0 };

// hashing runs on libuv's threads; one core is left for everything else
const CORES = Math.max(1, availableParallelism() - 1);

/** All pools shared by users; a test compares them with the table in docs/architecture.md. */
export const POOLS = {
  'failover checks': { all: 1000, user: 400, target: 20, userAtTarget: 10, perSecond: 25, ...PATIENT },
  'failover checks for nodes': { all: 2000, user: 1000, target: 20, perSecond: 25, ...PATIENT },
  'failover switches': { all: 200, user: 80, target: 4, ...PATIENT },
  'zone health': {
    ...{ all: 40, user: 10, target: 10, waiting: 40, waitingOfUser: 10 },
    ...{ reason: 'domains_pool_full', seconds: 5 },
  },
  'delegation watch': { all: 16, user: 6, target: 1, ...PATIENT },
  publication: {
    ...{ all: 200, user: 100, target: 100, userAtTarget: 50, ...AT_ONCE },
    ...{ reason: 'publication_pool_full', seconds: 5 },
  },
  'publication questions': { all: 160, user: 80, target: 40, userAtTarget: 20, ...PATIENT },
  'DNS questions': { all: 200, user: 100, target: 40, userAtTarget: 20, ...PATIENT },
  // who finds no place is not answered, and sends it again
  'DNS messages': { all: 1000, user: 100, target: 1000, ...AT_ONCE, reason: 'pool_full', seconds: 5 },
  'DNS updates': {
    ...{ all: 100, user: 50, target: 20, waiting: 1000, waitingOfUser: 200 },
    ...{ reason: 'pool_full', seconds: 5 },
  },
  'certificate looks': { all: 24, user: 8, target: 3, ...PATIENT },
  'registry look-ups': { all: 16, user: 6, target: 2, userAtTarget: 1, ...PATIENT },
  'registry look-ups now': {
    ...{ all: 20, user: 6, target: 4, userAtTarget: 2, waiting: 60, waitingOfUser: 6 },
    ...{ reason: 'registrations_pool_full', seconds: 10 },
  },
  jobs: { all: 100, user: 40, target: 1, ...AT_ONCE, reason: 'pool_full', seconds: 0 },
  synchronisations: { all: 64, user: 32, target: 4, ...PATIENT },
  settling: { all: 64, user: 32, target: 2, ...PATIENT },
  'resumed lists': { all: 32, user: 16, target: 1, ...PATIENT },
  'drift reverts': { all: 32, user: 16, target: 1, ...PATIENT },
  'ended records': { all: 32, user: 16, target: 1, ...PATIENT },
  moves: { all: 16, user: 8, target: 1, ...PATIENT },
  'move looks': {
    ...{ all: 20, user: 6, target: 2, waiting: 40, waitingOfUser: 6 },
    ...{ reason: 'domains_pool_full', seconds: 5 },
  },
  'tunnel looks': { all: 16, user: 8, target: 1, ...PATIENT },
  'tunnel settling': { all: 16, user: 8, target: 2, ...PATIENT },
  'event streams': {
    ...{ all: 1000, user: 10, target: 10, ...AT_ONCE },
    ...{ reason: 'streams_pool_full', seconds: 60 },
  },
  downloads: {
    ...{ all: 20, user: 4, target: 4, ...AT_ONCE },
    ...{ reason: 'downloads_pool_full', seconds: 10 },
  },
  'requests that wait': { all: 400, user: 40, target: 20, ...AT_ONCE, reason: 'pool_full', seconds: 0 },
  'password hashes': {
    ...{ all: CORES, user: Math.ceil(CORES / 2), target: CORES, waiting: 32, waitingOfUser: 16 },
    ...{ reason: 'logins_pool_full', seconds: 2 },
  },
  'password hashes of strangers': {
    ...{ all: Math.ceil(CORES / 2), user: Math.ceil(CORES / 2), target: CORES, waiting: 5, waitingOfUser: 3 },
    ...{ reason: 'logins_pool_full', seconds: 2 },
  },
  mails: { all: 4, user: 2, target: 4, ...AT_ONCE, reason: 'pool_full', seconds: 0 },
  notices: { all: 32, user: 1, target: 1, ...PATIENT },
} as const satisfies Record<string, Bounds>;

export type PoolName = keyof typeof POOLS;
