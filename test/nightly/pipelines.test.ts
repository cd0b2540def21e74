import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { load } from 'js-yaml';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { chromium } from 'playwright-core';
import { EXIT } from '../../packages/cli/src/exits.js';
import { listen, missing } from '../support/bind.js';
import { noChromium, PROGRAM } from '../support/chromium.js';
import { COMMAND, runProgram } from '../support/command.js';
import { databases } from '../support/databases.js';
import { tokenOf } from '../support/doors.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done } from '../support/world.js';

const ROOT = process.cwd();
const PAGE = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
const ACTION = join(ROOT, 'clients/github-action');
const PAGE_ADDRESS = 'https://dns.example.com';
/** The blocks of a section of the page that are fenced as such. */
const blocksOf = (section: string, fence: string): string[] => {
  const text = PAGE.split('\n## ').find((one) => one.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\n\`\`\``, 'g'))].map(
    ([, block]) => block as string,
  );
};

interface Note {
  id: number;
  body: string;
  user: { login: string };
  author: { id: number };
}

for (const { kind, skip } of databases('one'))
  describeUnless(skip || missing('bash') || noChromium || false)(
    `pipelines and packages of clients, on ${kind}`,
    () => {
      let service: Service;
      let folder: string;
      let domain: number;
      let token: string;
      /** Stands in for the APIs of GitHub and GitLab, with the comments of one pull request; and serves a page. */
      let forge: Server;
      let forgeUrl: string;
      let notes: Note[];
      let asked: string[];
      /** of HTTP, of its answers */
      let forgeStatus: number;
      /** the commit that its branch is at */
      let tip: string;

      const at = (file: string) => join(folder, file);
      const values = async (host: string): Promise<string[]> =>
        done(
          await service.admin.get(`/api/domains/${domain}/records?host=${host}` as `/api/domains/${number}/records`),
        ).list.map(({ value }) => value);

      beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), 'zoneward-pipelines-'));
        forge = createServer(async (request, response) => {
          let text = '';
          for await (const chunk of request) text += chunk;
          if (request.url?.startsWith('/page')) {
            const isScript = request.url.endsWith('.js');
            response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
            response.end(isScript ? readFileSync(join(ROOT, 'packages/client/dist/index.js')) : '<!doctype html>');
            return;
          }
          asked.push(`${request.method} ${request.url?.split('?')[0]}`);
          const { body = '' } = text ? (JSON.parse(text) as { body?: string }) : {};
          const id = Number(
            /comments\/(\d+)$|notes\/(\d+)$/
              .exec(request.url ?? '')
              ?.slice(1)
              .find(Boolean),
          );
          const found = notes.find((one) => one.id === id);
          if (found && request.method !== 'GET') found.body = body;
          else if (request.method === 'POST')
            notes.push({ id: notes.length + 1, body, user: { login: 'github-actions[bot]' }, author: { id: 7 } });
          const isBranch = request.url?.endsWith('/repository/branches/release%2Fmain');
          const read = isBranch ? { commit: { id: tip } } : request.url?.startsWith('/user') ? { id: 7 } : notes;
          const answer = request.method === 'GET' ? read : {};
          response.writeHead(forgeStatus, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
        });
        forgeUrl = `http://127.0.0.1:${await listen(forge)}`;
        service = await startService(kind, { CORS_ORIGINS: forgeUrl });
        const account = await addAccount(service.admin, 'zonefile', {});
        domain = await addDomain(service.admin, account, 'example.com', true);
        token = await tokenOf(service.admin, ['*']);
        // whatever runs the command must not see the credential of the forge
        const alone = '[ -z "$GITHUB_TOKEN$ZONEWARD_GITLAB_TOKEN" ] || exit 77';
        const lines = [
          '#!/bin/sh',
          alone,
          'echo ::error::words >&2',
          `exec '${process.execPath}' '${COMMAND}' "$@"`,
          '',
        ];
        writeFileSync(at('zoneward'), lines.join('\n'), { mode: 0o755 });
      });
      beforeEach(() => {
        asked = [];
        forgeStatus = 200;
        tip = 'abc1234';
      });
      afterAll(async () => {
        forge?.closeAllConnections();
        await new Promise((closed) => forge?.close(closed));
        await service?.stop();
        rmSync(folder, { recursive: true, force: true });
      });
      const env = (more: Record<string, string> = {}) => ({
        ...{ PATH: `${folder}:${process.env.PATH}`, HOME: folder, ZONEWARD_CONFIG: at('profiles.json') },
        ...{ ZONEWARD_URL: service.server.url, ZONEWARD_TOKEN: token, ...more },
      });
      const zone = (text: string) => writeFileSync(at('example.com.zone'), text);

      /** Runs the step of the action as GitHub does: its environment is worked out from action.yml. */
      async function action(pull: { state: string; merged?: boolean }, more: Record<string, string> = {}) {
        const { inputs, runs } = load(readFileSync(join(ACTION, 'action.yml'), 'utf8')) as {
          inputs: Record<string, { default?: string }>;
          runs: { steps: { run: string; env: Record<string, string> }[] };
        };
        const known: Record<string, string> = {
          ...Object.fromEntries(Object.entries(inputs).map(([name, one]) => [`inputs.${name}`, one.default ?? ''])),
          ...{ 'inputs.url': service.server.url, 'inputs.token': token, 'inputs.command': 'zoneward' },
          ...{ 'inputs.zones': 'example.com example.com.zone\n', 'inputs.github-token': 'ghs_a-token-of-github' },
          ...{ 'github.event.pull_request.number': '12', 'github.event.pull_request.state': pull.state },
          ...{ 'github.event.pull_request.merged': String(pull.merged ?? false) },
          ...{ 'github.event.pull_request.head.repo.full_name': 'me/dns' },
          ...more,
        };
        const step = runs.steps[0] as (typeof runs.steps)[0];
        const filled = Object.entries(step.env).map(([name, value]) => {
          const key = /^\$\{\{ (.*) \}\}$/.exec(value)?.[1] ?? '';
          assert.ok(key in known, `${name}: ${value}`);
          return [name, known[key] as string];
        });
        const github = { GITHUB_ACTION_PATH: ACTION, GITHUB_API_URL: forgeUrl, GITHUB_REPOSITORY: 'me/dns' };
        const all = { PATH: env().PATH, HOME: folder, ...github, ...Object.fromEntries(filled) };
        const ended = await runProgram(['bash', '-c', step.run], all, { cwd: folder });
        assert.ok(
          !`${ended.out}${ended.err}${JSON.stringify(notes)}`.includes(token.slice(0, 20)),
          'the token was shown',
        );
        return ended;
      }

      it('the action shows a plan as one comment, and applies on merge what that shows', async () => {
        const foreign = { id: 1, body: '<!-- zoneward -->\nmine', user: { login: 'mallory' }, author: { id: 8 } };
        notes = [foreign];
        zone('$TTL 300\n@ IN NS localhost.\nwww IN A 192.0.2.1\n');
        assert.equal((await action({ state: 'open' })).exit, 0);
        zone('$TTL 300\n@ IN NS localhost.\nwww IN A 192.0.2.2\n');
        assert.equal((await action({ state: 'open' })).exit, 0);
        assert.equal(notes.length, 2);
        assert.match(
          notes[1]?.body ?? '',
          /\| create \| www \| A \|[\s\S]*192\.0\.2\.2[\s\S]*<!-- digest example\.com [0-9a-f]{64} -->/,
        );
        assert.doesNotMatch(notes[1]?.body ?? '', /192\.0\.2\.1[^0-9]/);
        assert.deepEqual(await values('www'), []);
        assert.equal((await action({ state: 'closed' })).exit, 0);
        assert.deepEqual(await values('www'), []);
        const merged = await action({ state: 'closed', merged: true });
        assert.equal(merged.exit, 0, merged.out + merged.err);
        assert.deepEqual(await values('www'), ['192.0.2.2']);
        assert.match(notes[1]?.body ?? '', /\| create \| www[\s\S]*## Merged\n\n- `example\.com`: applied/);
        assert.match(merged.out, /::stop-commands::([\w-]+)\n::error::words\n[\s\S]*\n?::\1::/);
        assert.equal((await action({ state: 'closed', merged: true })).exit, 0);
        assert.match(notes[1]?.body ?? '', /`example\.com`: applied before, nothing to do/);
        assert.equal(notes[0]?.body, foreign.body);
      });

      it('the action makes a change once, also where an old run of it is run again', async () => {
        for (let twice = 0; twice < 2; twice++) {
          done(await service.admin.put(`/api/domains/${domain}/rrsets/www/A`, { values: ['192.0.2.77'] }));
          assert.equal((await action({ state: 'closed', merged: true }, { 'inputs.recompute': 'true' })).exit, 5);
          assert.deepEqual(await values('www'), ['192.0.2.77']);
          assert.match(notes[1]?.body ?? '', /applied before, and not again/);
        }
        done(await service.admin.put(`/api/domains/${domain}/rrsets/www/A`, { values: ['192.0.2.2'] }));
      });

      it('the action applies nothing where that would be something else than the comment shows', async () => {
        notes = [];
        zone('$TTL 300\n@ IN NS localhost.\nwww IN A 192.0.2.3\n');
        assert.equal((await action({ state: 'open' })).exit, 0);
        done(await service.admin.put(`/api/domains/${domain}/rrsets/other/A`, { values: ['192.0.2.50'] }));
        assert.equal((await action({ state: 'closed', merged: true })).exit, 5);
        assert.deepEqual([await values('www'), await values('other')], [['192.0.2.2'], ['192.0.2.50']]);
        assert.match(notes[0]?.body ?? '', /not applied \(exit code 5\)[\s\S]*another plan/);
        notes = [];
        assert.equal((await action({ state: 'closed', merged: true })).exit, 5);
        assert.equal((await action({ state: 'closed', merged: true }, { 'inputs.recompute': 'true' })).exit, 0);
        assert.deepEqual([await values('www'), await values('other')], [['192.0.2.3'], []]);
      });

      it('the action tells mistakes of a file in the comment, and passes forks over', async () => {
        notes = [];
        zone('www IN A 192.0.2.700\n');
        assert.equal((await action({ state: 'open' })).exit, 1);
        assert.match(notes[0]?.body ?? '', /no plan[\s\S]*line 1/);
        asked = [];
        const away = { 'inputs.token': '', 'github.event.pull_request.head.repo.full_name': 'you/dns' };
        const fork = await action({ state: 'open' }, away);
        assert.deepEqual([fork.exit, asked], [0, []]);
        assert.match(fork.out, /forks get no secrets/);
      });

      it('the action fails where a token is missing that should be there', async () => {
        const none = { 'inputs.token': '' };
        const [own, merged] = [
          await action({ state: 'open' }, none),
          await action({ state: 'closed', merged: true }, none),
        ];
        assert.deepEqual([own.exit, merged.exit, asked], [1, 1, []]);
        assert.match(merged.out, /::error::No token: what was merged is not applied/);
        const away = { ...none, 'github.event.pull_request.head.repo.full_name': 'you/dns' };
        assert.equal((await action({ state: 'closed', merged: true }, away)).exit, 1);
      });

      it('the action tells that a change is applied which nobody has seen published', async () => {
        notes = [];
        zone('$TTL 300\n@ IN NS localhost.\nwww IN A 192.0.2.3\nnew IN A 192.0.2.9\n');
        const more = { 'inputs.publish': '1' };
        assert.equal((await action({ state: 'open' }, more)).exit, 0);
        assert.equal((await action({ state: 'closed', merged: true }, more)).exit, 2);
        assert.deepEqual(await values('new'), ['192.0.2.9']);
        assert.match(notes[0]?.body ?? '', /`example\.com`: applied, and not known to be published/);
      });

      it('the action does not say that a change was not applied, where nobody knows', async () => {
        const script = `#!/bin/sh\n[ "$1" != apply ] || exit 6\nexec '${process.execPath}' '${COMMAND}' "$@"\n`;
        writeFileSync(at('lost'), script, { mode: 0o755 });
        // the account of somebody who is gone, and his comment
        notes = [{ id: 1, body: null, user: null, author: { id: 8 } } as unknown as Note];
        zone('$TTL 300\n@ IN NS localhost.\nwww IN A 192.0.2.3\nlost IN A 192.0.2.9\n');
        assert.equal((await action({ state: 'open' })).exit, 0);
        assert.equal((await action({ state: 'closed', merged: true }, { 'inputs.command': 'lost' })).exit, 6);
        assert.match(notes[1]?.body ?? '', /`example\.com`: nobody knows whether it was applied \(exit code 6\)/);
        assert.equal((await action({ state: 'closed', merged: true })).exit, 0);
        assert.deepEqual(await values('lost'), ['192.0.2.9']);
        zone('$TTL 300\n@ IN NS localhost.\nwww IN A 192.0.2.3\nnew IN A 192.0.2.9\n');
        notes = [];
        assert.equal((await action({ state: 'open' })).exit, 0);
        assert.equal((await action({ state: 'closed', merged: true })).exit, 0);
      });

      it('the jobs of GitLab show a plan as one note, and apply what the default branch has', async () => {
        notes = [];
        const template = load(readFileSync(join(ROOT, 'clients/gitlab/zoneward.gitlab-ci.yml'), 'utf8')) as Record<
          string,
          { script: string[] }
        >;
        const gitlab = {
          ...{ CI_API_V4_URL: forgeUrl, CI_PROJECT_ID: '3', CI_MERGE_REQUEST_IID: '5', CI_COMMIT_SHORT_SHA: 'abc1234' },
          ...{ CI_COMMIT_SHA: 'abc1234', CI_COMMIT_BRANCH: 'release/main' },
          ...{ CI_MERGE_REQUEST_PROJECT_ID: '3', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '3' },
          ...{ ZONEWARD: 'zoneward', ZONES: 'example.com example.com.zone', ZONEWARD_GITLAB_TOKEN: 'glpat-a-token' },
        };
        const run = async (lines: string[] = [], more = {}) => {
          const ended = await runProgram(['sh', '-ec', lines.join('\n')], env({ ...gitlab, ...more }), { cwd: folder });
          assert.ok(!`${ended.out}${ended.err}`.includes(token.slice(0, 20)), 'the token was shown');
          return ended;
        };
        const plan = template['zoneward-plan'];
        zone('$TTL 300\n@ IN NS localhost.\nwww IN A 192.0.2.4\n');
        for (let twice = 0; twice < 2; twice++) {
          assert.equal((await run(plan?.script)).exit, 0);
        }
        assert.equal(notes.length, 1);
        assert.match(notes[0]?.body ?? '', /192\.0\.2\.4/);
        forgeStatus = 500;
        assert.equal((await run(plan?.script)).exit, 1);
        assert.equal((await run(template['zoneward-apply']?.script)).exit, 1);
        forgeStatus = 200;
        tip = 'def5678';
        const old = await run(template['zoneward-apply']?.script);
        assert.deepEqual([old.exit, /is at def5678 by now/.test(old.out)], [5, true]);
        assert.notDeepEqual(await values('www'), ['192.0.2.4']);
        tip = 'abc1234';
        const applied = await run(template['zoneward-apply']?.script);
        assert.equal(applied.exit, 0, applied.out + applied.err);
        assert.deepEqual(await values('www'), ['192.0.2.4']);
        zone('www IN A 192.0.2.700\n');
        assert.equal((await run(template['zoneward-apply']?.script)).exit, 1);
        assert.equal((await run(plan?.script, { ZONEWARD_TOKEN: '' })).exit, 1);
        const fork = { ZONEWARD_TOKEN: '', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '4' };
        assert.equal((await run(plan?.script, fork)).exit, 0);
      });

      it('both packages work from their tarballs in an empty folder, without a network', async () => {
        const away = at('away');
        mkdirSync(away);
        const packed = ['pack', '-w', 'packages/client', '-w', 'packages/cli', '--pack-destination', away, '--silent'];
        execFileSync('npm', packed, { cwd: ROOT });
        const tarballs = readdirSync(away).map((name) => `./${name}`);
        assert.equal(tarballs.length, 2);
        writeFileSync(join(away, 'package.json'), '{"type": "module"}');
        const quiet = ['--offline', '--no-audit', '--no-fund', '--cache', at('cache'), '--silent'];
        execFileSync('npm', ['install', ...quiet, ...tarballs], { cwd: away });
        assert.deepEqual(
          readdirSync(join(away, 'node_modules')).filter((name) => !name.startsWith('.')),
          ['@zoneward'],
        );
        const bin = join(away, 'node_modules/.bin/zoneward');
        const listed = await runProgram([bin, 'zones'], env());
        assert.match(listed.out, /example\.com/);
        for (const text of blocksOf('@zoneward/client', 'js')) writeFileSync(join(away, 'page.js'), text);
        const ran = await runProgram([process.execPath, 'page.js'], env(), { cwd: away });
        assert.equal(ran.exit, 0, ran.err);
        assert.match(ran.out, /www A 192\.0\.2\.1\n[\s\S]*done\n$/);
        // a description that has changed since the types were made
        const document = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as OpenAPI3;
        const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
        assert.equal(readFileSync(join(away, 'node_modules/@zoneward/client/dist/schema.d.ts'), 'utf8'), types);
        assert.match(
          readFileSync(join(away, 'node_modules/@zoneward/cli/dist/LICENSES.txt'), 'utf8'),
          /^commander 14/m,
        );
      });

      it('the client works in a page of another origin', async () => {
        const browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox'] });
        try {
          const page = await browser.newPage();
          await page.goto(`${forgeUrl}/page`);
          const code = `import('/page/client.js').then(async ({ Zoneward }) => {
          const dns = new Zoneward(${JSON.stringify({ url: service.server.url, token })});
          const path = { domain_id: 'example.com', host: 'page', type: 'A' };
          const headers = { Prefer: 'respond-published; wait=1' };
          await dns.put('/api/domains/{domain_id}/rrsets/{host}/{type}', { path, headers, body: { values: ['192.0.2.60'] } });
          const wrong = await dns.get('/api/plans/{id}', { path: { id: 999999 } }).catch((error) => error);
          return [(await dns.get('/api/domains'))[0].name, wrong.code, wrong.requestId !== null];
        })`;
          assert.deepEqual(await page.evaluate(code), ['example.com', 404001, true]);
          assert.deepEqual(await values('page'), ['192.0.2.60']);
        } finally {
          await browser.close();
        }
      });

      it('docs/clients.md: what it says to type works', async () => {
        const { url } = service.server;
        const login = { ...env(), ZONEWARD_URL: '', ZONEWARD_TOKEN: '', ZONEWARD_PASSWORD: 'correct-horse-battery-9' };
        const run = (text: string, more = {}) =>
          runProgram(['bash', '-ec', text.replaceAll(PAGE_ADDRESS, url)], { ...login, ...more }, { cwd: folder });
        const [first = '', uses = ''] = blocksOf('zoneward', 'sh');
        const signedIn = await run(first);
        assert.equal(signedIn.exit, 0, signedIn.err);
        assert.match(signedIn.out, /^svc_[0-9a-f]{64}\n$/);
        const used = await run(uses.replace(/^zoneward plan.*$/m, '$& || test $? = 2'));
        assert.equal(used.exit, 0, used.out + used.err);
        const made = await Promise.all(
          ['@zoneward/client', 'zoneward mcp', 'GitHub', 'GitLab'].map((section) =>
            run(blocksOf(section, 'sh')[0] ?? ''),
          ),
        );
        for (const { exit, out, err } of made) {
          assert.equal(exit, 0, err);
          const listed = await runProgram(['zoneward', 'zones'], env({ ZONEWARD_TOKEN: out.trim() }));
          assert.match(listed.out, /example\.com/);
        }
        const { mcpServers } = JSON.parse(blocksOf('zoneward mcp', 'json')[0] ?? '') as {
          mcpServers: { zoneward: { command: string; args: string[]; env: Record<string, string> } };
        };
        const { command, args } = mcpServers.zoneward;
        assert.deepEqual(Object.keys(mcpServers.zoneward.env), ['ZONEWARD_URL', 'ZONEWARD_TOKEN']);
        const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'page', version: '1' } };
        const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`;
        const served = await runProgram([command, ...args], env(), { input });
        assert.match(served.out, /"serverInfo":\{"name":"zoneward"/);
        const refused = await runProgram([command, ...args], env({ ZONEWARD_TOKEN: `svc_${'0'.repeat(64)}` }));
        assert.equal(refused.exit, 3);
      });

      it('docs/clients.md: its workflow uses what the action has, and each section has its three blocks', () => {
        const workflow = load(blocksOf('GitHub', 'yaml')[0] ?? '') as {
          concurrency: { group: string };
          jobs: { dns: { steps: { uses: string; with: Record<string, string> }[] } };
        };
        const step = workflow.jobs.dns.steps.find(({ uses }) => uses === './clients/github-action');
        const { inputs } = load(readFileSync(join(ACTION, 'action.yml'), 'utf8')) as {
          inputs: Record<string, { required?: boolean }>;
        };
        const required = Object.keys(inputs).filter((name) => inputs[name]?.required);
        assert.deepEqual(Object.keys(step?.with ?? {}).sort(), required.sort());
        // a run that waits in a group is cancelled by the next one
        assert.match(workflow.concurrency.group, /pull_request\.number/);
        const include = load(blocksOf('GitLab', 'yaml')[0] ?? '') as { include: { local: string }[] };
        assert.ok(readFileSync(join(ROOT, include.include[0]?.local ?? '')));
        for (const section of PAGE.split('\n## ').slice(1))
          assert.deepEqual(
            [...section.matchAll(/^### (.*)$/gm)].map(([, title]) => title),
            ['Token', 'Configuration', 'What happens when it fails'],
            section.slice(0, 30),
          );
      });

      it('docs/clients.md: it names every exit code', () => {
        const told = [...PAGE.matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code));
        assert.deepEqual(told, Object.values(EXIT));
      });
    },
  );
