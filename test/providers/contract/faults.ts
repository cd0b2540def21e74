import assert from 'node:assert/strict';
import type { Change, Outcome, ProviderDefinition, RemoteRecord, RemoteZone } from '../../../src/providers/provider.js';
import type { Answer, Handler, Received, StandIn } from '../../support/vendor.js';
import type { Bench } from './bench.js';

const HTML: Answer = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!DOCTYPE html>\n<html><head><title>Please wait</title></head><body><p>One moment, please.</p></body></html>',
};
const broken: Answer = { status: 200, body: 'x'.repeat(64), breakAfter: 1 };
const textOf = ({ body }: Answer): string =>
  body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
const half = (answer: Answer): Answer => {
  const text = textOf(answer);
  const headers = {
    'content-type': typeof answer.body === 'string' ? 'text/plain' : 'application/json',
    ...answer.headers,
  };
  return text.length < 2 ? broken : { ...answer, headers, body: text.slice(0, Math.floor(text.length / 2)) };
};

interface Fault {
  name: string;
  /** the vendor says no, and is believed: not that it cannot be reached */
  refusal?: true;
  /** the request is carried out before it goes wrong */
  carriedOut: boolean;
  answer(real: Answer): Answer;
}

const FAULTS: readonly Fault[] = [
  { name: 'a 500', carriedOut: false, answer: () => ({ status: 500, body: 'Internal Server Error' }) },
  { name: 'a 502 of HTML', carriedOut: false, answer: () => ({ ...HTML, status: 502 }) },
  { name: 'a 503', carriedOut: false, answer: () => ({ status: 503, body: '' }) },
  {
    name: 'a 504 after it was carried out',
    carriedOut: true,
    answer: () => ({ status: 504, body: 'Gateway Timeout' }),
  },
  { name: 'a reset before it was carried out', carriedOut: false, answer: () => broken },
  { name: 'a reset after it was carried out', carriedOut: true, answer: () => broken },
  { name: 'a body that is cut', carriedOut: true, answer: half },
  { name: 'HTML in place of the answer', carriedOut: true, answer: () => HTML },
];
/** What a vendor says to a later request, when a write before it may have been carried out. */
const REFUSALS: readonly Fault[] = [403, 404].map((status) => ({
  ...{ name: `a ${status}`, refusal: true, carriedOut: false },
  answer: () => ({ status, body: '{}' }),
}));
const SOME = FAULTS.filter(({ name }) => /^a (500|reset)/.test(name));

/** What the client waits out, and tries again. */
const PUT_OFF: readonly Fault[] = [
  { name: 'a 429', carriedOut: false, answer: () => ({ status: 429, body: 'Too Many Requests' }) },
  { name: 'a 503 behind what was carried out', carriedOut: true, answer: () => ({ status: 503, body: '' }) },
];

const UNLIMITED = (declaration: ProviderDefinition): ProviderDefinition => ({
  ...declaration,
  limits: { requests: 1_000_000, perSeconds: 1, more: [], concurrency: 8 },
});

/** A request, told from others; numbers in it may differ each time, such as serials. */
const textOfRequest = ({ method, path, body }: Received): string =>
  JSON.stringify([method, path, body]).replace(/\d+/g, '0');

/** The request that writes, of all that something sends: the last one that no list sends. */
async function writeOf(bench: Bench, standIn: StandIn, body: () => Promise<unknown>): Promise<string> {
  const sent = async (work: () => Promise<unknown>) => {
    const before = standIn.requests.length;
    await work();
    return standIn.requests.slice(before).filter(({ method }) => method !== 'GET');
  };
  const reads = (await sent(bench.list)).map(textOfRequest);
  const found = (await sent(body)).map(textOfRequest).findLast((text) => !reads.includes(text));
  assert.ok(found, 'something is written');
  return found;
}

/** The fault at the first request of this text; before its answer comes, `meddle` is done undisturbed. */
const meddledAt =
  (write: string, fault: Fault, standIn: StandIn, meddle: () => Promise<void>) =>
  (real: Handler): Handler =>
  async (request) => {
    if (textOfRequest(request) !== write) return real(request);
    standIn.handler = real;
    const answer = fault.answer(fault.carriedOut ? await real(request) : {});
    await meddle();
    return { ...answer, injected: true };
  };

