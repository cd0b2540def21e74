import assert from 'node:assert/strict';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import type { RemoteZone } from '../../src/providers/provider.js';
import type { BatchResult } from '../../src/records/batch/batch.dto.js';
import type { PlanChangeView, PlanView } from '../../src/records/plans/plan.dto.js';
import type { Answer, Client, Service } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { addDomain, done, made, refused, until } from '../support/world.js';
import type { Dice } from './dice.js';
import type { Ground, Told } from './grounds.js';
import { wordsOf } from './ledger.js';
import { SecondWriter } from './second-writer.js';
import {
  bodyFor,
  fitsBeside,
  isInScope,
  randomState,
  SCOPE,
  type State,
  stateOf,
  targetOf,
  WAYS,
  without,
} from './states.js';

const SIZES = [3, 20, 20, 60, 60, 150, 300];
/** s that a long list is waited for */
const WAIT = 40;
/** a list with more changes goes on piece by piece, and others come in between */
const LONG = 200;

/** A state as sorted texts. */
const linesOf = (records: Iterable<Told>, remarks = true): string[] =>
  [...records].map((one) => `${wordsOf(one)}${remarks ? ` "${one.remark}"` : ''}`).toSorted();

/** How plans met somebody else. */
type Meeting = 'none' | 'before' | 'past the service' | 'at once';

/** A pair of random states of a zone of its own, planned and applied while somebody else writes. */
export class PlanRound {
  /** what was done */
  readonly seen = { plans: 0, stale: 0, restored: 0, beside: 0 };
  private readonly client: Client;
  private domain = 0;
  private zone = '';
  private remote!: RemoteZone;
  /** the version that this round found: earlier ones were of other rounds, and have name servers that are gone */
  private first = 1;
  /** what must be there */
  private now: State = new Map();
  /** what must have been there, by the number of a version */
  private readonly states = new Map<number, State>();
  private readonly wrong: string[] = [];

  constructor(
    private readonly service: Service,
    private readonly ground: Ground,
    private readonly dice: Dice,
  ) {
    this.client = service.admin;
  }

  /** @returns what is wrong */
  async play(account: number): Promise<string[]> {
    const { dice, ground, client } = this;
    const { dataDir } = this.service.server;
    this.zone = await ground.fresh(dataDir);
    const direct = ground.direct(dataDir);
    this.remote = (await direct.listZones()).find(({ name }) => name === this.zone) as RemoteZone;
    this.domain = await addDomain(client, account, this.zone);
    // the records of a round before were taken up with the domain, and may all be gone
    done(await client.get(`${this.base}/records?refresh=true&confirm=true`));
    this.now = stateOf(await this.records());
    this.first = await this.newest();
    const { domain, remote } = this;
    const atOnce = ground.name !== 'zone files';
    const writer = new SecondWriter({ client, domain, direct, remote, atOnce }, dice.fork());
    try {
      await this.toward('sync', 'none');
      const meeting = dice.of<Meeting>(['none', 'none', 'before', 'past the service', 'at once', 'at once']);
      const mode = dice.chance(0.3) ? 'merge' : 'sync';
      const before = this.now;
      const set = await this.toward(mode, meeting);
      if (set && meeting === 'none') await this.undo(set, before);
      await this.restoreAll();
    } finally {
      this.wrong.push(...(await writer.stop().catch((error: Error) => [error.message])));
      this.seen.beside = writer.acknowledged;
      await client.delete(this.base);
    }
    return this.wrong;
  }

  private get base(): `/api/domains/${number}` {
    return `/api/domains/${this.domain}`;
  }

  private async records(): Promise<RecordView[]> {
    return done(await this.client.get(`${this.base}/records`)).list.filter(isInScope);
  }

  /** Plans a random state, and applies that. @returns the change set of it */
  private async toward(mode: 'sync' | 'merge', meeting: Meeting): Promise<number | null> {
    const { dice, ground, zone } = this;
    const { definition } = ground;
    const way = dice.of(WAYS);
    const stays = mode === 'merge' ? { stays: this.now } : {};
    const soil = { definition, zone, ...stays };
    let state = randomState(dice, soil, dice.int(0, dice.of(SIZES)));
    // half of what is there stays, often changed a little
    if (dice.chance(0.6)) state = this.mixed(state);
    if (mode === 'merge' && !fitsBeside(this.now, state)) return null;
    const { body, wanted } = await bodyFor(way, state, { definition, zone });
    const target = { ...body, mode, hosts: SCOPE, comment: `${way} ${mode}` };
    const after = () => targetOf(this.now, wanted, mode, definition.capabilities);
    const what = `${mode} of ${way}${meeting === 'none' ? '' : `, met ${meeting}`}`;
    return this.carryOut(target, after, what, meeting);
  }

