import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { type CacheRow, difference, type RowValues, rowOf } from '../../src/cache/reconcile.js';
import type { InDoubtChange } from '../../src/changes/history/in-doubt.repository.js';
import { expectations, judge, successors } from '../../src/changes/in-doubt/evidence.js';
import type { RemoteRecord } from '../../src/dns/record.js';
import { derivedId } from '../../src/providers/kit/rrsets/record-set.js';

/** What becomes of a call: it is answered, or the answer is lost and it was applied at once, later, or never. */
const FATES = ['ok', 'ok', 'now', 'late', 'never'] as const;
const OPS = ['create', 'value', 'ttl', 'rename', 'delete', 'disable', 'enable', 'sync', 'sync', 'arrive'] as const;
/** time in which a provider may apply something; a step of the model takes less */
const SURE = 10;

const at = (time: number) => new Date(1.7e12 + time * 1000).toISOString();

/** A cache and a provider that keeps no disabled records; what nobody answered arrives when it will. */
class Model {
  private time = 0;
  private next = 0;
  rows: CacheRow[] = [];
  provider = new Map<string, RemoteRecord>();
  inDoubt: InDoubtChange[] = [];
  /** applied there at this time at the latest */
  private late: { by: number; apply: () => void }[] = [];
  /** rows whose disabling reached the provider, or will, with nothing asked for since: this is their only home */
  readonly dear = new Set<number>();
  /** what was asked to be deleted may go at any time */
  private readonly doomed = new Set<number>();

  constructor(private readonly derived: boolean) {}

  private idOf = (record: RowValues) => (this.derived ? derivedId(record) : `own${++this.next}`);

  /** @returns the id there, null when the record is gone */
  private carryOut(before: RowValues | null, after: RowValues | null): string | null {
    const old = before?.remote_id ?? null;
    const taking = after === null || !after.enabled;
    // nobody changes a record that is gone
    if (old !== null && !taking && !this.provider.has(old)) return old;
    if (old !== null && (taking || this.derived)) this.provider.delete(old);
    if (taking) return null;
    const twin = [...this.provider.values()].find((r) => r.host === after.host && r.value === after.value);
    const id = old !== null && !this.derived ? old : (twin?.remoteId ?? this.idOf(after));
    const { remote_id, read_only, read_only_reason, ...rest } = after;
    this.provider.set(id, { ...rest, remoteId: id, readOnly: false });
    return id;
  }

  write(before: CacheRow | null, after: RowValues | null, fate: (typeof FATES)[number]): void {
    this.step();
    const was = before && { ...before };
    // the rules of records: no two of one content, and what the cache does not hold cannot be edited
    const same = (r: CacheRow) => r.id !== was?.id && r.host === after?.host && r.value === after.value;
    if (after && this.rows.some(same)) return;
    const local = was?.remote_id === null && !after?.enabled;
    // of a record that may be there by now nobody can say that it is only here
    if (local && this.inDoubt.some((change) => change.record_id === was.id)) return;
    if (was) this.dear.delete(was.id);
    if (was && after === null) this.doomed.add(was.id);
    if (was && after && !after.enabled && fate !== 'never' && !this.doomed.has(was.id)) this.dear.add(was.id);
    if (fate === 'ok' || local) this.follow(was, after, local ? null : this.carryOut(was, after));
    else this.doubt(was, after, fate);
  }

  /** The cache holds what a write has made, and knows its id there. */
  private follow(was: CacheRow | null, after: RowValues | null, remoteId: string | null): void {
    const holder = this.rows.find((r) => remoteId !== null && r.remote_id === remoteId);
    this.rows = this.rows.filter((r) => r.id !== was?.id && (remoteId === null || r.remote_id !== remoteId));
    if (!after) return;
    const id = was?.id ?? holder?.id ?? ++this.next;
    this.rows.push({ remark: '', ...after, id, remote_id: remoteId });
  }

  private doubt(was: CacheRow | null, after: RowValues | null, fate: (typeof FATES)[number]): void {
    if (fate === 'now') this.carryOut(was, after);
    if (fate === 'late') this.late.push({ by: this.time + SURE - 1, apply: () => this.carryOut(was, after) });
    const expected = after && !after.enabled ? '' : this.derived && was && after ? derivedId(after) : null;
    this.inDoubt.push({
      id: ++this.next,
      change_set_id: 1,
      atomic: false,
      record_id: was?.id ?? null,
      host: (after ?? was)?.host ?? '',
      host_before: was?.host ?? null,
      before: was,
      after,
      own: null,
      expected,
      settle_after: at(this.time + SURE),
      late: null,
    });
  }

