import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { LocalServer } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';

describe('a directory of zone files that processes share', () => {
  const afterTest = atEndOfTest();
  const started = async (root: string) => {
    const server = await LocalServer.start({ ZONEFILE_DIR: root });
    afterTest(() => server.kill());
    return server.log;
  };

  it('is made at the start, or said to be of no use, by its path', async () => {
    const base = mkdtempSync(join(tmpdir(), 'zoneward-shared-'));
    afterTest(() => rmSync(base, { recursive: true, force: true }));
    assert.doesNotMatch(await started(join(base, 'deep/zones')), /ZONEFILE_DIR/);
    assert.ok(existsSync(join(base, 'deep/zones')));
    writeFileSync(join(base, 'file'), '');
    const line = (await started(join(base, 'file'))).split('\n').find((text) => text.includes('ZONEFILE_DIR'));
    assert.equal(JSON.parse(line ?? '{}').path, join(base, 'file'));
  });
});
