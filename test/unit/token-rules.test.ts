import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { compileGlob, compilePattern, isHostGlob, MAX_PROGRAM } from '../../src/platform/common/patterns.js';
import { assertRules } from '../../src/tokens/rule-checks.js';
import { judgeByRules } from '../../src/tokens/rules/compiled-rules.js';
import type { Action, RecordState, TokenRule } from '../../src/tokens/rules/token-rules.js';
import { seedOf } from '../support/seed.js';

const SEED = seedOf('rules of tokens');
describe('host globs', () => {
  const TABLE: [glob: string, matches: string[], not: string[]][] = [
    ['@', ['@'], ['www', '*']],
    ['www', ['www'], ['@', 'www.dev', 'wwww', 'xwww']],
    ['*', ['www', '_dmarc'], ['@', 'a.b', '*']],
    ['**', ['@', 'www', 'a.b.c', '*', '*.dev'], []],
    ['*.dev', ['a.dev'], ['dev', 'a.b.dev', 'adev', 'a.devx', '*.dev', '@']],
    ['**.dev', ['a.dev', 'a.b.dev', '*.dev', '*.b.dev'], ['dev', 'xdev', '@']],
    ['\\*.dev', ['*.dev'], ['a.dev', '\\*.dev', '*.b.dev', '@']],
    ['\\*', ['*'], ['a', '*.dev', '@']],
    ['\\*.*', ['*.dev'], ['a.dev', '*', '*.a.dev']],
    ['a*b*c', ['abc', 'axxbxc', 'abbcc'], ['abcd', 'a.bc', 'ac']],
    ['*.**.x', ['a.b.x', 'a.b.c.x'], ['a.x', '*.b.x']],
    ['app-*', ['app-1', 'app-'], ['app', 'app-1.dev', 'xapp-1']],
    ['_acme-challenge', ['_acme-challenge'], ['_acme-challenge.www', 'x_acme-challenge']],
    ['_acme-challenge.**', ['_acme-challenge.www', '_acme-challenge.a.b'], ['_acme-challenge', '_acme-challengexwww']],
    ['a.b', ['a.b'], ['axb']],
  ];
  for (const [glob, matches, not] of TABLE) {
    it(glob, () => {
      assert.ok(isHostGlob(glob));
      for (const host of matches) assert.equal(compileGlob(glob)(host), true, host);
      for (const host of not) assert.equal(compileGlob(glob)(host), false, host);
    });
  }

  it('mean the wildcard record, too, where that is asked for', () => {
    assert.equal(compileGlob('*.dev', true)('*.dev'), true);
    assert.equal(compileGlob('*', true)('*'), true);
  });

  it('say what a regular expression would say', () => {
    const label = fc.stringMatching(/^[ab]{1,3}$/);
    const glob = fc
      .array(fc.constantFrom('a', 'b', '.', '*', '**'), { minLength: 1, maxLength: 8 })
      .map((p) => p.join(''));
    const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((p) => p.join('.'));
    fc.assert(
      fc.property(glob, host, (text, name) => {
        const source = text.replace(/\*+|\./g, (t) => (t === '.' ? '\\.' : t === '*' ? '[^.]*' : '.*'));
        assert.equal(compileGlob(text)(name), new RegExp(`^${source}$`).test(name));
      }),
      { seed: SEED, numRuns: 3000 },
    );
  });

  it('are nothing but labels', () => {
    for (const wrong of [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a b',
      'Ä',
      'A',
      'a/b',
      '(a)',
      'a$',
      5,
      null,
      `${'a'.repeat(64)}`,
      'a.\\*',
      'a\\*',
      '\\',
    ])
      assert.equal(isHostGlob(wrong), false, String(wrong));
  });
});

