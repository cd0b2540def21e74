import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { LocalServer, startService } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';
import { addAccount, providerFailed } from '../support/world.js';

describe('a directory of zone files that processes share', () => {
  const afterTest = atEndOfTest();
  const started = async (root: string) => {
    const server = await LocalServer.start({ ZONEFILE_DIR: root });
    afterTest(() => server.kill());
    return server;
  };

  it('is made at the start, or an error names its path', async () => {
    const base = mkdtempSync(join(tmpdir(), 'zoneward-shared-'));
    afterTest(() => rmSync(base, { recursive: true, force: true }));
    assert.doesNotMatch((await started(join(base, 'deep/zones'))).log, /ZONEFILE_DIR/);
    assert.ok(existsSync(join(base, 'deep/zones')));
    writeFileSync(join(base, 'file'), '');
    const line = (await started(join(base, 'file'))).log.split('\n').find((text) => text.includes('ZONEFILE_DIR'));
    assert.equal(JSON.parse(line ?? '{}').path, join(base, 'file'));
  });

  it('has a default, and a failure names its path', async () => {
    const service = await startService('sqlite');
    afterTest(() => service.stop());
    const { dataDir } = service.server;
    const account = await addAccount(service.admin, 'zonefile', {});
    const zones = join(dataDir, 'zones');
    assert.ok(existsSync(zones));
    rmSync(zones, { recursive: true });
    providerFailed(await service.admin.post(`/api/accounts/${account}/sync`), new RegExp(`\\(${zones}\\).*ENOENT`));
  });
});
