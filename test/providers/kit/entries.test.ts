import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { entriesOf } from '../../../src/providers/kit/http/entries.js';

/** A document as it may come: in chunks of any size. */
const chunks = (text: string, size: number): Uint8Array[] => {
  const bytes = Buffer.from(text);
  const all: Uint8Array[] = [];
  for (let i = 0; i < bytes.length; i += size) all.push(bytes.subarray(i, i + size));
  return all;
};
const read = (text: string, size = 1000) => [...entriesOf(chunks(text, size), 'list')].flat();

describe('entries of a list in a long answer', () => {
  const odd = ['a "quoted" one', 'back\\slash\\', ']},{[', 'ä€😀', '', 'list'];
  const list = Array.from({ length: 3000 }, (_none, i) => ({ i, text: odd[i % odd.length], in: [{ of: [i] }, 'x:'] }));
  const long = { before: { list: ['not this one'] }, name: '"list":[', list, after: [1, '],'] };

  it('are those that the document says, wherever it is cut into chunks, and however it is laid out', () => {
    for (const text of [JSON.stringify(long), JSON.stringify(long, null, 2)])
      for (const size of [997, 65_536, text.length]) assert.deepEqual(read(text, size), list);
    for (const some of [[], [1], [null, 'a', [], {}]]) assert.deepEqual(read(JSON.stringify({ list: some })), some);
  });

  it('come in pieces', () => {
    const pieces = [...entriesOf(chunks(JSON.stringify(long), 10_000), 'list')];
    assert.ok(pieces.length > 1 && pieces.every((piece) => piece.length > 0 && piece.length < list.length));
  });

  it('are those of a list that begins far behind, and of one entry that is longer than all else', () => {
    assert.deepEqual(
      read(JSON.stringify({ before: 'x'.repeat(300_000), list: [1, 'y'.repeat(500_000), 2] })).length,
      3,
    );
  });

  it('end in an error where the document is cut anywhere, or is none', () => {
    const text = JSON.stringify({ a: 1, list: [{ b: 'c' }, 2], d: [3] });
    for (let end = 0; end < text.length; end++)
      assert.throws(() => read(text.slice(0, end), 7), SyntaxError, text.slice(0, end));
    const whole = JSON.stringify(long);
    for (const end of [70_000, 100_000, whole.length - 1]) assert.throws(() => read(whole.slice(0, end)), SyntaxError);
    for (const wrong of [
      '{"list":[1,]}',
      '{"list":[1}]',
      '{"list":[,1]}',
      '{"list":[1]}x',
      '{"list":[1],"list":[2]}',
      '<a/>',
    ])
      assert.throws(() => read(wrong), SyntaxError, wrong);
  });

  it('are an error where one of them, or what is before or behind the list, has megabytes', () => {
    const much = 'x'.repeat(9_000_000);
    for (const one of [{ before: much, list: [1] }, { list: [1, much, 2] }, { list: [1], after: much }, { none: much }])
      assert.throws(() => read(JSON.stringify(one), 65_536), /4 MiB and more in one part/);
    const large = 'x'.repeat(3_000_000);
    assert.equal(read(JSON.stringify({ before: large, list: [1, large, 2], after: large }), 65_536).length, 3);
  });

  it('are an error where there is no such list', () => {
    for (const none of ['{}', '[]', '[{"list":[1]}]', '{"list":null}', '{"list":{"list":[1]}}', '{"a":{"list":[1]}}'])
      assert.throws(() => read(none), /cut short: it has no list/, none);
  });
});
