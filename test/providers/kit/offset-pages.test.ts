import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { offsetPages } from '../../../src/providers/kit/http/pages.js';

const SIZE = 3;
const list = (length: number) => Array.from({ length }, (_, i) => `e${i}`);
const styles: Record<string, (offset: number | undefined) => number> = {
  'entries from 0': (offset = 0) => offset,
  'entries from 1': (offset = 1) => Math.max(0, offset - 1),
  'pages from 0': (offset = 0) => offset * SIZE,
  'pages from 1': (offset = 1) => (offset - 1) * SIZE,
};

describe('pages at an offset of unknown unit', () => {
  for (const [name, from] of Object.entries(styles)) {
    it(`are all read where it counts ${name}`, async () => {
      for (const length of [0, 1, 2, 3, 4, 6, 7, 10]) {
        const all = list(length);
        const read = async (offset?: number) => all.slice(from(offset), from(offset) + SIZE);
        assert.deepEqual(await offsetPages((entry) => entry, read, SIZE), all, `${length}`);
      }
    });
  }

  it('are not read where the answer to 1 makes no sense', async () => {
    const read = async (offset?: number) => (offset === undefined ? list(3) : ['e2', 'e3', 'e4']);
    await assert.rejects(
      offsetPages((entry) => entry, read, SIZE),
      { kind: 'unavailable' },
    );
  });
});
