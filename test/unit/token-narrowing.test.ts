import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { judgeByRules } from '../../src/tokens/rules/compiled-rules.js';
import { rulesNarrow } from '../../src/tokens/rules/narrowing.js';
import { ACTIONS, type TokenRule } from '../../src/tokens/rules/token-rules.js';
import { seedOf } from '../support/seed.js';

const SEED = seedOf('narrowed tokens');
const some = <T>(values: readonly T[]) => fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined });
const HOSTS = ['www', '@', '*.dev', '\\*.dev', '**', 'a.dev'];
const TYPES = ['A', 'AAAA', 'CNAME', 'NS', 'DS', 'TXT'];
const CIDRS = ['10.0.0.0/8', '10.1.0.0/16', '2001:db8::/32', '64:ff9b::/96'];
const SUFFIXES = ['example.net', 'a.example.net'];
const VALUES: Record<string, (string | null)[]> = {
  A: ['10.1.2.3', '10.2.2.3', '192.0.2.1', null],
  AAAA: ['2001:db8::1', '64:ff9b::a01:203', null],
  CNAME: ['b.a.example.net', 'example.net', 'example.com', null],
  NS: ['a.example.net', null],
  DS: ['1 8 2 00', null],
  TXT: ['', 'long enough', null],
};
const text = fc.record(
  { min_length: fc.constantFrom(0, 3, 30), max_length: fc.constantFrom(0, 5, 50) },
  { requiredKeys: [] },
);
const values = fc.record({ cidrs: some(CIDRS), suffixes: some(SUFFIXES), text: fc.option(text, { nil: undefined }) });
const ttl = fc.record({ min: fc.constantFrom(1, 60), max: fc.constantFrom(60, 3600) }, { requiredKeys: [] });
const rule = fc.record({
  effect: fc.constantFrom('allow' as const, 'deny' as const),
  domains: some([1, 2]),
  hosts: some(HOSTS),
  types: some(TYPES),
  actions: some(ACTIONS),
  values: fc.option(values, { nil: undefined }),
  ttl: fc.option(ttl, { nil: undefined }),
}) as fc.Arbitrary<TokenRule>;
const rules = fc.array(rule, { minLength: 1, maxLength: 3 });
/** Rules made of others by leaving out, adding and changing some: more often narrower than any others are. */
const derived = (list: TokenRule[]) =>
  fc
    .tuple(
      fc.subarray(list),
      fc.array(rule, { maxLength: 1 }),
      fc.record({ actions: some(ACTIONS), hosts: some(HOSTS), types: some(TYPES), values: fc.option(values) }),
    )
    .map(([kept, more, changes]) => {
      const set = Object.fromEntries(Object.entries(changes).filter(([, value]) => value != null));
      return [...kept.map((one, i) => (i === 0 ? { ...one, ...set } : one)), ...more];
    });
const states = Object.entries(VALUES).flatMap(([type, list]) =>
  list.flatMap((value) =>
    ['www', '@', 'a.dev', '*.dev', 'x.y'].flatMap((host) =>
      [0, 30, 300].flatMap((seconds) => [1, 2].map((domain) => ({ domain, host, type, value, ttl: seconds }))),
    ),
  ),
);

describe('rules that are said to narrow', () => {
  it('allow nothing that was not allowed before', () => {
    let narrower = 0;
    const property = fc.property(
      rules.chain((before) => fc.tuple(fc.constant(before), derived(before))),
      ([before, after]) => {
        if (!rulesNarrow(before, after)) return;
        narrower++;
        for (const { domain, ...state } of states)
          for (const action of ACTIONS)
            if (judgeByRules(after, domain, action, state).allowed)
              assert.ok(judgeByRules(before, domain, action, state).allowed, JSON.stringify({ action, state }));
      },
    );
    fc.assert(property, { seed: SEED, numRuns: 1500 });
    assert.ok(narrower > 50, `${narrower} narrower ones`);
  });

  const www: TokenRule = { effect: 'allow', hosts: ['www'] };
  const NARROWER: [string, TokenRule[] | null, TokenRule[] | null][] = [
    ['rules where there were none', null, [{ effect: 'allow', values: { text: { pattern: 'a' } } }]],
    ['a deny more', [www], [www, { effect: 'deny', types: ['TXT'] }]],
    ['fewer types', [www], [{ ...www, types: ['A'] }]],
    ['fewer actions', [www], [{ ...www, actions: ['read'] }]],
    [
      'a smaller network',
      [{ ...www, values: { cidrs: ['10.0.0.0/8'] } }],
      [{ ...www, values: { cidrs: ['10.1.0.0/16'] } }],
    ],
    ['an allow less', [www, { effect: 'allow', hosts: ['dev'] }], [www]],
  ];
  for (const [what, before, after] of NARROWER) it(what, () => assert.ok(rulesNarrow(before, after)));

  const pattern: TokenRule = { effect: 'allow', types: ['TXT'], values: { text: { pattern: 'a' } } };
  const WIDER: [string, TokenRule[] | null, TokenRule[] | null][] = [
    ['no rules any more', [www], null],
    ['another host', [www], [{ ...www, hosts: ['www', 'dev'] }]],
    ['a deny less', [www, { effect: 'deny', types: ['TXT'] }], [www]],
    ['NS, which an allow with hosts alone does not mean', [www], [{ ...www, types: ['NS'] }]],
    [
      'a larger network',
      [{ ...www, values: { cidrs: ['10.1.0.0/16'] } }],
      [{ ...www, values: { cidrs: ['10.0.0.0/8'] } }],
    ],
    ['patterns, of which nothing can be shown', [www, pattern], [www]],
  ];
  for (const [what, before, after] of WIDER) it(`not: ${what}`, () => assert.ok(!rulesNarrow(before, after)));
});
