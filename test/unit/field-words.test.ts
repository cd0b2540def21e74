import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { getMetadataStorage } from 'class-validator';
import fc from 'fast-check';
import { readRecord } from '../../src/dns/record.js';
import { allOf, errors, fieldError, fieldErrorsOf, InvalidRecord } from '../../src/platform/common/errors.js';
import { type FieldError } from '../../src/platform/common/words/codes.js';
import { fill, ruleText, say } from '../../src/platform/common/words/field-text.js';
import { chineseOf, fieldMessageIn } from '../../src/platform/common/words/field-words.js';
import { FIELD_WORD_PARTS, FIELD_WORDS } from '../../src/platform/common/words/fields/index.js';
import { seedOf } from '../support/seed.js';

const SEED = seedOf('words about fields');
const SRC = join(process.cwd(), 'src');
const WORDS = Object.entries(FIELD_WORDS) as [string, string][];
const CHINESE = /\p{Script=Han}/u;
const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/common\/words\/fields\//.test(file))
  .map((file) => [file, readFileSync(join(SRC, file), 'utf8')] as const);

interface Rule {
  target: { name: string };
  propertyName: string;
  type: string;
  name?: string;
  message?: string | ((args: object) => string);
  constraints?: unknown[];
  constraintCls?: new () => { defaultMessage?(args: object): string };
  each?: boolean;
}

/** What a rule of a class says of a value, its tokens filled in as class-validator does. */
function said(rule: Rule, value: unknown): string {
  const { constraints = [], propertyName: property, target } = rule;
  const args = { targetName: target.name, property, object: {}, value, constraints };
  const words = rule.message ?? (rule.constraintCls && new rule.constraintCls().defaultMessage?.(args)) ?? '';
  const text = typeof words === 'function' ? words(args) : words;
  const full = constraints.reduce<string>(
    (all, one, i) => all.replaceAll(`$constraint${i + 1}`, Array.isArray(one) ? one.join(', ') : `${one}`),
    text,
  );
  const named = full.replaceAll('$property', property);
  return named.startsWith(`${property} `) ? named.slice(property.length + 1) : named;
}

