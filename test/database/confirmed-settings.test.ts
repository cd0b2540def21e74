import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { ConfirmedSettings1763940000000 } from '../../src/platform/schema/migrations/1763940000000-confirmed-settings.js';
import { databases, freshDatabase } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { describeUnless } from '../support/suites.js';

const SECURITY = {
  login_limit: { max_failures: 1, lock_minutes: 9 },
  rate_limits: { login: 0 },
  allowed_cidrs: ['::/0'],
};
const SMTP = { host: 'mail.example', port: 25, security: 'none', username: 'me', password: 'sealed', enabled: true };
const OAUTH = {
  enabled: true,
  providers: [{ key: 'corp', issuer: 'https://id.example', client_id: 'x', token_endpoint: null }],
};

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`settings of an installation before the upgrade, on ${kind}`, () => {
    it('of super administrators stay; those of administrators wait; limits come inside their bounds', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'zoneward-upgrade-'));
      const server = kind === 'sqlite' ? null : await freshDatabase(kind);
      const source = new AppDataSource(ENTITIES);
      try {
        await source.open(parseDatabaseUrl(server?.url ?? 'sqlite:zoneward.db', folder));
        const db = dbOn(source);
        const migration = new ConfirmedSettings1763940000000();
        const store = async (documents: Record<string, object>) => {
          await db.run('DELETE FROM settings');
          for (const [name, row] of Object.entries(documents))
            await db.run('INSERT INTO settings (name, content) VALUES (?, ?)', [name, JSON.stringify(row)]);
        };
        const stored = async () => {
          const rows = await db.rows<{ name: string; content: string }>('SELECT name, content FROM settings');
          return Object.fromEntries(rows.map(({ name, content }) => [name, JSON.parse(content)]));
        };
        const runner = source.createQueryRunner();
        const upgrade = async (by_role: number) => {
          const documents = {
            security: SECURITY,
            general: { base_url: 'https://a.example' },
            smtp: SMTP,
            oauth: OAUTH,
          };
          await store(
            Object.fromEntries(Object.entries(documents).map(([name, values]) => [name, { values, by_role }])),
          );
          await migration.up(runner);
          const once = await stored();
          await migration.up(runner);
          assert.deepEqual(await stored(), once, 'safe to repeat');
          return once;
        };
        const bounded = { ...SECURITY, login_limit: { max_failures: 3, lock_minutes: 9 }, rate_limits: { login: 100 } };

        const theirs = await upgrade(3);
        assert.deepEqual(theirs.security, { values: bounded, super: bounded });
        for (const name of ['general', 'smtp', 'oauth']) assert.equal(theirs[name].waiting, undefined, name);
        assert.deepEqual(theirs.smtp.values, SMTP);

        const deputys = await upgrade(2);
        assert.deepEqual(deputys.security, { values: bounded, super: {} });
        assert.deepEqual([deputys.general.waiting, deputys.general.confirmed], [['base_url'], { base_url: null }]);
        assert.deepEqual(deputys.smtp.waiting, ['host', 'port', 'security', 'username']);
        assert.deepEqual([deputys.smtp.confirmed.host, deputys.smtp.confirmed.password], ['', null]);
        assert.deepEqual(deputys.oauth.waiting, ['corp.issuer', 'corp.client_id']);

        await migration.down(runner);
        const back = await stored();
        assert.deepEqual(back.smtp, { values: SMTP, by_role: 2 });
        assert.equal(back.security.by_role, 2);
        await runner.release();
      } finally {
        await source.destroy();
        await server?.drop();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
}
