import assert from 'node:assert/strict';
import type { RemoteRecord } from '../../../src/providers/provider.js';
import type { Handler } from '../../support/vendor.js';
import type { Bench } from './bench.js';

type Entry = Record<string, unknown>;

const [ODD, BESIDE] = ['192.0.2.65', '192.0.2.66'] as const;
/** What may stand in the place of an entry. */
const STRANGE: readonly unknown[] = [null, 'of next year', 7, ['of next year'], { form: 'of next year' }];

const holds = (part: unknown, text: string): boolean => JSON.stringify(part ?? null).includes(`"${text}`);

/** Whether it is an entry that holds the odd value, and no other one. */
const isOdd = (one: unknown): boolean =>
  typeof one === 'object' && one !== null && !Array.isArray(one) && holds(one, ODD) && !holds(one, BESIDE);

/** Makes another entry of the odd one in the outermost list that has it; undefined: it stays. @returns whether so */
function bend(part: unknown, other: (entry: Entry) => unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const at = Array.isArray(part) ? part.findIndex(isOdd) : -1;
  if (at < 0 || !Array.isArray(part))
    return Object.values(part)
      .map((one) => bend(one, other))
      .includes(true);
  const entry = other(part[at] as Entry);
  if (entry !== undefined) part[at] = entry;
  return entry !== undefined;
}

/** A document in which null stands behind each list of objects. */
function withNull(part: unknown): unknown {
  if (Array.isArray(part)) return part.some((one) => one && typeof one === 'object') ? [...part, null] : part;
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, withNull(one)]));
}

/** Entries of a list that are none, have no id, or that of another one: they are shown, and take no other with them. */
export function strangeEntries(bench: Bench): void {
  const { capabilities } = bench;

  /** Does something while the odd entry is another one. @param seen the records before */
  const bent = (
    name: string,
    other: (entry: Entry, seen: { odd: RemoteRecord; beside: RemoteRecord }) => unknown,
    body: () => Promise<void>,
    unless?: string | false,
  ) =>
    bench.faulty(
      name,
      async (standIn) => {
        await bench.create(bench.a('odd', ODD), bench.a('beside', BESIDE));
        const [odd, beside] = [(await bench.at('odd', 'A'))[0], (await bench.at('beside', 'A'))[0]];
        assert.ok(odd && beside);
        const { length } = standIn.exchanges;
        let isBent = false;
        const wrap =
          (real: Handler): Handler =>
          async (request) => {
            const answer = await real(request);
            if (typeof answer.body !== 'object' || Buffer.isBuffer(answer.body)) return answer;
            const told = structuredClone(answer.body);
            if (bend(told, (entry) => other(entry, { odd, beside }))) isBent = true;
            return { ...answer, body: told };
          };
        await bench.through(standIn, wrap, async () => {
          await bench.list();
          if (isBent) await body();
          else bench.tell(name, 'its answers are no JSON, or hold no such part');
        });
        // no description of the API knows such entries
        standIn.exchanges.splice(length);
        assert.deepEqual(await bench.at('odd', 'A'), [odd], 'nothing of it is lost');
        await bench.clear((await bench.list()).filter(({ host }) => /^(odd|beside|other)$/.test(host)));
      },
      unless,
    );
  const isFine = (all: readonly RemoteRecord[]) => all.some((one) => one.host === 'beside' && !one.readOnly);
  /** The name of the vendor's field with the id of a record. */
  const idIn = (entry: Entry, { remoteId }: RemoteRecord) =>
    Object.keys(entry).find((name) => /^(record_?)?id$/i.test(name) && `${entry[name]}` === remoteId);
  const derived = capabilities.ids !== 'own' && `ids: ${capabilities.ids}, which are of the content`;

  for (const strange of STRANGE) {
    const text = JSON.stringify(strange);
    bent(
      `${text} in the place of an entry is shown read-only, and the others are what they were`,
      () => strange,
      async () => {
        const all = await bench.list();
        const shown = all.find(({ value, readOnly }) => readOnly && value === text);
        assert.ok(shown?.readOnlyReason, 'it is shown as it came, with the reason');
        assert.ok(isFine(all));
        const list = ['192.0.2.67', '192.0.2.68'].map((value) => bench.a('other', value));
        const outcomes = await bench.apply(...list.map((after) => ({ op: 'create', after }) as const));
        assert.equal(outcomes.length, 2);
        for (const outcome of outcomes) {
          // it could be lost with a zone that is written as a whole
          if (outcome.ok) continue;
          assert.equal(capabilities.replaces, 'zone', outcome.error.message);
          assert.deepEqual([outcome.error.kind, outcome.error.mayHaveApplied], ['rejected', false]);
        }
      },
    );
  }
  bench.faulty('null among zones is an error of the provider, or takes no other with it', async (standIn) => {
    const { provider } = bench.target;
    const zones = await provider.listZones();
    const { length } = standIn.exchanges;
    const wrap =
      (real: Handler): Handler =>
      async (request) => {
        const answer = await real(request);
        if (typeof answer.body !== 'object' || Buffer.isBuffer(answer.body)) return answer;
        return { ...answer, body: withNull(answer.body) };
      };
    await bench.through(standIn, wrap, async () => {
      const found = await provider.listZones().catch((error: Error & { kind?: string }) => error);
      if (found instanceof Error) assert.equal(found.kind, 'unavailable', found.message);
      else assert.deepEqual(found, zones);
    });
    standIn.exchanges.splice(length);
  });
  bent(
    'an entry without its id is shown read-only, and the others are what they were',
    (entry, { odd }) => {
      const name = idIn(entry, odd);
      return name && Object.fromEntries(Object.entries(entry).filter(([one]) => one !== name));
    },
    async () => {
      const all = await bench.list();
      const shown = all.find(({ host }) => host === 'odd');
      assert.ok(shown?.readOnly && shown.readOnlyReason && shown.value.includes(ODD));
      assert.ok(isFine(all));
    },
    derived,
  );
  bent(
    'two entries with one id are both shown read-only, each by an id of its own that stays',
    (entry, { odd, beside }) => {
      const name = idIn(entry, odd);
      const id = name && typeof entry[name] === 'number' ? Number(beside.remoteId) : beside.remoteId;
      return name && { ...entry, [name]: id };
    },
    async () => {
      const both = async () => (await bench.list()).filter(({ host }) => host === 'odd' || host === 'beside');
      const shown = await both();
      assert.deepEqual(shown.map(({ value }) => value).toSorted(), [ODD, BESIDE]);
      assert.ok(shown.every(({ readOnly, readOnlyReason }) => readOnly && readOnlyReason));
      assert.equal(new Set(shown.map(({ remoteId }) => remoteId)).size, 2);
      assert.deepEqual(await both(), shown);
    },
    derived,
  );
}