  /** A state with a part of what is there now, some of it with another TTL. */
  private mixed(state: State): State {
    const { dice } = this;
    const all = new Map([...this.now].filter(([, { host }]) => host !== '@' || dice.chance(0.5)));
    for (const [key, { host, type }] of all) {
      const alone = [...state.values()].some((one) => one.host === host && one.type !== type);
      if ((alone && /^c|^dn/.test(host)) || dice.chance(0.3) || (type === 'NS' && host === '@')) all.delete(key);
    }
    const ttls = new Map<string, number>();
    const ttlOf = ({ host, type, ttl }: Told) => {
      const set = `${type} ${host}`;
      if (!ttls.has(set)) ttls.set(set, dice.chance(0.2) ? dice.of([90, 900]) : ttl);
      return ttls.get(set) as number;
    };
    const mixed = new Map([...all, ...state].map(([key, record]) => [key, { ...record, ttl: ttlOf(record) }]));
    return fitsBeside(mixed, new Map()) ? mixed : state;
  }

  /**
   * Plans, applies, looks at what is there then, and plans the same once more.
   * @param after what must be there then @returns the change set
   */
  private async carryOut(
    target: object,
    after: () => State,
    what: string,
    meeting: Meeting = 'none',
    again = true,
  ): Promise<number | null> {
    const plan = await this.plan(target);
    const set = await this.applied(plan, target, after, what, meeting);
    await this.look(what);
    if (again && meeting !== 'at once') {
      const { changes } = await this.plan(target);
      if (changes.length) this.wrong.push(`${what}: ${changes.length} changes again: ${JSON.stringify(changes[0])}`);
    }
    return set;
  }

  private async applied(
    plan: PlanView,
    target: object,
    after: () => State,
    what: string,
    meeting: Meeting,
  ): Promise<number | null> {
    const met = meeting === 'none' ? undefined : this.metBy(plan);
    let other: Promise<Answer> | undefined;
    if (met && meeting === 'at once') {
      const wait = this.dice.int(0, 30);
      other = sleep(wait).then(() => this.client.delete(`${this.base}/records/${met.id}`));
    } else if (met) {
      await this.takeAway(met, meeting);
      this.now = without(this.now, met);
    }
    const answer = await this.apply(plan);
    const theirs = await other;
    if (answer?.status === 412) {
      refused(answer, 412, 412001);
      this.seen.stale++;
      assert.ok(met, `${what}: a plan that nobody met is stale`);
      if (theirs)
        assert.equal(theirs.status, 200, `${what}: it is stale, and the other one was refused: ${theirs.msg}`);
      if (theirs) this.now = without(this.now, met);
      return this.applied(await this.plan(target), target, after, what, 'none');
    }
    assert.ok(!met || meeting === 'at once', `${what}: applied though ${met && wordsOf(met)} was taken away`);
    const { failed, unknown, not_tried } = answer?.data.counts ?? {};
    const at = answer?.data.outcomes?.findIndex(({ ok }) => !ok) ?? -1;
    const wish = met && plan.changes.find(({ before }) => before?.host === met.host && before.value === met.value);
    if (failed === 1 && theirs?.status === 200 && plan.changes.length > LONG) {
      // who came in between two pieces of a long list has taken away what it was to change
      this.now = after();
      if (wish?.after) this.now = without(this.now, wish.after as Told);
      return answer?.data.change_set_id ?? null;
    }
    assert.deepEqual(
      [answer?.status ?? 200, failed ?? 0, unknown ?? 0, not_tried ?? 0],
      [200, 0, 0, 0],
      `${what}: ${answer?.msg} ${JSON.stringify([answer?.data.outcomes?.[at], plan.changes[at]])}`,
    );
    this.now = after();
    // who came after it took away what it had made
    if (met && theirs?.status === 200) {
      assert.equal(wish?.op, 'update', `${what}: both have taken ${wordsOf(met)} away`);
      this.now = without(this.now, met);
    }
    return answer?.data.change_set_id ?? null;
  }

  /** A record that a plan changes or deletes, and that somebody else may take away. */
  private metBy({ changes }: PlanView): RecordView | undefined {
    const there = changes.filter(({ before }) => before?.enabled && /^(A|AAAA|TXT|MX)$/.test(before.type));
    const { before } = (there.length ? this.dice.of(there) : {}) as Partial<PlanChangeView>;
    return before ? this.listed.find((one) => one.host === before.host && one.value === before.value) : undefined;
  }
  private listed: RecordView[] = [];

