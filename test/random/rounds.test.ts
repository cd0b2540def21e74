import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import { databases, type Kind } from '../support/databases.js';
import { seedOf } from '../support/seed.js';
import { sleep } from '../support/sleep.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made } from '../support/world.js';
import { Dice } from './dice.js';
import { type Ground, startGrounds, type Told } from './grounds.js';
import { Instance } from './instance.js';
import { differences, type Entry, mustBe, toldOf, wordsOf } from './ledger.js';
import { type Asked, contradictions, disturb, type Place, settle } from './round.js';

const LOOK_MS = 100;
/** ms after which a lock is taken to be never released */
const HANGS_MS = 60_000;

/** A run of `TEST_ROUNDS=500` takes a quarter of an hour. */
const ROUNDS = Number(process.env.TEST_ROUNDS ?? 12);
/**
 * Of the first zone; the next has the next one. With `TEST_ROUNDS=1` just this zone is played again. The gate judges a
 * change by the same lists each time; new ones are for who looks for faults.
 */
const SEED = seedOf('random rounds');
const say = (words: string) => process.stdout.write(`${words}\n`);

interface Stored {
  id: number;
  request_id: string;
  position: number;
  op: string;
  domain_id: number;
  state: Entry['state'];
  state_before: string | null;
  value_before: string | null;
  state_after: string | null;
  value_after: string | null;
}

/** What was stored of the changes of a domain after a set. */
async function entriesOf({ instance, domain, twin }: Place, after: number): Promise<Entry[]> {
  const rows = await instance.rows<Stored>(
    `SELECT s.id, s.request_id, s.domain_id, c.position, c.op, c.state, c.state_before, c.value_before, c.state_after, c.value_after
       FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
      WHERE s.domain_id IN (${domain}, ${twin ?? domain}) AND s.id > ${after} AND s.door <> 'provider' AND c.position >= 0
      ORDER BY s.id, c.position`,
  );
  return rows.map((row) => ({
    ...{ set: row.id, request: row.request_id, position: row.position, op: row.op, state: row.state },
    ...{ elsewhere: row.domain_id !== domain },
    before: toldOf(row.state_before, row.value_before),
    after: toldOf(row.state_after, row.value_after),
  }));
}

const recordsOf = async ({ instance, domain }: Pick<Place, 'instance' | 'domain'>): Promise<RecordView[]> =>
  done(await instance.client().get(`/api/domains/${domain}/records`)).list;

/** What the database says that the API does not tell: counts, locks, changes without an end. */
async function leftovers({ instance, domain }: Place, records: readonly RecordView[]): Promise<string[]> {
  const wrong: string[] = [];
  const counts = await instance.rows<{ type: string; hits: number }>(
    `SELECT type, hits FROM record_counts WHERE domain_id = ${domain}`,
  );
  const byType = new Map<string, number>(counts.map(({ type }) => [type, 0]));
  for (const { type } of records) byType.set(type, (byType.get(type) ?? 0) + 1);
  const stored = new Map(counts.map(({ type, hits }) => [type, Number(hits)]));
  for (const [type, n] of byType)
    if (stored.get(type) !== n) wrong.push(`counts ${stored.get(type)} of ${type}, there are ${n}`);
  const rows = await instance.rows<{ records_count: number }>(`SELECT records_count FROM domains WHERE id = ${domain}`);
  if (Number(rows[0]?.records_count) !== records.length)
    wrong.push(`counts ${rows[0]?.records_count} records, there are ${records.length}`);
  const pending = records.filter((record) => record.pending);
  if (pending.length) wrong.push(`${pending.length} records are still pending`);
  const mine = async () => {
    const leases = await instance.rows<{ owner: string }>('SELECT owner FROM leases');
    return leases.filter(({ owner }) => owner.split('/')[3] === String(instance.pid)).map(({ owner }) => owner);
  };
  // a look at the provider of its own may be under way
  const held = new Set(await mine());
  for (const end = Date.now() + HANGS_MS; held.size && Date.now() < end; await sleep(LOOK_MS)) {
    const still = await mine();
    for (const owner of held) if (!still.includes(owner)) held.delete(owner);
  }
  if (held.size) wrong.push(`${held.size} locks are still held`);
  return wrong;
}

