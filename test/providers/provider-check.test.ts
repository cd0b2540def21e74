import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';

const root = resolve(import.meta.dirname, '../..');

describeUnless(noPowerdns)('npm run provider:check', () => {
  let server: Powerdns;
  beforeAll(async () => {
    server = await startPowerdns();
    await server.createZone('empty.example');
  });
  afterAll(() => server?.stop());

  const run = (words: string[], env: Record<string, string>) =>
    new Promise<{ code: number; out: string }>((done) => {
      const options = { cwd: root, env: { PATH: process.env.PATH, ...env } };
      execFile(process.execPath, ['scripts/provider-check.mjs', ...words], options, (error, stdout, stderr) =>
        done({ code: error ? Number(error.code) : 0, out: stdout + stderr }),
      );
    });
  const credentials = () => ({ CHECK_URL: server.url, CHECK_API_KEY: server.apiKey });

  it('looks, and changes nothing unless it is told to', async () => {
    const { code, out } = await run(['powerdns', 'empty.example'], credentials());
    assert.equal(code, 0, out);
    assert.match(out, /1 zones; empty\.example holds \d records, 0 beside its name servers\nNothing was changed\./);
    assert.ok(!out.includes(server.apiKey));
  });

  it('refuses a zone that holds records, an unknown one, and credentials that are missing or wrong', async () => {
    const name = 'www.empty.example.';
    const records = [{ content: '192.0.2.1', disabled: false }];
    const rrsets = [{ name, type: 'A', ttl: 60, changetype: 'REPLACE', records }];
    await server.api('PATCH', '/zones/empty.example.', { rrsets });
    const full = await run(['powerdns', 'empty.example', '--write'], credentials());
    assert.deepEqual([full.code, /is not empty/.test(full.out)], [1, true], full.out);
    const other = await run(['powerdns', 'other.example'], credentials());
    assert.match(other.out, /other\.example is none of the 1 zones/);
    assert.match((await run(['powerdns', 'x.example'], {})).out, /set CHECK_URL, CHECK_API_KEY/);
    const wrong = await run(['powerdns', 'x.example'], { ...credentials(), CHECK_API_KEY: 'wrong' });
    assert.match(wrong.out, /credentials were not taken/);
  });
});