  private async takeAway(record: RecordView, meeting: Meeting): Promise<void> {
    if (meeting === 'before') {
      done(await this.client.delete(`${this.base}/records/${record.id}`));
      return;
    }
    const direct = this.ground.direct(this.service.server.dataDir);
    const held = (await direct.listRecords(this.remote)).filter(
      (one) => one.host === record.host && one.type === record.type,
    );
    const before = held.find(({ value }) => value === record.value) ?? held[0];
    assert.ok(before, `the provider does not hold ${wordsOf(record)}`);
    const [outcome] = await direct.apply(this.remote, [{ op: 'delete', before }]);
    assert.ok(outcome?.ok, `past the service: ${JSON.stringify(outcome)}`);
  }

  private async plan(target: object): Promise<PlanView> {
    this.seen.plans++;
    const plan = made(await this.client.post(`${this.base}/plans`, target));
    this.listed = await this.records();
    return plan;
  }

  /** @returns null for one with nothing to do */
  private async apply({ id, guards }: PlanView): Promise<Answer<BatchResult> | null> {
    if (id === null) return null;
    const path = `/api/plans/${id}/apply?wait=${WAIT}` as const;
    const force = guards.map(({ key }) => key);
    let answer = await this.client.post(path, { force });
    // a share of the zone, which the second writer may have made smaller since
    if (answer.status === 409) {
      const met = (answer.data as Partial<PlanView>).guards?.map(({ key }) => key) ?? [];
      assert.ok(
        met.length && met.every((key) => /^(many_|empty_document$)/.test(key) && !force.includes(key)),
        answer.msg,
      );
      answer = await this.client.post(path, { force: [...force, ...met] });
    }
    const { status, data } = answer;
    if (status !== 202) return answer;
    const set = `${this.base}/changes/${data.change_set_id as number}` as const;
    await until('a long list is done', async () => done(await this.client.get(set)).state === 'done');
    const { counts } = done(await this.client.get(set));
    return { ...answer, status: 200, data: { ...data, counts } };
  }

  /** What is there must be what must be there, here and at the provider. */
  private async look(what: string): Promise<void> {
    const { ground, zone } = this;
    const cached = await this.records();
    const held = (await ground.held(zone, this.service.server.dataDir)).filter(isInScope);
    const here = ground.definition.capabilities.toggle === 'record';
    const live = [...this.now.values()].filter(({ enabled }) => enabled || here);
    this.compare(`${what}: the cache`, linesOf(this.now.values()), linesOf(cached));
    this.compare(`${what}: the provider`, linesOf(live, false), linesOf(held, false));
    this.states.set(await this.newest(), this.now);
  }

  private async newest(): Promise<number> {
    return (done(await this.client.get(`${this.base}/versions?limit=1`)).list[0] as { version: number }).version;
  }

  private compare(what: string, wanted: readonly string[], found: readonly string[]): void {
    const lacks = wanted.filter((one) => !found.includes(one));
    const more = found.filter((one) => !wanted.includes(one));
    this.wrong.push(...lacks.map((one) => `${what} lacks ${one}`), ...more.map((one) => `${what} has ${one}`));
    if (new Set(found).size < found.length) this.wrong.push(`${what} has something twice`);
  }

  /** Takes the last change set back, and that, too. */
  private async undo(set: number, before: State): Promise<void> {
    const after = this.now;
    const back = await this.carryOut({ change_set_id: set }, () => before, 'undo', 'none', false);
    if (back !== null) await this.carryOut({ change_set_id: back }, () => after, 'undo of undo', 'none', false);
  }

  /** Each state that any version of this round had, once. */
  private async restoreAll(): Promise<void> {
    const { base, client, dice } = this;
    const newest = await this.newest();
    const states = new Map<string, { version: number; state: State }>();
    for (let { first: version } = this; version <= newest; version++) {
      const held = stateOf(done(await client.get(`${base}/versions/${version}`)).list as unknown as Told[]);
      const words = linesOf(held.values());
      const known = this.states.get(version);
      if (known) this.compare(`version ${version}`, linesOf(known.values()), words);
      states.set(words.join('\n'), { version, state: held });
    }
    const all = [...states.values()];
    while (all.length) {
      const [{ version, state }] = all.splice(dice.int(0, all.length - 1), 1) as [{ version: number; state: State }];
      await this.carryOut({ version, hosts: SCOPE }, () => state, `restore of version ${version}`);
      this.seen.restored++;
    }
  }
}