/** The fault at the request of this number, from 1; at all others, and after it, the real handler. */
const faultAt =
  (at: number, fault: Fault, always = false) =>
  (real: Handler): Handler => {
    let number = 0;
    return async (request) => {
      number++;
      if (number !== at && !(always && number > at)) return real(request);
      return { ...fault.answer(fault.carriedOut ? await real(request) : {}), injected: true };
    };
  };

/** How many requests something takes. */
async function requestsOf(standIn: StandIn, body: () => Promise<unknown>): Promise<number> {
  const before = standIn.requests.length;
  await body();
  return standIn.requests.length - before;
}

/** A zone like the one there is, of another name and id. */
function missingLike({ id, name }: RemoteZone): RemoteZone {
  const other = name.replace(/^[^.]*/, 'absent');
  if (id.includes(name)) return { id: id.replace(name, other), name: other };
  const turned = id.replace(/[0-9a-z](?=[^0-9a-z]*$)/i, (last) =>
    last === '7' ? '8' : last === 'b' ? 'c' : /\d/.test(last) ? '7' : 'b',
  );
  return { id: turned, name: other };
}

const failure = (outcome: Outcome | undefined) => {
  assert.ok(outcome && !outcome.ok, 'a failure');
  return outcome.error;
};

/** Zones that are not there, credentials that are refused, and everything that a network and a server do wrong. */
export function faults(bench: Bench): void {
  const { capabilities } = bench;
  const sibling = () => bench.a('fault', '192.0.2.99');
  const [x, y] = [() => bench.a('fault', '192.0.2.1'), () => bench.a('fault', '192.0.2.2')];

  bench.check('a zone that is not there is an error, never an empty one', async () => {
    const missing = bench.target.missing ?? missingLike(bench.zone);
    const { provider } = bench.target;
    const kinds = [
      'not_found',
      ...(bench.leavesOut('telling a missing zone from refused credentials') ? ['auth'] : []),
    ];
    await assert.rejects(provider.listRecords(missing), ({ kind, message }: Error & { kind: string }) => {
      assert.ok(kinds.includes(kind), `${kind}: ${message}`);
      return true;
    });
    const after = x();
    const before = { ...after, remoteId: '1', readOnly: false };
    for (const change of [
      { op: 'create', after },
      { op: 'update', before, after: y() },
    ] satisfies Change[]) {
      const error = failure((await provider.apply(missing, [change]))[0]);
      assert.ok([...kinds, 'rejected'].includes(error.kind), `${change.op}: ${error.kind}: ${error.message}`);
      assert.equal(error.mayHaveApplied, false);
    }
  });

  bench.check('credentials that are refused are said to be so, in every operation', async () => {
    const { stranger } = bench.target;
    if (!stranger) return assert.ok(!bench.standIn, 'a target with a stand-in names a `stranger`');
    await assert.rejects(stranger.check(), { kind: 'auth' });
    // servers that cannot list their zones know them from the account
    await assert.rejects(stranger.listZones(), { kind: 'auth' });
    await assert.rejects(stranger.listRecords(bench.zone), { kind: 'auth' });
    await bench.create(sibling());
    const [before] = await bench.shows('fault', 'A', [sibling()]);
    for (const change of [
      { op: 'create', after: x() },
      { op: 'update', before: before as RemoteRecord, after: y() },
      { op: 'delete', before: before as RemoteRecord },
    ] satisfies Change[]) {
      const error = failure((await stranger.apply(bench.zone, [change]))[0]);
      assert.deepEqual([change.op, error.kind, error.mayHaveApplied], [change.op, 'auth', false]);
    }
    await bench.clear(await bench.shows('fault', 'A', [sibling()]));
  });

  const limits: [string, (bench: Bench) => Answer | undefined][] = [
    ['429 with Retry-After', () => ({ status: 429, headers: { 'retry-after': '1' }, body: 'Too Many Requests' })],
    ['429 without Retry-After', () => ({ status: 429, body: 'Too Many Requests' })],
    ["the vendor's own limit answer", ({ target }) => target.limited],
  ];
  for (const [name, answer] of limits) {
    bench.faulty(`${name} is waited out`, async (standIn) => {
      const limited = answer(bench);
      // the vendor says 429 as all do
      if (!limited) return;
      const once: Fault = { name, carriedOut: false, answer: () => limited };
      const all = await bench.list();
      await bench.through(standIn, faultAt(1, once), async () => assert.deepEqual(await bench.list(), all));
      const count = await requestsOf(standIn, () => bench.create(x()));
      await bench.clear(await bench.shows('fault', 'A', [x()]));
      // the first and the last of the requests that one change takes
      for (const at of limited.headers?.['retry-after'] ? [count] : new Set([1, count])) {
        await bench.through(standIn, faultAt(at, once), () => bench.create(x()));
        await bench.clear(await bench.shows('fault', 'A', [x()]));
      }
    });
  }

  bench.faulty('a limit that does not end is said to be one, and nothing was done', async (standIn) => {
    const always: Fault = {
      name: '429',
      carriedOut: false,
      answer: () => ({ status: 429, body: 'Too Many Requests' }),
    };
    await bench.through(standIn, faultAt(1, always, true), async () => {
      await assert.rejects(bench.list(), { kind: 'rate_limit' });
      const error = failure((await bench.apply({ op: 'create', after: x() }))[0]);
      assert.deepEqual([error.kind, error.mayHaveApplied], ['rate_limit', false]);
    });
  });

  const cuts: [string, (real: Answer) => Answer][] = [
    ['cut in the middle', half],
    [
      'cut in the middle, the connection being broken',
      (real) => ({ ...real, body: `${textOf(real)} `, breakAfter: Math.ceil(textOf(real).length / 2) }),
    ],
    ['HTML', () => HTML],
    ['empty', () => ({ status: 200, body: '' })],
    ['null', () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: 'null' })],
    ['another document', () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' })],
    ['a 500', () => ({ status: 500, body: '' })],
  ];
  for (const [what, answer] of cuts) {
    const name = `a list of which a page is ${what} is an error, or whole, never short`;
    bench.faulty(name, async (standIn) => {
      await bench.create(x(), y(), sibling());
      const fault: Fault = { name, carriedOut: true, answer };
      for (const read of [() => bench.list(), () => bench.target.provider.listZones()]) {
        const all = JSON.stringify(await read());
        const count = await requestsOf(standIn, read);
        assert.ok(count > 0, 'a list is asked for');
        for (let at = 1; at <= Math.min(count, 4); at++) {
          await bench.through(standIn, faultAt(at, fault, true), async () => {
            const found = await read().catch((error: Error & { kind?: string }) => error);
            if (found instanceof Error) {
              assert.equal(found.kind, 'unavailable', found.message);
              return;
            }
            // where a request at this place adds nothing to the list
            assert.ok(at > 1, 'the first request is needed for the list');
            assert.equal(JSON.stringify(found), all);
          });
        }
      }
      await bench.clear(await bench.shows('fault', 'A', [x(), y(), sibling()]));
    });
  }

  /** Whether a lost answer may be asked for again without making a second record. */
  const REPEAT = 'a repeat after a lost answer';
  const present = async (value: string) => (await bench.at('fault', 'A')).filter((r) => r.value === value);

  // a vendor of whole sets that says "no such set" is believed: that is how it says that a set is empty
  const refusals = REFUSALS.filter(({ name }) => capabilities.replaces === 'record' || name !== 'a 404');
  for (const fault of [...FAULTS, ...refusals]) {
    bench.faulty(
      `creating meets ${fault.name}: what is said of it is true, and a repeat makes no twin`,
      async (standIn) => {
        await bench.create(sibling());
        const count = await requestsOf(standIn, () => bench.create(x()));
        await bench.clear(await present(x().value));
        for (let at = 1; at <= Math.min(count, 5); at++) {
          const outcome = await bench.through(standIn, faultAt(at, fault), async () => {
            const [only] = await bench.apply({ op: 'create', after: x() });
            return only as Outcome;
          });
          const made = await present(x().value);
          const what = `at request ${at} of ${count}`;
          if (!bench.leavesOut(REPEAT)) assert.ok(made.length < 2, `${what}: no twin`);
          if (outcome.ok) assert.equal(made.length, 1, `${what}: it is there`);
          else {
            if (!fault.refusal) assert.equal(outcome.error.kind, 'unavailable', `${what}: ${outcome.error.message}`);
            if (made.length)
              assert.ok(outcome.error.mayHaveApplied, `${what}: it is there, and is said to be certainly not`);
          }
          if (!bench.leavesOut(REPEAT)) {
            const [id] = await bench.create(x());
            const [there, ...twins] = await present(x().value);
            assert.deepEqual([there?.remoteId, twins.length], [id, 0], `${what}: repeated`);
          }
          await bench.clear(await present(x().value));
          assert.equal((await present(sibling().value)).length, 1, 'the sibling is there');
        }
        await bench.clear(await bench.shows('fault', 'A', [sibling()]));
      },
    );
  }

  for (const fault of PUT_OFF) {
    const name = `what another writer adds after ${fault.name} is kept`;
    if (capabilities.replaces === 'record') break;
    bench.faulty(name, async (standIn) => {
      const other = bench.target.connect?.(UNLIMITED(bench.declaration));
      if (!other || other === bench.target.provider) return bench.tell(name, 'the target has one connection only');
      const third = bench.a('fault', '192.0.2.98');
      await bench.create(sibling());
      const write = await writeOf(bench, standIn, () => bench.create(x()));
      await bench.clear(await present(x().value));
      let met = 0;
      const meddle = async () => {
        met++;
        const [outcome] = await other.apply(bench.zone, [{ op: 'create', after: third }]);
        assert.ok(outcome?.ok, 'the other writer is not disturbed');
      };
      const [outcome] = await bench.through(standIn, meddledAt(write, fault, standIn, meddle), () =>
        bench.apply({ op: 'create', after: x() }),
      );
      assert.equal(met, 1, 'there is a write');
      const [mine, theirs] = [await present(x().value), await present(third.value)];
      assert.equal(theirs.length, 1, 'what another writer made is there');
      if (!fault.carriedOut) assert.ok(outcome?.ok, 'it is tried again');
      if (outcome?.ok) assert.equal(mine.length, 1, 'it is there');
      else assert.ok(failure(outcome).mayHaveApplied, 'it is in doubt');
      await bench.clear([...mine, ...theirs]);
      await bench.clear(await bench.shows('fault', 'A', [sibling()]));
    });
  }

  for (const fault of SOME) {
    bench.faulty(`updating meets ${fault.name}: the record is never lost, and a repeat ends well`, async (standIn) => {
      await bench.create(sibling(), x());
      const [, first] = await bench.shows('fault', 'A', [sibling(), x()]);
      let before = first as RemoteRecord;
      const count = await requestsOf(standIn, () => bench.done({ op: 'update', before, after: y() }));
      for (let at = 1; at <= Math.min(count, 5); at++) {
        const what = `at request ${at} of ${count}`;
        for (const old of await present(y().value)) await bench.done({ op: 'update', before: old, after: x() });
        [before] = (await present(x().value)) as [RemoteRecord];
        const change: Change = { op: 'update', before, after: y() };
        const outcome = await bench.through(standIn, faultAt(at, fault), async () => (await bench.apply(change))[0]);
        const [was, is] = [await present(x().value), await present(y().value)];
        assert.equal(was.length + is.length, 1, `${what}: the record is there once`);
        if (outcome?.ok) assert.equal(is.length, 1, what);
        else {
          assert.equal(failure(outcome).kind, 'unavailable', what);
          if (is.length)
            assert.ok(failure(outcome).mayHaveApplied, `${what}: it is changed, and is said to be certainly not`);
        }
        await bench.done(change);
        await bench.shows('fault', 'A', [sibling(), y()]);
      }
      await bench.clear(await bench.shows('fault', 'A', [sibling(), y()]));
    });

    bench.faulty(
      `deleting meets ${fault.name}: what is said of it is true, and a repeat ends well`,
      async (standIn) => {
        await bench.create(sibling(), x());
        let [before] = await present(x().value);
        const count = await requestsOf(standIn, () => bench.clear([before as RemoteRecord]));
        for (let at = 1; at <= Math.min(count, 5); at++) {
          await bench.create(x());
          [before] = await present(x().value);
          const change: Change = { op: 'delete', before: before as RemoteRecord };
          const outcome = await bench.through(standIn, faultAt(at, fault), async () => (await bench.apply(change))[0]);
          const left = await present(x().value);
          if (outcome?.ok) assert.equal(left.length, 0, `at request ${at}`);
          else if (!left.length)
            assert.ok(failure(outcome).mayHaveApplied, `at request ${at}: it is gone, and is said to be certainly not`);
          await bench.done(change);
          await bench.shows('fault', 'A', [sibling()]);
        }
        await bench.clear(await bench.shows('fault', 'A', [sibling()]));
      },
    );
  }
}
