import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { globMatches, isHostGlob, isPattern, patternFits } from '../../src/common/patterns.js';
import { type Action, judgeByRules, type RecordState, type TokenRule } from '../../src/common/token-rules.js';

describe('host globs', () => {
  const TABLE: [glob: string, matches: string[], not: string[]][] = [
    ['@', ['@'], ['www', '*']],
    ['www', ['www'], ['@', 'www.dev', 'wwww', 'xwww']],
    ['*', ['www', '*', '_dmarc'], ['@', 'a.b']],
    ['**', ['@', 'www', 'a.b.c'], []],
    ['*.dev', ['a.dev', '*.dev'], ['dev', 'a.b.dev', 'adev', 'a.devx']],
    ['**.dev', ['a.dev', 'a.b.dev'], ['dev', 'xdev']],
    ['app-*', ['app-1', 'app-'], ['app', 'app-1.dev', 'xapp-1']],
    ['_acme-challenge', ['_acme-challenge'], ['_acme-challenge.www', 'x_acme-challenge']],
    ['_acme-challenge.**', ['_acme-challenge.www', '_acme-challenge.a.b'], ['_acme-challenge', '_acme-challengexwww']],
    ['a.b', ['a.b'], ['axb']],
  ];
  for (const [glob, matches, not] of TABLE) {
    it(glob, () => {
      assert.ok(isHostGlob(glob));
      for (const host of matches) assert.equal(globMatches(glob, host), true, host);
      for (const host of not) assert.equal(globMatches(glob, host), false, host);
    });
  }

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
    ])
      assert.equal(isHostGlob(wrong), false, String(wrong));
  });
});

describe('patterns', () => {
  it('fit the whole text', () => {
    assert.equal(patternFits('[a-z]+', 'abc'), true);
    assert.equal(patternFits('[a-z]+', 'abc1'), false);
    assert.equal(patternFits('^[A-Za-z0-9_-]{43}$', 'x'.repeat(43)), true);
    assert.equal(patternFits('a.c', 'a\nc'), false);
  });

  it('take time in proportion to the text', () => {
    // with backtracking this one would not end in a lifetime
    assert.equal(patternFits('(a+)+b', 'a'.repeat(5000)), false);
    assert.equal(globMatches('*a*a*a*a*a*a*a*a*b', 'a'.repeat(250)), false);
  });

  it('are refused when RE2 does not understand them', () => {
    for (const wrong of ['(', '(?<=a)b', '(a)\\1', '(a{1000}){1000}', 'x'.repeat(257), 5])
      assert.equal(isPattern(wrong), false, String(wrong));
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
});
