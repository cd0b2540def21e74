import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import { AppError, errors } from '../../src/platform/common/errors.js';
import { inLanguage } from '../../src/platform/common/translate.js';
import { CODES } from '../../src/platform/common/words/codes.js';
import { messageLanguage } from '../../src/platform/common/words/language.js';
import { REASONS, wordsOf } from '../../src/platform/common/words/reasons.js';
import { THINGS } from '../../src/platform/common/words/service-reasons.js';

const PAGE = 'docs/errors.md';
const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();
const all = Object.entries({ ...REASONS, ...THINGS });

/** The page that lists every reason by its code. */
function page(): string {
  const rows = Object.values(CODES).flatMap(({ code, meaning }) => {
    const some = Object.entries(REASONS).filter(([, { kind }]) => CODES[kind].code === code);
    return [
      `## ${code}: ${meaning}`,
      '',
      '| `data.reason` | `msg` | 中文 |',
      '|---|---|---|',
      ...some.map(([reason, { en, zh }]) => `| \`${reason}\` | ${en} | ${zh} |`),
      '',
    ];
  });
  const head = [
    '# Errors',
    '',
    'Every error has `data.reason`, a word that a program tells it apart by and whose meaning never changes, and',
    '`data.params`, the values that stand as `{name}` in its words. `msg` is for people: Chinese where `Accept-Language`',
    'prefers `zh`, English where it prefers `en`, else in the language of the signed-in user. `msg` of 404001 names a thing',
    'by `params.what`. What a provider said stays as it said it; `msg` within the outcomes of a list and within stored',
    'changes is English, with `data.reason` beside it. `changes_do_not_fit` has the code of the first change that does not',
    'fit. Written by `UPDATE_DOCS=1 npx jest test/unit/reasons`.',
    '',
  ];
  return [...head, ...rows].join('\n');
}

describe('the reasons of errors', () => {
  it.each(all)('%s has words in both languages, with the same values', (_reason, { en, zh }) => {
    assert.ok(en.trim());
    assert.match(zh, /\p{Script=Han}/u);
    assert.deepEqual(namesIn(zh), namesIn(en));
  });

  it('say different things', () => {
    const said = all.map(([, { zh }]) => zh.trim());
    assert.deepEqual(
      said.filter((text, i) => said.indexOf(text) !== i),
      [],
    );
  });

  it('are all used', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/-reasons\.ts$/.test(file))
      .map((file) => `src/${file}`);
    const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    const unused = all.filter(([reason]) => !reason.startsWith('provider_') && !text.includes(`'${reason}'`));
    assert.deepEqual(
      unused.map(([reason]) => reason),
      [],
    );
  });

  it('are what docs/errors.md lists; UPDATE_DOCS=1 writes it anew', () => {
    if (process.env.UPDATE_DOCS) writeFileSync(PAGE, page());
    assert.equal(readFileSync(PAGE, 'utf8'), page());
  });

  it('name the thing that does not exist, and keep the path of a value in use', () => {
    assert.equal(inLanguage(errors.notFound('backup', { name: 'a.db' }), 'zh').message, '备份 a.db 不存在');
    assert.equal(inLanguage(errors.taken('email', 'email_taken'), 'zh').message, 'email: 电子邮件地址属于其他用户');
  });

  it('translate the field of an error, and leave errors alone that have no reason', () => {
    const { data } = inLanguage(errors.wrong('password', 'wrong_password'), 'zh');
    assert.equal((data as { errors: { message: string }[] }).errors[0]?.message, wordsOf('zh', 'wrong_password'));
    const old = new AppError(409, 409001, 'of an older version');
    assert.equal(inLanguage(old, 'zh'), old);
  });
});

describe('the language of messages', () => {
  it.each([
    [['zh'], 'en', 'zh'],
    [['zh-CN', 'en'], undefined, 'zh'],
    [['zh-Hans-CN'], undefined, 'zh'],
    [['en-GB', 'zh'], 'zh', 'en'],
    [['fr', 'zh', 'en'], 'en', 'zh'],
    [['fr', '*', 'en'], 'zh', 'zh'],
    [['*'], 'zh-CN', 'zh'],
    [['*'], undefined, 'en'],
    [['fr'], 'zh', 'zh'],
    [[], undefined, 'en'],
  ])('of %j for a user of %s is %s', (accepted, ofUser, language) => {
    assert.equal(messageLanguage(accepted, ofUser), language);
  });
});