/** In what the cache of the same zone in another account differs from what the provider holds. */
async function twinsApart({ instance, ground, twin }: Place, held: readonly string[]): Promise<string[]> {
  if (twin === null) return [];
  const records = await recordsOf({ instance, domain: twin });
  const here = ground.definition.capabilities.toggle === 'record';
  const cached = records.filter((record) => record.enabled || here).map(wordsOf);
  return [
    ...held.filter((words) => !cached.includes(words)).map((words) => `the other cache lacks ${words}`),
    ...cached.filter((words) => !held.includes(words)).map((words) => `the other cache alone holds ${words}`),
  ];
}

/** The number of a domain's newest version. */
const newestOf = async ({ instance, domain }: Place): Promise<number> =>
  done(await instance.client().get(`/api/domains/${domain}/versions?limit=1`)).list[0]?.version ?? 0;

/** In what a version differs from the records that were there when it was the newest one. */
async function forgotten({ instance, domain }: Place, version: number, then: readonly RecordView[]): Promise<string[]> {
  const { list } = done(await instance.client().get(`/api/domains/${domain}/versions/${version}`));
  const words = (record: Told) => (record.type === 'SOA' ? [] : [`${wordsOf(record)} "${record.remark}"`]);
  const [kept, had] = [list.flatMap(words), then.flatMap(words)];
  return [
    ...had.filter((one) => !kept.includes(one)).map((one) => `version ${version} lacks ${one}`),
    ...kept.filter((one) => !had.includes(one)).map((one) => `version ${version} never had ${one}`),
  ];
}

/** All that must hold after a round. */
async function verify(
  place: Place,
  before: readonly RecordView[],
  asked: readonly Asked[],
  { last, version }: { last: number; version: number },
) {
  const { instance, ground, zone } = place;
  const { definition } = ground;
  const records = await recordsOf(place);
  const entries = await entriesOf(place, last);
  const held = (await ground.held(zone, instance.dataDir)).map(wordsOf).toSorted();
  const live = records.filter((record) => record.enabled || definition.capabilities.toggle === 'record');
  const cached = live.map(wordsOf).toSorted();
  const wrong = [
    ...held.filter((words) => !cached.includes(words)).map((words) => `only the provider holds ${words}`),
    ...cached.filter((words) => !held.includes(words)).map((words) => `only the cache holds ${words}`),
    ...differences(mustBe(before, entries, definition), records),
    ...asked.flatMap((one) =>
      contradictions(
        one,
        entries.filter(({ request }) => request === one.request),
        definition.capabilities.atomic,
      ),
    ),
    ...entries
      .filter(({ state }) => state === 'pending' || state === 'unknown')
      .map(({ set, position, op, state }) => `${op} at ${position} of the ended set ${set} is ${state}`),
    ...(await leftovers(place, records)),
    ...(await twinsApart(place, held)),
    ...(await forgotten(place, version, before)),
    ...(await forgotten(place, await newestOf(place), records)),
  ];
  return { wrong, records, entries };
}

/** A round, judged. @returns what is wrong */
async function judged(place: Place, dice: Dice, name: string): Promise<string[]> {
  const before = await recordsOf(place);
  const [{ last } = { last: 0 }] = await place.instance.rows<{ last: number | null }>(
    'SELECT MAX(id) AS last FROM change_sets',
  );
  const version = await newestOf(place);
  const { types, proxy } = place.ground.definition.capabilities;
  const twins = place.twin === null ? before : await recordsOf({ instance: place.instance, domain: place.twin });
  const soil = { types, proxy };
  const asked = await disturb(place, dice, { ...soil, records: before }, { ...soil, records: twins }, name);
  await settle(place);
  const { wrong, entries } = await verify(place, before, asked, { last: last ?? 0, version });
  if (wrong.length && process.env.TEST_VERBOSE) {
    for (const entry of entries) say(JSON.stringify(entry));
    for (const { words, answer } of asked) say(`${words}\n  -> ${JSON.stringify(answer)}`);
    say(place.instance.log.slice(-6000));
  }
  return wrong;
}

