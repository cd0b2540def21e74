import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import { PROVIDERS } from '../../src/providers/registry.js';
import { evidenceOf, matrix, matrixFile, pageOf } from '../support/provider-matrix.js';

describe('the pages about providers', () => {
  for (const { kind, credentials } of PROVIDERS)
    it(`tell of ${kind} what it is backed by, and where its credentials come from`, () => {
      const page = pageOf(kind);
      assert.ok(page, `docs/providers/${kind}.md`);
      assert.ok(evidenceOf(page), 'a paragraph that begins with "Backed by"');
      assert.ok(credentials.length > 0);
      const lines = page.split('\n').length;
      assert.ok(lines <= 60, `${lines} lines`);
    });

  it('are summed up in docs/providers.md', () => {
    const made = matrix(PROVIDERS);
    if (process.env.UPDATE_DOCS) writeFileSync(matrixFile, made);
    assert.equal(existsSync(matrixFile) && readFileSync(matrixFile, 'utf8'), made);
  });
});