describe('patterns', () => {
  const fits = (pattern: string, text: string) => compilePattern(pattern).fits(text);

  it('fit the whole text, line breaks included', () => {
    assert.equal(fits('[a-z]+', 'abc'), true);
    assert.equal(fits('[a-z]+', 'abc1'), false);
    assert.equal(fits('^[A-Za-z0-9_-]{43}$', 'x'.repeat(43)), true);
    assert.equal(fits('a.c', 'a\nc'), true);
    assert.equal(fits('.*secret.*', 'a\nsecret\n'), true);
  });

  it('take time in proportion to the text', () => {
    // with backtracking this one would not end in a lifetime
    assert.equal(fits('(a+)+b', 'a'.repeat(5000)), false);
    assert.equal(compileGlob('*a*a*a*a*a*a*a*a*b')('a'.repeat(250)), false);
  });

  it('are measured by what they compile to, not by their length', () => {
    assert.ok(compilePattern('(.?){1000}').size > MAX_PROGRAM);
    assert.ok(compilePattern(`v=spf1( (include|ip4|ip6|a|mx):[a-z0-9./:]+)* [~-]all`).size < MAX_PROGRAM / 4);
  });
});

describe('rules of a token, before they are stored', () => {
  const wrong = (rules: TokenRule[], allowed: number[] = []): string[] => {
    try {
      assertRules(rules, allowed);
      return [];
    } catch (error) {
      const { data } = error as { data: { errors: { path: string; code: string }[] } };
      return data.errors.map(({ path, code }) => `${path} ${code}`);
    }
  };
  const text = (pattern: string): TokenRule => ({ effect: 'allow', values: { text: { pattern } } });
  const hosts = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, i) => `${i}`.padStart(length, 'x'));

  it('are bounded in size, together', () => {
    const allow: TokenRule = { effect: 'allow', hosts: hosts(100, 9) };
    assert.deepEqual(wrong([allow, allow, allow, allow, allow]), []);
    assert.deepEqual(wrong([allow, allow, allow, allow, allow, { effect: 'deny', hosts: ['a'] }]), [
      'rules.5.hosts length',
    ]);
    const suffixes: TokenRule = { effect: 'allow', values: { suffixes: hosts(60, 50) } };
    assert.deepEqual(wrong([suffixes, suffixes]), ['rules.1.values.suffixes length']);
    assert.deepEqual(wrong([text('(.?){1000}')]), ['rules.0.values.text.pattern range']);
    assert.deepEqual(wrong(Array(5).fill(text('[a-z]{450}'))), ['rules.4.values.text.pattern range']);
    assert.deepEqual(wrong(Array(5).fill(text('a'.repeat(250)))), ['rules.4.values.text.pattern length']);
    assert.deepEqual(wrong([text('a'), text('\\pL'.repeat(17))]), ['rules.1.values.text.pattern length']);
  });

  it('are patterns that RE2 understands', () => {
    for (const pattern of ['(', '(?<=a)b', '(a)\\1', '(a{1000}){1000}'])
      assert.deepEqual(wrong([text(pattern)]), ['rules.0.values.text.pattern format'], pattern);
  });

  it('can match', () => {
    const TABLE: [TokenRule, string[]][] = [
      [{ effect: 'allow', ttl: { min: 5, max: 4 } }, ['rules.0.ttl.min conflict']],
      [{ effect: 'deny', ttl: { min: 5, max: 4 } }, ['rules.0.ttl.min conflict']],
      [{ effect: 'allow', ttl: { min: 5, max: 5 } }, []],
      [
        { effect: 'deny', values: { text: { min_length: 2, max_length: 1 } } },
        ['rules.0.values.text.min_length conflict'],
      ],
      [{ effect: 'allow', types: ['TXT'], values: { cidrs: ['10.0.0.0/8'] } }, ['rules.0.values conflict']],
      [{ effect: 'allow', types: ['A'], values: { cidrs: ['2001:db8::/32'] } }, ['rules.0.values conflict']],
      [{ effect: 'allow', types: ['AAAA'], values: { cidrs: ['10.0.0.0/8'] } }, []],
      [{ effect: 'allow', types: ['A', 'TXT'], values: { suffixes: ['a.example'] } }, ['rules.0.values conflict']],
      [{ effect: 'allow', types: ['NS', 'TXT'], values: { suffixes: ['a.example'] } }, []],
      [{ effect: 'allow', types: ['CAA'], values: { text: {} } }, ['rules.0.values conflict']],
      [{ effect: 'allow', values: {} }, ['rules.0.values conflict']],
      [{ effect: 'allow', values: { cidrs: ['2001:db8::/32'] } }, []],
      [{ effect: 'allow', domains: [1, 2] }, ['rules.0.domains conflict']],
      [{ effect: 'deny', domains: [1, 2] }, []],
      [{ effect: 'allow', domains: [3, 1] }, []],
    ];
    for (const [rule, paths] of TABLE) assert.deepEqual(wrong([rule], [3]), paths, JSON.stringify(rule));
  });
});

