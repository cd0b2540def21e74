import assert from 'node:assert/strict';
import type { Failure } from '../support/answers.js';
import type { Answer } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import type { Dice } from './dice.js';
import { editFor, type Sent, type Soil, setFor } from './edits.js';
import type { Ground } from './grounds.js';
import type { Instance } from './instance.js';
import type { Entry } from './ledger.js';

/** ms before a list is read while another one is changed */
const REFRESH_MS = 5;
const LOOK_MS = 100;
/** ms after which nothing is expected to end any more */
const HANGS_MS = 120_000;

/** A request of a round, and what was answered; null: nothing, since the service had died. */
export interface Asked {
  request: string;
  words: string;
  /** outcomes of a list, in its order; null: it was none, or was refused whole */
  outcomes: { ok: boolean; changed?: boolean; state?: string }[] | null;
  atomic: boolean;
  answer: Answer | null;
}

/** Where a round takes place. */
export interface Place {
  instance: Instance;
  ground: Ground;
  domain: number;
  /** the same zone in another account */
  twin: number | null;
  zone: string;
}

const sure = async (call: Promise<Answer>): Promise<Answer | null> =>
  call.catch((error: Error) => {
    // a failure that the API does not describe
    if (error.message.includes('description')) throw error;
    return null;
  });

/** One random request. */
async function ask({ instance, domain }: Place, dice: Dice, soil: Soil, request: string): Promise<Asked> {
  const client = instance.client();
  const headers = { 'x-request-id': request };
  const records = `/api/domains/${domain}/records`;
  const asked = (words: string, answer: Answer | null): Asked => ({
    ...{ request, words, answer, outcomes: null, atomic: false },
  });
  const way = dice.next();
  if (way < 0.1) {
    const { host, type, body } = setFor(dice, soil);
    const path = `/api/domains/${domain}/rrsets/${encodeURIComponent(host)}/${type}`;
    if (dice.chance(0.25)) return asked(`DELETE ${path}`, await sure(client.delete(path, undefined, headers)));
    return asked(`PUT ${path} ${JSON.stringify(body)}`, await sure(client.put(path, body, headers)));
  }
  if (way < 0.3) {
    const { op, id, ...body } = editFor(dice, soil);
    const words = JSON.stringify({ op, id, ...body });
    const path = `${records}/${id}`;
    if (op === 'delete') return asked(words, await sure(client.delete(path, undefined, headers)));
    if (op === 'status') return asked(words, await sure(client.patch(`${path}/status`, body, headers)));
    if (op === 'update') return asked(words, await sure(client.put(path, body, headers)));
    return asked(words, await sure(client.post(records, body, headers)));
  }
  const atomic = dice.chance(0.25);
  // among many random edits one hardly ever fits, and then nothing is done
  const length = dice.int(1, atomic ? 6 : dice.of([8, 40, 40]));
  const changes: Sent[] = Array.from({ length }, () => editFor(dice, soil));
  const body = { changes, ...(atomic && { atomic }) };
  const answer = await sure(client.post(`${records}/batch`, body, headers));
  const outcomes = (answer && answer.status < 300 && (answer.data as { outcomes: Asked['outcomes'] }).outcomes) || null;
  return { request, words: JSON.stringify(body), outcomes, atomic, answer };
}

/**
 * Sends one list or two, while the provider fails now and then, somebody synchronises, and the process may be killed.
 * When it is over, the service lives and the provider works.
 */
export async function disturb(place: Place, dice: Dice, soil: Soil, twinSoil: Soil, name: string): Promise<Asked[]> {
  const { instance, ground } = place;
  const two = dice.chance(0.35);
  const chance = dice.of([0, 0, 0.15, 0.4]);
  ground.trouble(chance ? { dice: dice.fork(), chance } : null, instance.dataDir);
  const end = dice.next();
  const at = `${dice.of(['before', 'after'])} ${dice.int(1, dice.of([20, 60]))}`;
  const ms = dice.int(0, 400);
  const refreshes = dice.chance(0.2);
  const lists = Array.from({ length: two ? 2 : 1 }, (_, i) => ({ dice: dice.fork(), wait: i * dice.int(0, 30), i }));
  if (end < 0.3) instance.killAt(at);
  const watched = end > 0.8 && end < 0.93 ? instance.pauseAt(dice.int(1, 90), dice.int(50, 2500)) : () => undefined;
  let over = false;
  if (end > 0.93) void sleep(ms).then(() => (over ? undefined : instance.kill()));
  const asking = lists.map(async ({ dice: own, wait, i }) => {
    await sleep(wait);
    return ask(i && place.twin ? { ...place, domain: place.twin } : place, own, i ? twinSoil : soil, `${name}-${i}`);
  });
  if (refreshes) {
    const path = `/api/domains/${place.domain}/records?refresh=true&limit=1` as const;
    await sleep(REFRESH_MS);
    await instance
      .client()
      .get(path)
      .catch(() => undefined);
  }
  const asked = await Promise.all(asking);
  over = true;
  watched();
  if (dice.chance(0.7)) instance.pardon();
  ground.trouble(null, instance.dataDir);
  await instance.revive(dice.fork());
  return asked;
}

/** Waits until every change has an end, restarting what has died; late helped by a synchronisation. */
export async function settle({ instance, domain }: Place): Promise<void> {
  const begun = Date.now();
  for (;;) {
    await instance.revive();
    if (!(await instance.count(`change_sets WHERE state <> 'done'`))) {
      instance.pardon();
      if (await instance.answers()) return;
      continue;
    }
    const waited = Date.now() - begun;
    assert.ok(waited < HANGS_MS, `change sets without an end after ${HANGS_MS} ms`);
    if (waited > 3_000)
      await instance
        .client()
        .get(`/api/domains/${domain}/records?refresh=true&limit=1`)
        .catch(() => undefined);
    await sleep(LOOK_MS);
  }
}

const isChange = ({ before, after }: Entry): boolean => JSON.stringify(before) !== JSON.stringify(after);

/** In what an answer and the changes that were stored for it contradict each other. */
export function contradictions(
  { answer, outcomes, words, atomic }: Asked,
  entries: readonly Entry[],
  isAtomic: boolean,
): string[] {
  if (!answer) return [];
  const done = new Set(entries.filter(isChange).map(({ state }) => state === 'applied'));
  if (atomic && isAtomic && done.size > 1) return [`a part of an atomic list was applied: ${words.slice(0, 300)}`];
  const { status, code, msg } = answer;
  const said = `${status} ${code} ${msg} to ${words.slice(0, 300)}`;
  if (code === 500001) return [`answered ${said}`];
  const applied = entries.filter(({ state }) => state === 'applied');
  if (status >= 300) {
    const unsure = (answer.data as Failure | null)?.applied === 'unknown';
    return !unsure && applied.some(isChange) ? [`answered ${said}, but something was applied`] : [];
  }
  if (!outcomes) return applied.length === entries.length ? [] : [`answered ${said}, but not all was applied`];
  const at = new Map(entries.map((entry) => [entry.position, entry]));
  return outcomes.flatMap(({ ok, changed, state }, i) => {
    const stored = at.get(i)?.state;
    if (ok ? stored === 'applied' || (!changed && stored === undefined) : state === 'unknown' || stored === state)
      return [];
    if (!ok && stored === undefined) return [];
    return [`change ${i} was answered ${ok ? 'ok' : state}, and is stored as ${stored}`];
  });
}
