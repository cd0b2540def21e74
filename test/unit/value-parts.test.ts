import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { RULES } from '../../src/dns/rdata.js';
import { TYPE_PARTS } from '../../src/dns/value-parts.js';

describe('the parts of values', () => {
  for (const { type, example, parts } of TYPE_PARTS) {
    const parse = (text: string) => RULES[type].parse(text, null, 'zone.example').value;
    // a single part is the value, whatever blanks it has
    const given = parts.map((part) => (part.quoted && parts.length > 1 ? `"${part.example}"` : part.example));
    const withPart = (i: number, word: string) => given.map((one, n) => (n === i ? word : one)).join(' ');

    it(`the example of ${type} is stored as it is, and its parts make the same value`, () => {
      assert.equal(parse(example), example);
      assert.equal(parse(given.join(' ')), example);
    });

    it(`the parts of ${type} have the bounds that the service keeps`, () => {
      for (const [i, { name, kind, min, max, required }] of parts.entries()) {
        if (kind === 'integer') {
          assert.throws(() => parse(withPart(i, String(Number(max) + 1))), name);
          assert.doesNotThrow(() => parse(withPart(i, String(min))), name);
          // a position at its last degree has no minutes
          if (!name.endsWith('degrees')) assert.doesNotThrow(() => parse(withPart(i, String(max))), name);
        }
        if (kind === 'decimal') {
          assert.match(given[i] ?? '', /^-?\d+\.\d+$/, name);
          if (min !== null) assert.throws(() => parse(withPart(i, String(min - 1))), name);
          if (max !== null) assert.throws(() => parse(withPart(i, String(max + 0.001))), name);
        }
        if (kind === 'choice') assert.throws(() => parse(withPart(i, 'X')), name);
        if (i !== parts.length - 1 || i === 0) continue;
        const without = () => parse(given.slice(0, i).join(' '));
        if (required) assert.throws(without, name);
        else assert.doesNotThrow(without, name);
      }
    });
  }

  it('a choice has values, and each of them is taken', () => {
    const location = TYPE_PARTS.find(({ type }) => type === 'LOC');
    const words = location?.parts.map(({ example }) => example) ?? [];
    for (const [i, { values }] of location?.parts.entries() ?? [])
      for (const value of values ?? [])
        assert.match(RULES.LOC.parse(words.toSpliced(i, 1, value).join(' '), null, '').value, new RegExp(` ${value} `));
    assert.deepEqual(
      TYPE_PARTS.flatMap(({ parts }) => parts).filter(({ kind, values }) => (kind === 'choice') !== !!values),
      [],
    );
  });
});
