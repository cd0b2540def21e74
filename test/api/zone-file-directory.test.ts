import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { LocalServer, startService } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';
import { addAccount, done, providerFailed, refused } from '../support/world.js';

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

  it('is refused by its field where it leads out or cannot be one', async () => {
    const service = await startService('sqlite');
    afterTest(() => service.stop());
    const account = await addAccount(service.admin, 'zonefile', {});
    const zones = join(service.server.dataDir, 'zones');
    mkdirSync(join(zones, 'here'));
    symlinkSync('/etc', join(zones, 'out'));
    symlinkSync('here', join(zones, 'inside'));
    for (const directory of ['here', 'inside', 'inside/later', './here'])
      done(await service.admin.put(`/api/accounts/${account}`, { credentials: { directory } }));
    for (const field of ['directory', 'endpoint'])
      for (const value of ['/etc', '../x', 'a/../../x', 'a\\b', 'x'.repeat(256), 'out', 'inside/../out', 'out/ssl']) {
        const credentials = { [field]: value };
        const made = await service.admin.post('/api/accounts', { provider: 'zonefile', name: 'x', credentials });
        const changed = await service.admin.put(`/api/accounts/${account}`, { credentials });
        for (const answer of [refused(made, 400, 400001), refused(changed, 400, 400001)])
          assert.equal(answer.data.errors[0]?.path, `credentials.${field}`);
      }
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
