import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { modulesRun } from '../support/bundled-modules.js';
import { ServerProcess } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';

const atEnd = atEndOfTest();

/** Packages that a service needs only for what many never do; each is a megabyte or more of the process at rest. */
const LATER = [
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-trace',
  '@simplewebauthn/server',
  '@zxcvbn-ts/language-common',
  'bullmq',
  'fast-xml-parser',
  'ioredis',
  'mysql2',
  'nodemailer',
  'openid-client',
  'otplib',
  'pg',
  'qrcode',
  'yaml',
];

/** Parts of packages that the bundle leaves out. */
const NEVER = ['/typeorm/driver/sap/Sap', '/typeorm/driver/spanner/Spanner', '/libphonenumber-js/', '/busboy/'];

describe('a start on SQLite', () => {
  it('loads nothing of what is for databases, providers and requests that nobody has asked for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-loads-'));
    atEnd(() => rmSync(folder, { recursive: true, force: true }));
    const server = await ServerProcess.start({ DATABASE_URL: 'sqlite:zoneward.db', NODE_V8_COVERAGE: folder });
    atEnd(() => rmSync(server.dataDir, { recursive: true, force: true }));
    assert.equal(await server.stop(), 0);
    const loaded = modulesRun(folder);
    const has = (part: string) => loaded.some((file) => file.includes(part));
    assert.ok(has('dist/src/main.js') && has('node_modules/typeorm/'), 'all modules that ran are listed');
    assert.deepEqual(
      LATER.filter((name) => has(`node_modules/${name}/`)),
      [],
    );
    assert.deepEqual(
      loaded.filter((file) => /^dist\/src\/providers\/.+\.provider\.js$/.test(file)),
      [],
    );
    assert.deepEqual(NEVER.filter(has), []);
  });
});
