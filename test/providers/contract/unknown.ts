import assert from 'node:assert/strict';
import type { Change, DnsRecord, RemoteRecord } from '../../../src/providers/provider.js';
import type { Handler, Received } from '../../support/vendor.js';
import type { Bench } from './bench.js';

const FIELD = 'a_field_of_next_year';
type Visit = (object: Record<string, unknown>, value: string | null) => void;

/** The value that a part holds by itself: it, a text that begins with it, or a list of such. */
const valueIn = (part: unknown, values: readonly string[]): string | undefined =>
  typeof part === 'string'
    ? values.find((value) => part === value)
    : Array.isArray(part)
      ? part.map((one) => (typeof one === 'object' ? undefined : valueIn(one, values))).find(Boolean)
      : undefined;

const isSetOf = (object: object): boolean =>
  Object.entries(object).some(([name, part]) => /type$/i.test(name) && /(^|\/)A$/.test(String(part)));

/** Visits the objects that hold a value directly, and those that are said to be of the type A and hold such objects. */
function visit(part: unknown, values: readonly string[], what: Visit): boolean {
  if (typeof part !== 'object' || part === null) return false;
  if (Array.isArray(part)) return part.map((one) => visit(one, values, what)).includes(true);
  const object = part as Record<string, unknown>;
  const within = Object.values(object).map((one) => visit(one, values, what));
  const value = Object.values(object)
    .map((one) => valueIn(one, values))
    .find(Boolean);
  if (value) what(object, value);
  else if (within.includes(true) && isSetOf(object)) what(object, null);
  return value !== undefined || within.includes(true);
}

/** What is sent without what it takes away. */
const withoutGone = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body ?? null, (key, part) => (key === 'deletions' ? undefined : part)));

/** Fields that nobody knows yet, in what a vendor hands out: whoever writes an object over has to give them back. */
export function unknownFields(bench: Bench): void {
  const { capabilities } = bench;
  const RECORD = 'an unknown field of a value survives';
  const SET = 'an unknown field of a set survives';
  const AWAY = 'an unknown field survives to be disabled and enabled';
  const values = ['192.0.2.71', '192.0.2.72', '192.0.2.73', '192.0.2.74'] as const;
  const unless =
    capabilities.replaces === 'record' && 'replaces: record, whose writes name the fields that they change';

  /** Hands out the field with each object, and keeps from the stand-in that it came back. */
  const strange =
    (writes: unknown[]) =>
    (real: Handler): Handler =>
    async (request: Received) => {
      const body = structuredClone(request.body);
      // what goes is named, or repeated as it was
      if (!/^(GET|HEAD|DELETE)$/.test(request.method) && !/remove/.test(request.path)) writes.push(withoutGone(body));
      visit(body, values, (object) => delete object[FIELD]);
      const answer = await real({ ...request, body });
      if (typeof answer.body !== 'object' || answer.body === null || Buffer.isBuffer(answer.body)) return answer;
      const told = structuredClone(answer.body);
      visit(told, values, (object, value) => {
        object[FIELD] = `kept with ${value ?? 'the set'}`;
      });
      return { ...answer, body: told };
    };

  bench.check(
    `${RECORD} the edit of a sibling, of its own record, a rename, and to be disabled and enabled`,
    async () => {
      const { standIn } = bench;
      if (!standIn) return bench.tell(RECORD, 'a real server, which has no fields of next year');
      const [first, second, third, fourth] = values;
      const inLists = !bench.leavesOut(RECORD);
      const inSets = !bench.leavesOut(SET);
      const stays = capabilities.toggle || !bench.leavesOut(AWAY);
      const tried = new Set<string>();
      /** Does something while the field is there: no description of the API knows it. */
      const strangely = async <T>(body: () => Promise<T>, writes: unknown[] = []): Promise<T> => {
        const { length } = standIn.exchanges;
        return bench.through(standIn, strange(writes), body).finally(() => standIn.exchanges.splice(length));
      };
      const one = (value: string, more = {}) => bench.a('strange', value, more);
      const held = (value: string, host = 'strange') =>
        strangely(async () => (await bench.at(host, 'A')).find((r) => r.value === value) as RemoteRecord);
      /** Looks what a change sends with the values. @param kept each value with the one that it was kept with */
      const keeps = async (what: string, change: Change, kept: readonly [string, string][]) => {
        const writes: unknown[] = [];
        await strangely(() => bench.done(change), writes);
        const found: [value: string | null, told: unknown][] = [];
        for (const body of writes) visit(body, values, (object, value) => found.push([value, object[FIELD]]));
        const isSet = found.some(([value]) => value === null);
        // where the values stand in the set itself, it has one field
        const own = isSet || new Set(found.map(([value]) => value)).size > 1 || !inSets;
        for (const [value, told] of found) {
          const from = kept.find(([name]) => name === value)?.[1];
          const isOne = value === null ? inSets : inLists && from !== undefined;
          if (!isOne) continue;
          tried.add(what);
          const wish = value === null ? 'kept with the set' : `kept with ${from}`;
          assert.ok(
            told === wish || (!own && /^kept with/.test(String(told))),
            `${what}: ${value ?? 'the set'} is written with ${told}, not with what was ${wish}`,
          );
        }
      };
      const update = (what: string, before: RemoteRecord, after: DnsRecord, kept: readonly [string, string][]) =>
        keeps(what, { op: 'update', before, after }, kept);
      const edit = async (what: string, value: string, more: Partial<DnsRecord>, kept: readonly [string, string][]) => {
        const { remoteId: _id, readOnly: _ro, ...now } = await held(value);
        await update(what, await held(value), { ...now, ...more }, kept);
      };
      /** As the service does: what cannot be turned off there is taken away, and made anew of what is known of it. */
      const turn = async (what: string, value: string, siblings: readonly [string, string][]) => {
        const { remoteId, readOnly, ...now } = await held(value);
        const off = { ...now, enabled: false };
        const all: [string, string][] = [[value, value], ...siblings];
        if (capabilities.toggle) {
          await update(`${what}, off`, { ...now, remoteId, readOnly }, off, all);
          await update(`${what}, on`, await held(value), now, all);
        } else {
          await keeps(`${what}, off`, { op: 'delete', before: { ...now, remoteId, readOnly } }, siblings);
          await keeps(`${what}, on`, { op: 'create', after: now }, stays ? all : siblings);
        }
      };
      await bench.create(one(first), one(second));
      const others: [string, string][] = [[second, second]];
      await keeps('a sibling that comes', { op: 'create', after: one(third) }, [[first, first], ...others]);
      await keeps('a sibling that goes', { op: 'delete', before: await held(third) }, [[first, first], ...others]);
      await edit('an edit', first, { value: fourth }, [[fourth, first], ...others]);
      await edit('another TTL', fourth, { ttl: bench.ttls[1] }, [[fourth, fourth], ...others]);
      await turn('one of two', fourth, others);
      await keeps('a sibling that goes', { op: 'delete', before: await held(fourth) }, others);
      await turn('the only one', second, []);
      await edit('another name', second, { host: 'stranger' }, others);
      if (inLists)
        for (const what of [...(stays ? ['the only one, on'] : []), 'another name'])
          assert.ok(tried.has(what), `${what}: no write has the value`);
      await bench.clear(await bench.at('stranger', 'A'));
    },
    unless,
  );
}

