import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { it } from '@jest/globals';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { noPowerdns, startPowerdns } from '../support/powerdns.js';
import { LocalServer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const OPTIONS = { target: 'ES2023', lib: ['ES2024', 'DOM', 'DOM.Iterable'], types: ['node'], strict: true };
const PROJECT = { compilerOptions: { ...OPTIONS, module: 'nodenext', skipLibCheck: true }, files: ['tour.ts'] };

/** Runs node; what it printed is in the message when it fails. */
async function node(cwd: string, ...args: string[]): Promise<void> {
  await run(process.execPath, args, { cwd }).catch(({ message, stdout }) => {
    throw new Error(`${message}\n${stdout}`);
  });
}

describeUnless(noPowerdns)('a client that is generated from the OpenAPI document', () => {
  it('type-checks, and does the main job at a real name server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-client-'));
    const started: (() => Promise<unknown>)[] = [];
    try {
      const pdns = await startPowerdns();
      started.push(() => pdns.stop());
      const server = await LocalServer.start();
      started.push(() => server.kill());
      const document = (await (await fetch(`${server.url}/api/openapi.json`)).json()) as OpenAPI3;
      writeFileSync(join(folder, 'schema.ts'), astToString(await openapiTS(document)));
      writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(PROJECT));
      copyFileSync(join(ROOT, 'test/client/tour.ts'), join(folder, 'tour.ts'));
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      await node(folder, join(ROOT, 'node_modules/typescript/bin/tsc'));
      await node(folder, 'tour.js', server.url, pdns.url, pdns.apiKey);
      rmSync(server.dataDir, { recursive: true, force: true });
    } finally {
      for (const end of started.toReversed()) await end();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
