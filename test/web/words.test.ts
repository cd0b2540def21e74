import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';

const SOURCES = join(__dirname, '../../web/src');
const LANGUAGES = ['en', 'zh'] as const;

const SLOT = /\{\{\w+(, number)?\}\}/g;

/** One thing has one word; beside it those that would be a second one. */
const GLOSSARY: Record<(typeof LANGUAGES)[number], Record<string, RegExp>> = {
  en: {
    'Parent zone': /zone above/i,
    'Start over': /begin anew/i,
    Checked: /\blooked$/i,
    Comment: /^words$/i,
  },
  zh: {
    提供商: /服务商|供应商/,
    故障转移: /故障切换/,
    漂移: /偏离|偏移/,
    凭据: /凭证/,
    变更集: /更改集|更改列表|变更列表/,
  },
};

type Words = { [key: string]: string | Words };

const areas = (language: string): string[] => readdirSync(join(SOURCES, 'locales', language)).toSorted();
const read = (language: string, file: string): Words =>
  JSON.parse(readFileSync(join(SOURCES, 'locales', language, file), 'utf8'));

/** All texts by their keys, `reset.title`. */
function flat(words: Words, prefix = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(words))
    if (typeof value === 'string') found.set(prefix + key, value);
    else for (const [inner, text] of flat(value, `${prefix}${key}.`)) found.set(inner, text);
  return found;
}

const withoutPlural = (key: string) => key.replace(/_(one|other)$/, '');
const keysOf = (language: string, file: string) => new Set([...flat(read(language, file)).keys()].map(withoutPlural));

/** The sources with components, by their paths. */
const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(SOURCES, file), 'utf8') }));

/**
 * The keys that a source uses, as `area:key`; `area:begin*` where the rest is put together. Each may be of several
 * areas.
 */
function usedIn(text: string): string[][] {
  const takes = text.matchAll(/useTranslation\((?:\[?'(\w+)'[^)]*)?\)|TFunction<'(\w+)'>/g);
  const spaces = [...takes].map(([, space, given]) => space ?? given ?? 'common');
  const named = [...text.matchAll(/\bt\(\s*(?:'([^']+)'|`([^`$]*)\$\{)/g)].map(
    ([, whole, begin]) => whole ?? `${begin}*`,
  );
  return named.map((key) => (key.includes(':') ? [key] : [...new Set(spaces)].map((space) => `${space}:${key}`)));
}

describe('the words of the console', () => {
  it('are there in both languages, by the same keys, with the same values to be filled in', () => {
    assert.deepEqual(areas('zh'), areas('en'));
    for (const file of areas('en')) {
      assert.deepEqual([...keysOf('zh', file)].toSorted(), [...keysOf('en', file)].toSorted(), file);
      const slots = (text: string) => (text.match(SLOT) ?? []).toSorted();
      const chinese = flat(read('zh', file));
      for (const [key, text] of flat(read('en', file)))
        if (chinese.has(key)) assert.deepEqual(slots(chinese.get(key) as string), slots(text), `${file} ${key}`);
    }
  });

  it('are not empty, and Chinese ones are not English', () => {
    for (const language of LANGUAGES)
      for (const file of areas(language))
        for (const [key, text] of flat(read(language, file))) {
          assert.notEqual(text.trim(), '', `${language}/${file} ${key}`);
          const words = text.replace(SLOT, '');
          if (language === 'zh' && /[a-z]{4,}/.test(words) && !/\p{Script=Han}/u.test(words))
            assert.equal(flat(read('en', file)).get(key), text, `${file} ${key} is in neither language`);
        }
  });

  it('are one for each thing', () => {
    for (const language of LANGUAGES)
      for (const file of areas(language))
        for (const [key, text] of flat(read(language, file)))
          for (const [word, others] of Object.entries(GLOSSARY[language]))
            assert.doesNotMatch(text, others, `${language}/${file} ${key}: it is called ${word}`);
  });

  it('have numbers as the language writes them', () => {
    for (const language of LANGUAGES)
      for (const file of areas(language))
        for (const [key, text] of flat(read(language, file)))
          assert.doesNotMatch(text, /\{\{(count|done|total)\}\}/, `${language}/${file} ${key}`);
  });

  const all = new Set(
    areas('en').flatMap((file) => [...keysOf('en', file)].map((key) => `${file.replace('.json', '')}:${key}`)),
  );
  const begins = (pattern: string) => [...all].filter((key) => key.startsWith(pattern.slice(0, -1)));

  it('that sources use are there', () => {
    for (const { file, text } of sources)
      for (const choices of usedIn(text)) {
        const found = choices.some((key) => (key.endsWith('*') ? begins(key).length > 0 : all.has(key)));
        assert.ok(found, `${file}: ${choices}`);
      }
  });

  it('are all used', () => {
    const used = new Set<string>();
    for (const { text } of sources)
      for (const key of usedIn(text).flat())
        for (const found of key.endsWith('*') ? begins(key) : [key]) used.add(found);
    assert.deepEqual(
      [...all].filter((key) => !used.has(key)),
      [],
    );
  });
});