describe('rules', () => {
  const A: RecordState = { host: 'www', type: 'A', value: '192.0.2.1', ttl: 300 };
  const judge = (rules: TokenRule[], state: Partial<RecordState> = {}, action: Action = 'create', domain = 1) =>
    judgeByRules(rules, domain, action, { ...A, ...state });

  it('deny what none allows', () => {
    assert.deepEqual(judge([]), { allowed: false, rule: null });
    assert.deepEqual(judge([{ effect: 'allow', types: ['TXT'] }]), { allowed: false, rule: null });
    assert.deepEqual(judge([{ effect: 'deny', types: ['TXT'] }]), { allowed: false, rule: null });
  });

  it('deny beats allow, wherever it stands', () => {
    const rules: TokenRule[] = [
      { effect: 'allow' },
      { effect: 'allow', types: ['A'] },
      { effect: 'deny', hosts: ['www'] },
    ];
    assert.deepEqual(judge(rules), { allowed: false, rule: 2 });
    assert.deepEqual(judge(rules, { host: 'mail' }), { allowed: true, rule: 0 });
  });

  it('match by every field that they have', () => {
    const rule: TokenRule = {
      effect: 'allow',
      domains: [1],
      hosts: ['www', '*.dev'],
      types: ['A'],
      actions: ['create', 'update'],
      ttl: { min: 60, max: 600 },
    };
    const yes: [Partial<RecordState>, Action?][] = [
      [{}],
      [{ host: 'a.dev' }],
      [{}, 'update'],
      [{ ttl: 60 }],
      [{ ttl: 600 }],
    ];
    const no: [Partial<RecordState>, Action?, number?][] = [
      [{ host: 'mail' }],
      [{ type: 'AAAA' }],
      [{}, 'delete'],
      [{}, 'read'],
      [{ ttl: 59 }],
      [{ ttl: 601 }],
      [{}, 'create', 2],
    ];
    for (const [state, action] of yes)
      assert.equal(judge([rule], state, action).allowed, true, JSON.stringify([state, action]));
    for (const [state, action, domain] of no)
      assert.equal(judge([rule], state, action, domain).allowed, false, JSON.stringify([state, action, domain]));
  });

  it('values speak only of the types that they fit', () => {
    const cidrs: TokenRule = { effect: 'allow', values: { cidrs: ['192.0.2.0/24', '2001:db8::/32'] } };
    const suffixes: TokenRule = { effect: 'allow', values: { suffixes: ['example.com'] } };
    const text: TokenRule = {
      effect: 'allow',
      values: { text: { min_length: 2, max_length: 4, pattern: '[a-z😀]*' } },
    };
    const TABLE: [TokenRule, string, string, boolean][] = [
      [cidrs, 'A', '192.0.2.9', true],
      [cidrs, 'A', '192.0.3.9', false],
      [cidrs, 'AAAA', '2001:db8::1', true],
      [cidrs, 'AAAA', '2001:db9::1', false],
      [cidrs, 'TXT', '192.0.2.9', false],
      [cidrs, 'CNAME', 'x.example.com', false],
      [suffixes, 'CNAME', 'example.com', true],
      [suffixes, 'CNAME', 'a.example.com', true],
      [suffixes, 'CNAME', 'badexample.com', false],
      [suffixes, 'CNAME', 'example.com.evil', false],
      [suffixes, 'MX', 'mail.example.com', true],
      [suffixes, 'NS', 'ns.evil', false],
      [suffixes, 'SRV', '0 5060 sip.example.com', true],
      [suffixes, 'SRV', '0 5060 sip.evil', false],
      [suffixes, 'A', '192.0.2.9', false],
      [text, 'TXT', 'abc', true],
      [text, 'TXT', 'a', false],
      [text, 'TXT', 'abcde', false],
      [text, 'TXT', 'ab1', false],
      [text, 'TXT', '😀😀😀😀', true],
      [text, 'CAA', '0 issue "x"', false],
    ];
    for (const [rule, type, value, allowed] of TABLE)
      assert.equal(judge([rule], { type, value }).allowed, allowed, `${type} ${value}`);
  });

  it('a value that is not known is none that is allowed, and may be one that is denied', () => {
    const values = { cidrs: ['192.0.2.0/24'] };
    assert.equal(judge([{ effect: 'allow', values }], { value: null }).allowed, false);
    assert.equal(judge([{ effect: 'allow' }, { effect: 'deny', values }], { value: null }).allowed, false);
    assert.equal(judge([{ effect: 'allow' }], { value: null }).allowed, true);
  });

  it('with hosts mean no delegation unless they name it', () => {
    const here: TokenRule = { effect: 'allow', hosts: ['www'] };
    for (const type of ['NS', 'DS', 'DNAME']) {
      for (const action of ['read', 'create'] as const)
        assert.equal(judge([here], { type, value: 'x' }, action).allowed, false, type);
      assert.equal(judge([{ ...here, types: [type] }], { type, value: 'x' }).allowed, true, type);
      assert.equal(judge([{ effect: 'allow' }], { type, value: 'x' }).allowed, true, type);
      assert.deepEqual(judge([{ effect: 'allow' }, { effect: 'deny', hosts: ['www'] }], { type, value: 'x' }).rule, 1);
    }
  });

  it('mean the wildcard record when they deny *.dev, not when they allow it', () => {
    const dev = ['*.dev'];
    assert.equal(judge([{ effect: 'allow', hosts: dev }], { host: '*.dev' }).allowed, false);
    assert.equal(judge([{ effect: 'allow', hosts: ['\\*.dev'] }], { host: '*.dev' }).allowed, true);
    assert.equal(judge([{ effect: 'allow' }, { effect: 'deny', hosts: dev }], { host: '*.dev' }).allowed, false);
  });

  it('see the IPv4 address inside of an IPv6 address', () => {
    const inside = [
      '::ffff:10.1.2.3',
      '64:ff9b::10.1.2.3',
      '64:ff9b::a01:203',
      '64:ff9b:1::a01:203',
      '2002:a01:203::1',
      '::ffff:0:10.1.2.3',
    ];
    const values = { cidrs: ['10.0.0.0/8'] };
    for (const value of inside) {
      const state = { type: 'AAAA', value };
      assert.equal(judge([{ effect: 'allow' }, { effect: 'deny', values }], state).allowed, false, value);
      assert.equal(judge([{ effect: 'allow', values }], state).allowed, true, value);
    }
    for (const value of ['64:ff9b::11.1.2.3', '2002:b01:203::1', '2001:db8::a01:203']) {
      assert.equal(
        judge([{ effect: 'allow' }, { effect: 'deny', values }], { type: 'AAAA', value }).allowed,
        true,
        value,
      );
    }
  });

  it('that cost too much deny and do not allow', () => {
    const text = (pattern: string) => ({ values: { text: { pattern } } });
    const state = { type: 'TXT', value: 'a'.repeat(1000) };
    const huge = '(.?){1000}';
    assert.deepEqual(judge([{ effect: 'allow', ...text(huge) }], state), { allowed: false, rule: null, untried: 0 });
    assert.deepEqual(judge([{ effect: 'allow' }, { effect: 'deny', ...text(huge) }], state), {
      allowed: false,
      rule: 1,
      untried: 1,
    });
    // one is tried; together they are too much for one decision
    const one = { effect: 'allow', ...text('(a?){100}b') } as TokenRule;
    assert.equal(judge([one], state).untried, 0);
    assert.equal(judge([one], { ...state, value: 'a'.repeat(200) }).untried, undefined);
    assert.equal(judge([one, one, one], { ...state, value: 'a'.repeat(200) }).untried, 1);
    // tokens of before: globs beyond the limit
    const globs = Array.from({ length: 600 }, (_, i) => `*a*${i}*b*`);
    const many: TokenRule[] = [{ effect: 'allow' }, { effect: 'deny', hosts: globs }];
    assert.deepEqual(judge(many), { allowed: false, rule: 1, untried: 1 });
    assert.deepEqual(judge([{ effect: 'allow', hosts: globs }, { effect: 'allow' }]).rule, 1);
  });
});