/** An entry of another form than any that is known is shown as it came, and the others are what they were. */
export function unknownForms(bench: Bench): void {
  const value = '192.0.2.75';
  const shape = { form: 'of next year' };
  const bend = (part: unknown): unknown =>
    Array.isArray(part) ? part.map((one) => (one === value ? shape : one)) : part === value ? shape : part;

  strangely(
    bench,
    'an entry that is not understood is shown read-only, and takes no other with it',
    shape.form,
    (object, found) => {
      if (!found) return false;
      for (const [name, part] of Object.entries(object)) object[name] = bend(part);
      return true;
    },
  );
  strangely(
    bench,
    'a set whose values have another name is shown read-only, and is not written over',
    value,
    (object) => {
      const lists = Object.entries(object).filter(
        ([, part]) => Array.isArray(part) && JSON.stringify(part).includes(value),
      );
      for (const [name, part] of lists) {
        delete object[name];
        object[`${name} of next year`] = part;
      }
      return lists.length > 0;
    },
  );
}

/**
 * Makes one entry strange, looks how it is shown, and that nothing is written over it.
 * @param text what is seen of the entry
 * @param bend makes an object strange that holds the value, or is a set that does; whether it did
 */
function strangely(
  bench: Bench,
  name: string,
  text: string,
  bend: (object: Record<string, unknown>, value: string | null) => boolean,
): void {
  const value = '192.0.2.75';
  bench.faulty(name, async (standIn) => {
    await bench.create(bench.a('odd', value), bench.a('beside', '192.0.2.76'));
    const { length } = standIn.exchanges;
    let bent = 0;
    let written = false;
    const wrap =
      (real: Handler): Handler =>
      async (request) => {
        const answer = await real(request);
        if (typeof answer.body !== 'object' || answer.body === null || Buffer.isBuffer(answer.body)) return answer;
        const body = structuredClone(answer.body);
        visit(body, [value], (object, found) => {
          if (bend(object, found)) bent++;
        });
        return { ...answer, body };
      };
    await bench.through(standIn, wrap, async () => {
      const all = await bench.list();
      if (!bent) return bench.tell(name, 'its answers are no JSON, or hold no such part');
      const shown = all.find((record) => record.readOnly && record.value.includes(text));
      assert.ok(shown?.readOnlyReason, 'it is shown as it came, with the reason');
      assert.deepEqual([shown.host, shown.type], ['odd', 'A']);
      assert.ok(all.some((record) => record.host === 'beside' && !record.readOnly));
      if (bench.capabilities.replaces === 'record') return;
      const [outcome] = await bench.apply({ op: 'create', after: bench.a('odd', '192.0.2.77') });
      written = outcome?.ok === true;
      assert.ok(written || (outcome && !outcome.ok && outcome.error.kind === 'rejected'), 'its set is not written');
    });
    standIn.exchanges.splice(length);
    const odd = await bench.at('odd', 'A');
    // another view of the zone may understand it, and write it with the rest
    if (written) assert.deepEqual(odd.map((record) => record.value).toSorted(), [value, '192.0.2.77']);
    await bench.clear([...odd, ...(await bench.at('beside', 'A'))]);
  });
}