/** Every rule of every class with rules, of bodies and queries. */
async function allRules(): Promise<Rule[]> {
  for (const [file, text] of sources)
    if (/from 'class-validator'|common\/validation\.js'/.test(text) && file.endsWith('.dto.ts'))
      await import(join(SRC, '..', 'dist', 'src', file.replace(/\.ts$/, '.js')));
  const { validationMetadatas } = getMetadataStorage() as unknown as { validationMetadatas: Map<unknown, Rule[]> };
  return [...validationMetadatas.values()].flat();
}
const VALUES = [undefined, 'x'.repeat(100_000), 5];
/** What class-validator says by itself. */
const OF_CLASS_VALIDATOR = [
  'nested property a must be either object or array',
  'each value in nested property a must be either object or array',
  'an unknown value was passed to the validate function',
];
/** Types of rules that say nothing themselves, or one of the above. */
const SILENT = new Set(['conditionalValidation', 'whitelistValidation', 'nestedValidation']);

describe('the catalogue of the messages of wrong fields', () => {
  it('has each sentence once, in both languages, with the same placeholders', () => {
    const keys = FIELD_WORD_PARTS.flatMap((part) => Object.keys(part));
    assert.deepEqual(
      keys.filter((key, i) => keys.indexOf(key) < i),
      [],
    );
    assert.ok(keys.length > 200);
    for (const [en, zh] of WORDS) {
      if (!/^must be \{required/.test(en)) assert.match(zh, CHINESE, en);
      assert.doesNotMatch(en, CHINESE);
      assert.deepEqual(namesIn(zh).sort(), namesIn(en).sort(), en);
    }
  });

  it('has no sentence that nothing says', async () => {
    const rules = (await allRules()).flatMap((rule) => VALUES.map((value) => said(rule, value)));
    const all = new Set([...rules, ...OF_CLASS_VALIDATOR]);
    const text = sources.map(([, words]) => words).join('\n');
    const bySource = (key: string) => text.includes(`'${key.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`);
    const byRule = (key: string) => {
      const form = new RegExp(`^${key.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '.*')}$`, 's');
      return [...all].some((message) => form.test(message));
    };
    const unused = FIELD_WORD_PARTS.flatMap((part, i) =>
      Object.keys(part).filter((key) => !(i === 0 ? byRule(key) : bySource(key))),
    );
    assert.deepEqual(unused, []);
  });

  it('knows what every rule of every body and query says', async () => {
    const rules = (await allRules()).filter(({ type }) => !SILENT.has(type));
    assert.ok(rules.length > 500, `${rules.length}`);
    const unknown = rules.flatMap((rule) =>
      VALUES.map((value) => said(rule, value))
        .filter((message) => chineseOf(message) === null)
        .map((message) => `${rule.target.name}.${rule.propertyName}: ${message}`),
    );
    assert.deepEqual([...new Set(unknown)], []);
  });

  it('finds each sentence again, whatever is filled in', () => {
    const value = fc.oneof(fc.string(), fc.constantFrom('', 'a b', '{min}', '$&', '10', '中文', '"', ', ', ': '));
    for (const [en, zh] of WORDS) {
      const names = namesIn(en);
      const nested: [string, string][] = [['must be a string', FIELD_WORDS['must be a string']]];
      fc.assert(
        fc.property(fc.array(value, { minLength: names.length, maxLength: names.length }), (values) => {
          const given = Object.fromEntries(names.map((name, i) => [name, values[i] as string]));
          for (const name of ['rule', 'hint']) if (name in given) given[name] = nested[0]?.[0] as string;
          const found = chineseOf(fill(en, given));
          assert.ok(found !== null && (CHINESE.test(found) || !CHINESE.test(zh)), en);
        }),
        { seed: SEED, numRuns: 30 },
      );
      const plain = Object.fromEntries(names.map((name, i) => [name, `v${i}`]));
      for (const name of ['rule', 'hint']) if (name in plain) plain[name] = nested[0]?.[0] as string;
      const expected = { ...plain };
      for (const name of ['rule', 'hint']) if (name in plain) expected[name] = nested[0]?.[1] as string;
      assert.equal(chineseOf(fill(en, plain)), fill(zh, expected));
    }
  });

  it('takes no unknown sentence, and none without its values', () => {
    // @ts-expect-error no such sentence
    fieldError('a', 'is not quite right');
    // @ts-expect-error `max` is missing
    say('must be a whole number from {min} to {max}', { min: 1 });
    // @ts-expect-error the placeholders are not filled
    fieldError('a', 'must be a whole number from {min} to {max}');
    // @ts-expect-error no such sentence
    ruleText('must be something else');
    assert.equal(say('is larger than {max} bytes', { max: 3 }), 'is larger than 3 bytes');
  });
});

describe('the message of a wrong field', () => {
  const inChinese = (list: readonly FieldError[]) => list.map((error) => fieldMessageIn('zh', error));

  it('is in English as it is, and in Chinese as the catalogue has it', () => {
    const error = fieldError('ttl', say('must be a whole number of seconds from {min} to {max}', { min: 1, max: 9 }));
    assert.equal(fieldMessageIn('en', error), 'must be a whole number of seconds from 1 to 9');
    assert.equal(fieldMessageIn('zh', error), '必须是 1 到 9 的整数秒数');
  });

  it('names what each rule of a list wants in Chinese, too', () => {
    const message = 'each value in scopes must be one of the following values: a, b';
    assert.equal(
      fieldMessageIn('zh', { path: 'scopes', message, code: 'choice' }),
      'scopes 的每一项必须是以下值之一：a, b',
    );
    const label = say('label "{label}" is not allowed: use {hint}', {
      label: 'a b',
      hint: 'letters, digits, "-" and "_"',
    });
    assert.equal(fieldMessageIn('zh', fieldError('host', label)), '标签“a b”不被允许：请使用字母、数字、“-”和“_”');
  });

  it('outlives being collected, moved to another path, stored and read again', async () => {
    const wrong = [
      fieldError('a', 'is needed', 'required'),
      fieldError('b', say('is required: {label}', { label: 'x' })),
    ];
    const expected = ['必须填写', '必须填写：x'];
    const fail = (list: FieldError[]) => () => Promise.reject(new InvalidRecord(list));
    const collected = await allOf(fail(wrong.slice(0, 1)), fail(wrong.slice(1))).then(() => [], fieldErrorsOf);
    assert.deepEqual(inChinese(collected), expected);
    const moved = fieldErrorsOf(errors.validation(collected.map((e) => ({ ...e, path: `changes.0.${e.path}` }))));
    assert.deepEqual(inChinese(JSON.parse(JSON.stringify(moved))), expected);
  });

  it('is a general sentence of its code where the catalogue does not have it', () => {
    const old = (more: Partial<FieldError>): FieldError => ({
      path: 'a',
      message: 'was worded so once',
      code: 'format',
      ...more,
    });
    const cases: [Partial<FieldError>, string][] = [
      [{}, '格式不正确'],
      [{ code: 'range', params: { min: 1, max: 9 } }, '超出允许的范围（最小 1，最大 9）'],
      [{ code: 'length', params: { max: 9 } }, '长度不符合要求（最大 9）'],
      [{ code: 'choice', params: { values: ['a', 'b'] } }, '不是允许的值（允许的值：a, b）'],
      [{ code: 'duplicate', params: { id: 7 } }, '已经存在（id 7）'],
      [{ code: 'of-another-version' as never }, 'was worded so once'],
    ];
    for (const [more, expected] of cases) {
      assert.equal(fieldMessageIn('zh', old(more)), expected);
      assert.equal(fieldMessageIn('en', old(more)), 'was worded so once');
    }
  });

  it('is of the catalogue for every record that is refused', () => {
    const TYPES = 'A AAAA CNAME MX TXT NS SRV CAA SVCB HTTPS TLSA SSHFP NAPTR DS PTR ALIAS LOC URI RP DHCID DNAME NONE';
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(
        '',
        '@',
        '.',
        'a..b',
        '192.0.2.1',
        'http://x.example.net',
        'http://192.0.2.1/',
        '*.a',
        'x'.repeat(64),
      ),
      fc.constantFrom('1 a 3', '1 2 3 g', '0 issue "a" "b"', '"a', '1 . a="b', '99999 1 1 aa', 'www.example.com', 'b.'),
    );
    const record = fc.record({
      type: fc.constantFrom(...TYPES.split(' ')),
      host: text,
      value: text,
      ttl: fc.constantFrom(0, 1, 0.5, 2 ** 31, 600),
      priority: fc.constantFrom(null, -1, 10, 65536),
    });
    const seen = new Set<string>();
    fc.assert(
      fc.property(record, (input) => {
        for (const error of readRecord(input as never, 'example.com').mistakes) {
          const zh = chineseOf(error.message);
          assert.ok(zh !== null && CHINESE.test(zh), error.message);
          assert.equal(fieldMessageIn('zh', error), zh);
          seen.add(zh.replace(/[^\p{Script=Han}]/gu, ''));
        }
      }),
      { seed: SEED, numRuns: 1000 },
    );
    assert.ok(seen.size > 20, `${seen.size}`);
  });
});

describe('a URL in place of a target', () => {
  for (const [type, value] of [
    ['CNAME', 'http://x.example.net'],
    ['ALIAS', 'https://x.example.net/path?q=1'],
    ['DNAME', 'http://x.example.net'],
    ['PTR', 'http://x.example.net'],
    ['NS', 'http://x.example.net/'],
    ['MX', '10 http://x.example.net'],
    ['SRV', '1 1 80 https://x.example.net:8443'],
  ] as const) {
    it(`is refused as the value of ${type}, naming the host name to write`, () => {
      const { mistakes } = readRecord({ type, host: 'a', value, ttl: 600 } as never, 'example.com');
      const message = 'must be a host name, not a URL: write "x.example.net"';
      assert.deepEqual(mistakes, [{ path: 'value', message, code: 'format', params: { values: ['x.example.net'] } }]);
      assert.equal(fieldMessageIn('zh', mistakes[0] as FieldError), '必须是主机名，不能是网址：请写“x.example.net”');
    });
  }
});
