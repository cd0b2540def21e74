import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { missing } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { type Block, difference, journeysOf, runBlocks } from '../support/guide.js';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import { ADMIN, type Service, startService } from '../support/server.js';
import { describeUnless, thorough } from '../support/suites.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
const [before, ...journeys] = journeysOf(page);
const setUp = before?.blocks ?? [];

const SHELLS = thorough ? ['bash', 'dash', 'zsh'] : ['zsh'];

/** The set-up of the page with the values of this installation in place of those of the page. */
function setUpWith(values: Record<string, string>): Block[] {
  return setUp.map((block) => ({
    ...block,
    commands: Object.entries(values).reduce(
      (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}='${value}'`),
      block.commands,
    ),
  }));
}

const ADDRESS = '127.26.1.1';
const ZONES = ['example.com', 'example.org', 'example.net'];
const unable = noPowerdns || (process.getuid?.() === 0 ? false : 'not root: PowerDNS listens on port 53');

describe('the guide to the API', () => {
  it('has thirteen journeys, and no other sections with commands', () => {
    expect(journeys.map(({ title }) => title.split('.')[0])).toEqual(
      Array.from({ length: 13 }, (_, i) => String(i + 1)),
    );
    for (const { title, blocks } of journeys) assert.ok(blocks.length, title);
    assert.equal(setUp.length, 1);
  });

  it('can be pasted: comments stand on lines of their own, and nothing belongs to one shell only', () => {
    for (const { commands, line } of [...setUp, ...journeys.flatMap(({ blocks }) => blocks)]) {
      for (const text of commands.split('\n')) {
        const where = `docs/api.md, block at line ${line}: ${text}`;
        if (text.trimStart().startsWith('#')) assert.doesNotMatch(text, /['"`()?*!]/, where);
        else assert.doesNotMatch(text, /\s#\s|<\(|\[\[|\bread -s\b|\blocal\b|<<<|\$'/, where);
      }
    }
  });
});

for (const { kind, skip } of databases('one')) {
  for (const shell of SHELLS) {
    describeUnless(skip || unable || missing(shell))(`each block of the guide, in ${shell}`, () => {
      let folder: string;
      let pdns: Powerdns;
      let service: Service;
      let values: Record<string, string>;
      let run = 0;

      beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), 'zoneward-guide-'));
        pdns = await startPowerdns({ address: ADDRESS });
        for (const name of ZONES) {
          const own = name === 'example.com';
          const rrsets = own
            ? [{ name: 'ns1.example.com.', type: 'A', ttl: 300, records: [{ content: ADDRESS, disabled: false }] }]
            : [];
          const zone = { name: `${name}.`, kind: 'Native', nameservers: ['ns1.example.com.'], rrsets };
          assert.equal((await pdns.api('POST', '/zones', zone)).status, 201);
        }
        service = await startService(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
        const { admin, server } = service;
        done(await admin.put('/api/settings', { dns_resolvers: [ADDRESS] }));
        const account = await addAccount(admin, 'powerdns', { url: pdns.url, api_key: pdns.apiKey });
        for (const name of ZONES) await addDomain(admin, account, name);
        await addAccount(admin, 'zonefile', {});
        made(await admin.post('/api/users', { username: 'anna', password: 'a-long-password-of-anna' }));
        const { token } = made(await admin.post('/api/tokens', { name: 'guide' }));
        values = { URL: server.url, TOKEN: token, PASSWORD: ADMIN.password };
      });

      afterAll(async () => {
        await service?.stop();
        await pdns?.stop();
        rmSync(folder, { recursive: true, force: true });
      });

      for (const { title, blocks } of journeys)
        it(`works: ${title}`, async () => {
          const all = [...setUpWith(values), ...blocks];
          const { outputs, errors } = await runBlocks(shell, folder, all);
          for (const [i, { line, fails, shown }] of all.entries()) {
            const { text = '', status = -1 } = outputs[i] ?? {};
            const where = `docs/api.md, block at line ${line}, in ${shell}`;
            const told = `${where}: ended with ${status}\n${text}\n${errors}`;
            assert.equal(status === 0, fails === undefined, told);
            const last = text.trim().split('\n').at(-1) ?? '';
            if (fails) assert.equal(Math.floor(JSON.parse(last).code / 1000), fails, told);
            if (shown !== undefined) {
              const words = difference(shown, JSON.parse(last));
              assert.equal(words, null, `${where}: ${words}`);
            }
            if (process.env.SHOW_GUIDE) console.log(where, text.slice(0, 3000));
            if (i >= setUp.length) run += 1;
          }
        });

      it('was run', () => {
        assert.equal(run, page.split('\n').filter((line) => line.startsWith('```sh')).length - setUp.length);
      });
    });
  }
}
