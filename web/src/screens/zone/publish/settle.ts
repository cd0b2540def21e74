import { client } from '~/api/client';
import { ApiError, Unreachable } from '~/api/errors';
import type { components } from '~/api/schema';
import type { Publishing } from '../tray';

type Schemas = components['schemas'];
export type Plan = Schemas['PlanView'];
export type ChangeSet = Schemas['ChangeSetDetail'];

/** What a plan came to. */
export type Ending =
  | { is: 'ended'; set: ChangeSet }
  | { is: 'waiting'; plan: Plan }
  | { is: 'over'; plan: Plan }
  /** it did not arrive, or what took it died before it began: the plan is as it was */
  | { is: 'unsent'; plan: Plan };

export interface Tell {
  /** the service does not answer, and is asked what became of it */
  away(isAway: boolean): void;
  /** how far the changes are */
  progress(set: ChangeSet): void;
}

const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 4000;
/** Looks at a plan that was sent before, and is open: the service may be about to begin. */
const LOOKS = 3;
/** So long after the button was pressed it is sent again, when it did not arrive. */
const SENDS_FOR_MS = 60_000;

const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });

const isAway = (error: unknown) =>
  error instanceof Unreachable || (error instanceof ApiError && [502, 503, 504].includes(error.status));

/** Asks until the service answers. */
async function surely<T>(work: () => Promise<T>, tell: Tell, signal: AbortSignal): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
    try {
      const result = await work();
      tell.away(false);
      return result;
    } catch (error) {
      if (!isAway(error)) throw error;
      tell.away(true);
      await sleep(pause, signal);
    }
  }
}

const planOf = async (id: number, signal: AbortSignal) =>
  (await client.GET('/api/plans/{id}', { params: { path: { id } }, signal })).data as Plan;

/** Waits for the end of a list of changes. */
async function watch(domain: number, id: number, tell: Tell, signal: AbortSignal): Promise<ChangeSet> {
  const params = { path: { domain_id: String(domain), changeSetId: id } };
  const look = async () =>
    (await client.GET('/api/domains/{domain_id}/changes/{changeSetId}', { params, signal })).data as ChangeSet;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 1.5)) {
    const set = await surely(look, tell, signal);
    tell.progress(set);
    if (set.state === 'done') return set;
    await sleep(pause, signal);
  }
}

const isWaiting = (answer: object): answer is Plan => (answer as Partial<Plan>).state === 'waiting';

/** What the application of a plan is answered; null: nobody knows what became of it; `died`: what took it is no more. */
async function send(
  publishing: Publishing,
  signal: AbortSignal,
): Promise<Plan | { change_set_id: number | null } | 'died' | null> {
  const { plan: id, key, force, override } = publishing;
  try {
    const { data } = await client.POST('/api/plans/{id}/apply', {
      params: { path: { id }, query: { ...(override && { override }) }, header: { 'Idempotency-Key': key } },
      body: { force: force as never },
      signal,
    });
    return data as Plan | { change_set_id: number | null };
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'outcome_unknown') return 'died';
    // 409: it is being applied, or was; 422: all of it failed
    const isOver = error instanceof ApiError && [409001, 409004, 422002].includes(error.code);
    if (isOver || isAway(error)) return null;
    throw error;
  }
}

/**
 * Applies a plan, once, and waits for what becomes of it: a service that is started again in between is asked when it
 * is there again.
 * @param isSent it was sent before, and is not sent again
 * @throws ApiError what it was refused for: nothing was changed
 */
export async function settle(
  domain: number,
  publishing: Publishing,
  isSent: boolean,
  tell: Tell,
  signal: AbortSignal,
): Promise<Ending> {
  const begun = Date.now();
  let looks = isSent;
  for (let seen = 1, pause = FIRST_PAUSE_MS; ; seen++, pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
    const answer = looks ? null : await send(publishing, signal);
    if (answer && answer !== 'died') {
      if (isWaiting(answer)) return { is: 'waiting', plan: answer };
      const id = answer.change_set_id;
      if (id) return { is: 'ended', set: await watch(domain, id, tell, signal) };
    }
    const plan = await surely(() => planOf(publishing.plan, signal), tell, signal);
    if (plan.change_set_id) return { is: 'ended', set: await watch(domain, plan.change_set_id, tell, signal) };
    if (plan.state === 'waiting') return { is: 'waiting', plan };
    // approved: it is under way; applied without a list: there was nothing to do
    if (!['open', 'approved'].includes(plan.state)) return { is: 'over', plan };
    const isOpen = plan.state === 'open';
    if (isOpen && (answer === 'died' || (isSent ? seen >= LOOKS : Date.now() - begun > SENDS_FOR_MS)))
      return { is: 'unsent', plan };
    looks = isSent || !isOpen;
    await sleep(pause, signal);
  }
}