  arrive(): void {
    this.late.shift()?.apply();
  }

  private step(by = 1): void {
    this.time += by;
    for (const { apply } of this.late.filter((l) => l.by <= this.time)) apply();
    this.late = this.late.filter((l) => l.by > this.time);
  }

  async sync(): Promise<void> {
    this.step();
    const begun = at(this.time);
    const remote = [...this.provider.values()];
    const took = successors(this.inDoubt, remote);
    const { insert, update, remove } = await difference(this.rows, remote, expectations(this.inDoubt, begun, took));
    const before = new Map(this.rows.map((r) => [r.id, r.remote_id]));
    const verdicts = judge(this.inDoubt, remote, begun, (id) => before.get(id) ?? null, { took, isAtomic: false });
    this.rows = this.rows.filter((r) => !remove.some(({ id }) => id === r.id));
    for (const { id, values } of update) Object.assign(this.rows.find((r) => r.id === id) as CacheRow, values);
    for (const values of insert) this.rows.push({ remark: '', ...values, id: ++this.next });
    const ids = this.rows.flatMap((r) => r.remote_id ?? []);
    assert.equal(new Set(ids).size, ids.length, 'no id of the provider twice');
    for (const [change, verdict] of verdicts) {
      const known = new Set(remote.map((r) => r.remoteId));
      if (verdict.applied && verdict.remoteId !== null) assert.ok(known.has(verdict.remoteId));
      this.inDoubt = this.inDoubt.filter((other) => other !== change);
    }
  }

  async end(): Promise<void> {
    this.step(SURE);
    this.step();
    await this.sync();
    assert.deepEqual(this.inDoubt, []);
    const bare = ({ remark, expires_at, ...values }: RowValues) => values;
    const held = this.rows.filter((r) => r.remote_id !== null).map(({ id, ...values }) => bare(values));
    const byId = (a: RowValues, b: RowValues) => (String(a.remote_id) < String(b.remote_id) ? -1 : 1);
    assert.deepEqual(held.toSorted(byId), [...this.provider.values()].map((r) => bare(rowOf(r))).toSorted(byId));
  }
}

const step = fc.record({
  op: fc.constantFrom(...OPS),
  fate: fc.constantFrom(...FATES),
  which: fc.nat(9),
  host: fc.constantFrom('a', 'b'),
  value: fc.nat(3),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Edit = Step & { op: Exclude<Step['op'], 'sync' | 'arrive'> };

function edit(model: Model, { op, fate, which, host, value }: Edit): void {
  const content = { host, type: 'A', value: `192.0.2.${value}`, ttl: 600, line: 'default', proxied: false };
  const shown = { read_only: false, read_only_reason: null, extra: null };
  const rest = { priority: null, weight: null, enabled: true, ...shown, remote_id: null };
  if (op === 'create') {
    model.write(null, { ...content, ...rest }, fate);
    return;
  }
  const row = model.rows.toSorted((a, b) => a.id - b.id)[which % Math.max(1, model.rows.length)];
  if (!row) return;
  const { id, ...was } = row;
  const to: Record<typeof op, RowValues | null> = {
    value: { ...was, value: content.value },
    ttl: { ...was, ttl: was.ttl + 1 },
    rename: { ...was, host },
    delete: null,
    disable: { ...was, enabled: false },
    enable: { ...was, enabled: true },
  };
  model.write(row, to[op], fate);
}

describe('whatever is lost, and whenever it arrives', () => {
  for (const derived of [false, true])
    it(`the cache follows the provider, which ${derived ? 'has no ids' : 'gives ids'}, and keeps what is only here`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
          const model = new Model(derived);
          for (const one of steps) {
            if (one.op === 'sync') await model.sync();
            else if (one.op === 'arrive') model.arrive();
            else edit(model, { ...one, op: one.op });
          }
          await model.end();
          const lost = [...model.dear].filter((id) => !model.rows.some((r) => r.id === id));
          assert.deepEqual(lost, [], 'disabled rows');
        }),
        { numRuns: 4000, seed: 10 },
      );
    });
});
