import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { differenceOf } from '../../web/src/components/difference.js';
import { draftOf, ruleOf, type Token, widenings } from '../../web/src/screens/tokens/token-draft.js';

type Limits = Parameters<typeof widenings>[0];

const limits = (change: Partial<Limits> = {}): Limits => ({
  allowed_domains: [1, 2],
  allowed_services: ['records:read'],
  allowed_cidrs: ['192.0.2.0/24'],
  max_unused_days: 30,
  rules: [{ effect: 'allow', hosts: ['www'] }],
  start_time: '2026-01-01T00:00:00Z',
  end_time: '2027-01-01T00:00:00Z',
  max_role: 1 as Token['max_role'],
  ...change,
});

describe('the rules of a token in the console', () => {
  it('say of each limit that is taken away or moved that the token may do more', () => {
    const cases: [Partial<Limits>, string[]][] = [
      [{}, []],
      [{ allowed_domains: [] }, ['domains']],
      [{ allowed_domains: [2, 3] }, ['domains']],
      [{ allowed_services: ['*'] }, ['scopes']],
      [{ allowed_cidrs: [] }, ['networks']],
      [{ max_unused_days: null }, ['unused']],
      [{ rules: null }, ['rules']],
      [{ start_time: null, end_time: null }, ['start', 'end']],
      [{ max_role: 2 }, ['role']],
    ];
    for (const [change, wish] of cases) assert.deepEqual(widenings(limits(), limits(change)), wish);
  });

  it('say nothing of what only narrows it', () => {
    const narrower = {
      allowed_domains: [1],
      allowed_services: [],
      max_unused_days: 7,
      end_time: '2026-06-01T00:00:00Z',
    };
    assert.deepEqual(widenings(limits(), limits(narrower)), []);
    assert.deepEqual(widenings(limits({ allowed_domains: [], rules: null }), limits()), []);
  });

  it('are the same after they went through the form', () => {
    const rules = [
      { effect: 'deny' as const },
      {
        effect: 'allow' as const,
        domains: [7],
        hosts: ['*.dev'],
        types: ['TXT'],
        actions: ['read' as const],
        values: { cidrs: ['10.0.0.0/8'], suffixes: ['example.com'], text: { max_length: 40, pattern: 'v=.*' } },
        ttl: { min: 60 },
      },
    ];
    assert.deepEqual(rules.map(draftOf).map(ruleOf), rules);
  });
});

describe('the difference of an audit entry in the console', () => {
  it('names the fields that changed first, also those within others', () => {
    const before = { name: 'a', limit: { min: 1, max: 2 }, list: ['x'] };
    assert.deepEqual(differenceOf(before, { name: 'a', limit: { min: 1, max: 3 }, list: ['x', 'y'], more: null }), [
      { path: 'limit.max', before: '2', after: '3' },
      { path: 'list', before: 'x', after: 'x, y' },
      { path: 'more', before: null, after: 'null' },
      { path: 'name', before: 'a', after: 'a' },
      { path: 'limit.min', before: '1', after: '1' },
    ]);
    assert.deepEqual(differenceOf(null, null), []);
  });
});