/** Grounds whose zones are in two accounts half of the time: those where all of a zone is kept at the provider. */
const TWINS: ReadonlySet<string> = new Set(['powerdns']);

async function twinOf(instance: Instance, { definition, credentials }: Ground, zone: string): Promise<number> {
  const account_id = await addAccount(instance.client(), definition.kind, credentials);
  return made(await instance.client().post('/api/domains?force=true', { name: zone, account_id })).id;
}

/** Some rounds in a fresh zone, to the first that goes wrong. @returns how many, and what was wrong with the last */
async function chapter(
  instance: Instance,
  grounds: readonly Ground[],
  accounts: ReadonlyMap<Ground, number>,
  seed: number,
): Promise<{ rounds: number; wrong: string | null }> {
  const dice = new Dice(seed);
  const ground = dice.of(grounds);
  const rounds = dice.int(1, 5);
  await instance.revive();
  const zone = await ground.fresh(instance.dataDir);
  const domain = await addDomain(instance.client(), accounts.get(ground) as number, zone);
  const alone = !TWINS.has(ground.name) || dice.chance(0.5);
  const twin = alone ? null : await twinOf(instance, ground, zone);
  const place = { instance, ground, domain, twin, zone };
  let round = 0;
  let wrong: string[] = [];
  try {
    // the records of a round before were taken up with the domain, and may all be gone
    done(await instance.client().get(`/api/domains/${domain}/records?refresh=true&confirm=true`));
    while (round < rounds && !wrong.length) {
      round++;
      const name = `random-${seed}-${round}`;
      wrong = await judged(place, dice.fork(), name).catch((error: Error) => [String(error.stack)]);
      ground.trouble(null, instance.dataDir);
    }
    await instance.revive();
    if (!done(await instance.client().get('/api/audit/verify')).ok) wrong.push('the audit chain is broken');
  } finally {
    for (const id of [twin, domain]) if (id) await instance.client().delete(`/api/domains/${id}`);
  }
  const words = [`${ground.name}, round ${round}, TEST_SEED=${seed} TEST_ROUNDS=1:`, ...wrong];
  return { rounds: round, wrong: wrong.length ? words.join('\n    ') : null };
}

describe('random lists under random faults', () => {
  let grounds: Ground[] = [];
  beforeAll(async () => {
    grounds = await startGrounds();
  });
  afterAll(() => Promise.all(grounds.map((ground) => ground.stop())));

  for (const { kind, skip } of databases('one'))
    describeUnless(skip)(`on ${kind}`, () => {
      it(
        `leave cache, provider and change sets agreed, ${ROUNDS} rounds from TEST_SEED=${SEED}`,
        () => play(kind, ROUNDS, SEED),
        300_000 + ROUNDS * 30_000,
      );
    });

  async function play(kind: Kind, wanted: number, first: number): Promise<void> {
    const instance = await Instance.open(kind);
    const found: string[] = [];
    let rounds = 0;
    try {
      const accounts = new Map<Ground, number>();
      for (const ground of grounds)
        accounts.set(ground, await addAccount(instance.client(), ground.definition.kind, ground.credentials));
      for (let seed = first; rounds < wanted; seed++) {
        const played = await chapter(instance, grounds, accounts, seed).catch((error: Error) => ({
          rounds: 1,
          wrong: `TEST_SEED=${seed}: ${error.stack}`,
        }));
        rounds += played.rounds;
        if (played.wrong) found.push(played.wrong);
        if (played.wrong) say(`VIOLATION on ${kind} ${played.wrong}`);
      }
    } finally {
      const told = await instance.statistics().catch(() => '');
      await instance.close();
      say(`${rounds} rounds on ${kind} from TEST_SEED=${first}, ${found.length} violations; ${told}`);
    }
    assert.deepEqual(found, []);
  }
});
