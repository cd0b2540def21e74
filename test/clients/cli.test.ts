import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { freePort, missing } from '../support/bind.js';
import { COMMAND, type Ended, runProgram } from '../support/command.js';
import { type Cutter, startCutter } from '../support/cutter.js';
import { databases } from '../support/databases.js';
import { tokenOf } from '../support/doors.js';
import { ADMIN, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

const ESCAPE = '\u001b';

for (const { kind, skip } of databases('one'))
  describeUnless(skip || missing('bash', 'zsh') || false)(`the command zoneward, on ${kind}`, () => {
    let service: Service;
    let cutter: Cutter;
    let folder: string;
    let domain: number;
    let token: string;
    let everything: Ended[];

    const at = (file: string) => join(folder, file);
    const profiles = () => ({ ZONEWARD_CONFIG: at('profiles.json'), HOME: folder });
    /** Runs it with a token in the environment. */
    const zoneward = (line: string, env: Record<string, string> = {}, more: Parameters<typeof runProgram>[2] = {}) =>
      ran(line, { ZONEWARD_URL: cutter.url, ZONEWARD_TOKEN: token, ...env }, more);
    async function ran(line: string, env: Record<string, string>, more: Parameters<typeof runProgram>[2] = {}) {
      const args = line.split(' ').filter(Boolean);
      const ended = await runProgram(
        [process.execPath, COMMAND, ...args],
        { ...profiles(), ...env },
        { cwd: folder, ...more },
      );
      everything.push(ended);
      return ended;
    }
    /** What it prints. */
    const ok = async (line: string, exit = 0, env: Record<string, string> = {}): Promise<string> => {
      const ended = await zoneward(line, env);
      assert.equal(ended.exit, exit, `${line}: ${ended.out}${ended.err}`);
      return ended.out;
    };
    const json = async <T>(line: string, exit = 0): Promise<T> => JSON.parse(await ok(`${line} --json`, exit)) as T;
    /** What it says where it fails. */
    const fails = async (line: string, exit: number, words: RegExp, env: Record<string, string> = {}) => {
      const ended = await zoneward(line, env);
      assert.equal(ended.exit, exit, `${line}: ${ended.out}${ended.err}`);
      assert.match(ended.err, words);
    };
    const values = async (host: string): Promise<string[]> =>
      done(
        await service.admin.get(`/api/domains/${domain}/records?host=${host}` as `/api/domains/${number}/records`),
      ).list.map(({ value }) => value);
    const setting = async (change: object) => void done(await service.admin.put(`/api/domains/${domain}`, change));

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'zoneward-cli-'));
      everything = [];
      service = await startService(kind);
      cutter = await startCutter(service.server.url);
      const account = await addAccount(service.admin, 'zonefile', {});
      domain = await addDomain(service.admin, account, 'example.com', true);
      await addDomain(service.admin, account, 'example.net', true);
      token = await tokenOf(service.admin, ['*']);
    });
    beforeEach(() => {
      cutter.fate = () => 'pass';
    });
    afterAll(async () => {
      await cutter?.stop();
      await service?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('adds, sets, lists and removes records', async () => {
      await ok('records add example.com www A 192.0.2.1 192.0.2.2 --ttl 300');
      assert.deepEqual((await values('www')).sort(), ['192.0.2.1', '192.0.2.2']);
      await ok('records set example.com mail MX mx.example.net --priority 5');
      assert.match(await ok('records example.com --host mail'), /^ID .*\n\d+ +mail +MX +600 +5 mx\.example\.net\n$/);
      assert.match(
        await ok('records set example.com www A 192.0.2.1 192.0.2.2 -n'),
        /0 to add, 0 to change, 0 to remove/,
      );
      assert.match(await ok('records rm example.com www A --all -n', 2), /2 to remove/);
      await ok('records rm example.com www A 192.0.2.2');
      assert.deepEqual(await values('www'), ['192.0.2.1']);
      await ok('records rm example.com www A --all');
      assert.deepEqual(await values('www'), []);
    });

    it('removes a value in any spelling, names what is not there, and removes no set unasked', async () => {
      await ok('records add example.com six AAAA 2001:db8::1 2001:db8::2');
      await ok('records add example.com alias CNAME target.example.net');
      await ok('records rm example.com six AAAA 2001:DB8:0:0::1');
      assert.deepEqual(await values('six'), ['2001:db8::2']);
      await ok('records rm example.com alias CNAME Target.Example.NET.');
      assert.deepEqual(await values('alias'), []);
      await fails('records rm example.com six AAAA 2001:db8::7', 0, /no such record: six AAAA 2001:db8::7/);
      await fails('records rm example.com six AAAA', 1, /--all for the whole record set/);
      await fails('records rm example.com six AAAA 2001:db8::2 --all', 1, /--all for the whole record set/);
      assert.deepEqual(await values('six'), ['2001:db8::2']);
      await ok('records rm example.com six AAAA --all');
    });

    it('takes an empty list for a mistake, never for all', async () => {
      for (const option of ['--types=', '--hosts=,', '--types= , '])
        await fails(`plan example.com --drift ${option}`, 1, /it names nothing/);
      const ended = await runProgram([process.execPath, COMMAND, 'tokens', 'create', 'all', '--zones', ''], profiles());
      assert.deepEqual([ended.exit, /it names nothing/.test(ended.err)], [1, true]);
    });

    it('applies a plan over many domains with all that is said of it, or not at all', async () => {
      const change = { op: 'upsert' as const, host: 'many', type: 'A' as const, value: '192.0.2.30' };
      const domains = await Promise.all(
        ['example.com', 'example.net'].map(async (name) => ({
          domain_id: done(await service.admin.get(`/api/domains?name=${name}` as '/api/domains'))[0]?.id as number,
          changes: [change],
        })),
      );
      const { id } = made(await service.admin.post('/api/plans', { domains }));
      await fails(`apply ${id} --only 1`, 1, /only: does not go with a plan over many domains/);
      await fails(`apply ${id} --publish`, 1, /--publish does not go with/);
      assert.deepEqual(await values('many'), []);
      await fails(`apply ${id} --comment because`, 0, /example\.com: applied\nexample\.net: applied/);
      assert.deepEqual(await values('many'), ['192.0.2.30']);
      const { list } = await json<{ list: { comment: string }[] }>('history example.net --host many');
      assert.equal(list[0]?.comment, 'because');
    });

    it('tells of a plan over many domains what still runs, failed or was left out', async () => {
      const outcome = (domain_id: number, state: string, more = {}) => ({
        ...{ domain_id, domain: `zone${domain_id}.example`, plan_id: domain_id, state, change_set_id: null, ...more },
      });
      const answers = (states: object[], failed: object[] = []) => {
        const view = { id: 9, state: 'applying', plans: [], failed, domains: states, counts: {} };
        return { status: 200, body: JSON.stringify({ code: 0, msg: '', data: view }) };
      };
      const held = { ...{ state: 'open', hold_reason: 'the right ended', paused_until: null, changes: [] } };
      const counts = { applied: 1, failed: 0, unknown: 0, not_tried: 2 };
      let looks = 0;
      const told = async (exit: number, words: RegExp, states: object[], failed: object[] = [], set: object = held) => {
        looks = 0;
        cutter.fate = ({ method, path }) => {
          if (method === 'POST')
            return { status: 202, body: JSON.stringify({ code: 0, msg: '', data: { domains: [] } }) };
          if (path.includes('/changes/'))
            return { status: 200, body: JSON.stringify({ code: 0, msg: '', data: { ...set, counts } }) };
          // the first two readings are the plan as it is seen, and a domain that was not begun
          return looks++ < 2 ? answers([outcome(1, 'not_tried')]) : answers(states, failed);
        };
        await fails('apply 9', exit, words);
        assert.ok(looks > 2, 'it was not waited for');
      };
      await told(0, /zone1\.example: applied/, [outcome(1, 'applied')]);
      await told(6, /zone1\.example: failed: away/, [outcome(1, 'failed', { code: 500002, msg: 'away' })]);
      await told(
        1,
        /zone2\.example: no plan was made: gone/,
        [outcome(1, 'applied')],
        [{ domain_id: 2, domain: 'zone2.example', code: 404001, msg: 'gone' }],
      );
      await told(3, /change set 5[\s\S]*held: the right ended/, [outcome(1, 'running', { change_set_id: 5 })]);
      const paused = { ...held, hold_reason: null, paused_until: '2030-01-01T00:00:00.000Z' };
      await told(3, /pauses until 2030/, [outcome(1, 'running', { change_set_id: 5 })], [], paused);
      // it was cancelled: what was not tried is no success
      const cancelled = { ...held, state: 'done', hold_reason: null };
      await told(1, /0 unknown, 2 not tried/, [outcome(1, 'running', { change_set_id: 5 })], [], cancelled);
    });

    it('says that nobody knows whether it is published, where nobody looked', async () => {
      writeFileSync(at('p.zone'), 'shown 300 IN A 192.0.2.10\n');
      const { id } = await json<{ id: number }>('plan example.com p.zone', 2);
      await fails(`apply ${id} --publish 1`, 2, /shown A: not published everywhere[\s\S]*not known to be published/);
      assert.deepEqual(await values('shown'), ['192.0.2.10']);
      const done = JSON.stringify({ code: 0, msg: '', data: { change_set_id: null, changed: true } });
      cutter.fate = ({ method }) => (method === 'PUT' ? { status: 200, body: done } : 'pass');
      await fails('records set example.com shown A 192.0.2.10 --publish 1', 2, /not known to be published/);
      const headers = { 'preference-applied': 'respond-published', 'warning-guard': 'ttl_floor' };
      cutter.fate = ({ method }) => (method === 'PUT' ? { status: 200, body: done, headers } : 'pass');
      await fails('records set example.com shown A 192.0.2.10 --publish 1', 0, /guards that were met: ttl_floor/);
    });

    it('lists zones and finds records, as tables for people and as JSON', async () => {
      assert.match(await ok('zones'), /\n\d+ +example\.com +\d+ +write +zonefile /);
      const found = await json<{ list: { host: string; domain: string }[] }>('search mx.example');
      assert.deepEqual(
        found.list.map(({ host, domain: name }) => [host, name]),
        [['mail', 'example.com']],
      );
      assert.equal((await json<unknown[]>('records example.com --type MX')).length, 1);
    });

    it('shows nothing to a terminal that it would obey', async () => {
      await service.admin.post(`/api/domains/${domain}/records`, {
        ...{ host: 'evil', type: 'TXT', value: 'a\u001b]0;owned\u0007b' },
      });
      const out = await ok('records example.com --host evil');
      assert.ok(!out.includes(ESCAPE) && !out.includes('\u0007'));
      assert.match(out, /a\\u\{1b\}|\\027/);
      await ok('records rm example.com evil TXT --all');
      const evil = JSON.stringify({ code: 0, msg: '', data: { total: 0, list: ['\u009b31m', '\u202e', '\u007f'] } });
      cutter.fate = () => ({ status: 200, body: evil });
      assert.match(await ok('search x --json'), /"\\u009b31m",\s+"\\u202e",\s+"\\u007f"/);
      cutter.fate = () => ({ status: 200, body: evil, headers: { 'x-request-id': 'a\u009b31m' } });
      assert.match((await zoneward('search x --debug')).err, /request a\\u\{9b\}31m\n/);
    });

    it('shows a file as it is, but on a terminal nothing of it that this would obey', async () => {
      const text = 'www 300 IN TXT "a\u009b31m\u202e"\t; b\r\n';
      cutter.fate = () => ({ status: 200, body: text, headers: { 'content-type': 'text/dns' } });
      assert.equal(await ok('export example.com'), text);
      const env = { ...profiles(), PATH: process.env.PATH ?? '', ZONEWARD_URL: cutter.url, ZONEWARD_TOKEN: token };
      const line = ['script', '-qec', `${process.execPath} ${COMMAND} export example.com`, '/dev/null'];
      assert.match((await runProgram(line, env)).out, /TXT "a\\u\{9b\}31m\\u\{202e\}" {4}; b\r?\n/);
    });

    it('begins no line with what others wrote', async () => {
      const list = [{ host: 'a\n::error::b', type: 'A', value: '192.0.2.1' }];
      writeFileSync(at('lines.json'), JSON.stringify(list));
      const { exit, err } = await zoneward('plan example.com lines.json');
      assert.deepEqual([exit, /a\\u\{a\}::error::b/.test(err), /^::/m.test(err)], [1, true, false], err);
    });

    it('plans a file (2 where it differs), and applies exactly that plan, once', async () => {
      writeFileSync(at('a.zone'), '$TTL 300\nplanned IN A 192.0.2.10\nplanned IN A 192.0.2.11\n');
      const plan = await json<{ id: number; digest: string; summary: { create: number } }>(
        'plan example.com a.zone',
        2,
      );
      assert.equal(plan.summary.create, 2);
      const again = await json<{ digest: string }>(`plan example.com a.zone --expect ${plan.digest}`, 2);
      assert.equal(again.digest, plan.digest);
      await ok(`apply ${plan.id}`);
      assert.deepEqual((await values('planned')).sort(), ['192.0.2.10', '192.0.2.11']);
      await ok('plan example.com a.zone');
      assert.match(await ok('plan example.com a.zone --markdown'), /no changes/);
      const warned = {
        id: null,
        domain: 'example.com',
        changes: [],
        hidden: 0,
        guards: [],
        warnings: ['line 3 is `x`'],
      };
      cutter.fate = () => ({ status: 201, body: JSON.stringify({ code: 0, msg: '', data: warned }) });
      assert.match(await ok('plan example.com a.zone --markdown'), /no changes\.\n\n- `line 3 is 'x'`\n/);
      const partly = { ...warned, hidden: 2 };
      cutter.fate = () => ({ status: 201, body: JSON.stringify({ code: 0, msg: '', data: partly }) });
      for (const option of [`--expect ${plan.digest}`, '--digest digest.txt'])
        await fails(`plan example.com a.zone ${option}`, 3, /2 of its changes are of records that you may not read/);
      cutter.fate = () => 'pass';
      await ok(`plan example.com a.zone --expect ${plan.digest}`);
      writeFileSync(at('a.zone'), 'planned 300 IN A 192.0.2.12\n');
      await fails(`plan example.com a.zone --expect ${plan.digest}`, 5, /another plan than the one/);
      await fails(`apply ${plan.id}`, 5, /409001 plan_ended/);
    });

    it('says how a plan differs, and in markdown for a pull request', async () => {
      writeFileSync(at('b.zone'), 'planned 300 IN A 192.0.2.10\n');
      const out = await ok('plan example.com b.zone --sync --hosts planned', 2);
      assert.match(
        out,
        /^example\.com: 0 to add, 0 to change, 1 to remove, 1 as they are\n- planned A 300 192\.0\.2\.11 {2}\[1\]\n$/,
      );
      assert.match(
        await ok('plan example.com b.zone --sync --hosts planned --markdown', 2),
        /\| delete \| planned \| A \|/,
      );
    });

    it('ends with 5 where something else stands there by now, and does nothing', async () => {
      writeFileSync(at('c.zone'), 'planned 300 IN A 192.0.2.12\n');
      const { id } = await json<{ id: number }>('plan example.com c.zone --sync --hosts planned', 2);
      await ok('records set example.com planned A 192.0.2.99');
      await fails(`apply ${id}`, 5, /412001[\s\S]*changed meanwhile: planned A[\s\S]*make a new plan/);
      assert.deepEqual(await values('planned'), ['192.0.2.99']);
    });

    it('imports a file when that is agreed to, and takes it back', async () => {
      writeFileSync(at('d.csv'), 'host,type,value\nimported,A,192.0.2.20\n');
      await ok('import example.com d.csv', 2);
      assert.deepEqual(await values('imported'), []);
      await ok('import example.com d.csv --yes');
      assert.deepEqual(await values('imported'), ['192.0.2.20']);
      const { list } = await json<{ list: { id: number; door: string }[] }>('history example.com --host imported');
      assert.equal(list[0]?.door, 'plan');
      await ok(`undo example.com ${list[0]?.id} --yes`);
      assert.deepEqual(await values('imported'), []);
    });

    it('exports what it imports', async () => {
      const out = await ok('export example.com');
      await ok('export example.com --out e.zone');
      assert.equal(readFileSync(at('e.zone'), 'utf8'), out);
      await ok('plan example.com e.zone --sync');
    });

    it('reads a document in UTF-16 by its byte order mark', async () => {
      const little = Buffer.from('\uFEFFhost;type;value\r\nwide;TXT;gr\u00fcn\r\n', 'utf16le');
      for (const [name, bytes] of [
        ['le.csv', little],
        ['be.csv', Buffer.from(little).swap16()],
      ] as const) {
        writeFileSync(at(name), bytes);
        assert.match(await ok(`plan example.com ${name}`, 2), /gr\u00fcn/);
      }
      writeFileSync(at('odd.csv'), little.subarray(0, 11));
      await fails('plan example.com odd.csv', 1, /odd\.csv is not in UTF-8/);
    });

    it('tells each mistake of a document with its line', async () => {
      writeFileSync(at('f.zone'), 'one IN A 192.0.2.1\ntwo IN A 192.0.2.700\n');
      await fails('plan example.com f.zone', 1, /400001[\s\S]*line 2(, column \d+)?: /);
      await fails('plan example.com nothing.zone', 1, /nothing\.zone/);
      await fails('plan example.com a.unknown', 1, /--format/);
      writeFileSync(at('latin.zone'), Buffer.from('one IN TXT "caf\u00e9"\n', 'latin1'));
      await fails('plan example.com latin.zone', 1, /latin\.zone is not in UTF-8/);
    });

    it('ends with 3 where a right is missing, and names it', async () => {
      const reader = await tokenOf(service.admin, ['domains:read', 'records:read']);
      const env = { ZONEWARD_TOKEN: reader };
      await ok('records example.com', 0, env);
      await fails('records set example.com www A 192.0.2.1', 3, /403001[\s\S]*records:write/, env);
      await fails('records example.com', 3, /401001/, { ZONEWARD_TOKEN: `svc_${'0'.repeat(64)}` });
    });

    it('ends with 3 where a guard is met, and takes it where it is meant', async () => {
      await ok('records set example.com @ MX mx.example.net --priority 1');
      writeFileSync(at('g.zone'), 'other IN A 192.0.2.1\n');
      const { id } = await json<{ id: number }>('plan example.com g.zone --sync --types MX --hosts @', 2);
      await fails(`apply ${id}`, 3, /409003[\s\S]*last_mx: [\s\S]*--force last_mx/);
      await ok(`apply ${id} --force last_mx`);
      assert.deepEqual(await values('@'), ['localhost']);
    });

    it('ends with 3 in a freeze, and with 4 where an approval is needed', async () => {
      const until = new Date(Date.now() + 3_600_000).toISOString();
      await setting({ freeze: { from: new Date().toISOString(), until, reason: 'Black Friday' } });
      await fails('records set example.com www A 192.0.2.1', 3, /423002[\s\S]*tried again in \d+ s/);
      await setting({ freeze: null, approval: { for: 'all', by: { role: 2 }, own: false } });
      await fails('records set example.com www A 192.0.2.1', 4, /waits for an approval, as the plan \d+/);
      writeFileSync(at('h.zone'), 'www IN A 192.0.2.1\n');
      const { id } = await json<{ id: number }>('plan example.com h.zone', 2);
      await fails(`apply ${id}`, 4, /waits for an approval/);
      await setting({ approval: { for: 'none', by: {}, own: false } });
      assert.deepEqual(await values('www'), []);
    });

    it('ends with 5 at a conflict, and with 1 at what is wrong', async () => {
      await ok('records add example.com twice A 192.0.2.1');
      await fails('records add example.com twice A 192.0.2.1', 5, /409001/);
      await fails('records add example.com wrong A 192.0.2.700', 1, /IPv4/);
      await fails('records nowhere.example', 1, /404001/);
      await fails('nonsense', 1, /unknown command/);
      await fails('plan example.com', 1, /a plan is made of one of/);
    });

    it('ends with 6 where nobody answers, and says that a change may have been made', async () => {
      const gone = { ZONEWARD_URL: `http://127.0.0.1:${await freePort()}` };
      const reading = zoneward('zones', gone);
      await fails('records set example.com www A 192.0.2.1', 6, /nobody knows whether the change was made/, gone);
      assert.equal((await reading).exit, 6);
      assert.match((await reading).err, /no answer from http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)/);
    });

    it('makes a change once whose answer is lost', async () => {
      let lost = 0;
      cutter.fate = ({ method }) => (method === 'POST' && lost++ === 0 ? 'after' : 'pass');
      await ok('records add example.com once A 192.0.2.1');
      assert.equal(lost, 2);
      assert.deepEqual(await values('once'), ['192.0.2.1']);
    });

    it('ends with 6 where what goes on is not seen any more', async () => {
      const gone = JSON.stringify({ code: 401001, data: { reason: 'api_token_invalid' }, msg: 'Invalid token' });
      writeFileSync(at('u.zone'), 'on 300 IN A 192.0.2.10\n');
      for (const [running, words] of [
        [{ change_set_id: 7 }, /Invalid token[\s\S]*the change set 7 goes on, unseen/],
        [{ domains: [] }, /Invalid token[\s\S]*the plan 7 goes on, unseen/],
      ] as const) {
        const seen = JSON.stringify({ code: 0, msg: '', data: { domain: 'example.com', plans: [] } });
        let looks = 0;
        cutter.fate = ({ method, path }) => {
          if (method === 'POST' && path.includes('/apply'))
            return { status: 202, body: JSON.stringify({ code: 0, msg: '', data: running }) };
          if (path.startsWith('/api/plans/') && looks++ === 0)
            return { status: 200, body: 'domains' in running ? seen : seen.replace(',"plans":[]', '') };
          return { status: 401, body: gone };
        };
        await fails('apply 7', 6, words);
      }
    });

    it('fails where its output cannot be kept, and works on to its end', async () => {
      writeFileSync(at('u.zone'), 'full 300 IN A 192.0.2.10\n');
      const env = { ...profiles(), ZONEWARD_URL: cutter.url, ZONEWARD_TOKEN: token };
      const line = `${process.execPath} ${COMMAND} import example.com u.zone --yes >/dev/full`;
      const { exit, err } = await runProgram(['bash', '-c', line], env, { cwd: folder });
      assert.deepEqual([exit, /ENOSPC/.test(err), /^ +at /m.test(err)], [1, true, false], err);
      assert.deepEqual(await values('full'), ['192.0.2.10']);
    });

    it('is ended by Ctrl-C, and says so', async () => {
      cutter.fate = () => ({ status: 503, headers: { 'retry-after': '30' } });
      const ended = await zoneward('zones --debug', {}, { interruptAt: 'GET /api/domains' });
      assert.equal(ended.exit, 130);
      assert.match(ended.err, /interrupted/);
    });

    it('signs in with a password or a token from standard input, and keeps it for its owner alone', async () => {
      const url = `--url ${cutter.url}`;
      const alone = (line: string, input = '') => ran(line, {}, { input });
      assert.equal((await alone(`login ${url} --user admin`, `${ADMIN.password}\n`)).exit, 0);
      assert.equal(statSync(at('profiles.json')).mode & 0o777, 0o600);
      assert.equal((await alone('tokens list')).exit, 0);
      const made = await alone('tokens create pipeline --zones example.com --preset ddns --host home');
      const narrow = made.out.trim();
      everything.pop();
      assert.match(narrow, /^svc_[0-9a-f]{64}$/);
      assert.equal((await alone(`login ${url} --profile home`, narrow)).exit, 0);
      assert.match((await alone('tokens self --profile home')).out, /pipeline +ddns/);
      assert.equal((await alone('records set example.com home A 192.0.2.5 --profile home')).exit, 0);
      assert.equal((await alone('records set example.com www A 192.0.2.5 --profile home')).exit, 3);
      assert.equal((await alone(`login ${url} --user admin`, 'a-wrong-password\n')).exit, 3);
      assert.equal((await alone('logout')).exit, 0);
      assert.equal((await alone('zones')).exit, 1);
      chmodSync(at('profiles.json'), 0o644);
      const open = await alone('zones --profile home');
      assert.deepEqual([open.exit, /can be read by others/.test(open.err)], [1, true]);
      chmodSync(at('profiles.json'), 0o600);
      for (const secret of [narrow, ADMIN.password])
        assert.ok(!JSON.stringify(everything).includes(secret), 'a secret was printed');
    });

    it('writes a credential to no file that others have put there, and keeps a link', async () => {
      const home = mkdtempSync(join(folder, 'home-'));
      const [real, link, trap] = ['real.json', 'profiles.json', 'stolen'].map((name) => join(home, name));
      writeFileSync(real as string, '{}', { mode: 0o600 });
      symlinkSync('real.json', link as string);
      writeFileSync(trap as string, '');
      const before = `require('node:fs').symlinkSync(${JSON.stringify(trap)}, ${JSON.stringify(`${real}.`)} + process.pid)`;
      writeFileSync(join(home, 'before.cjs'), before);
      const env = { ZONEWARD_CONFIG: link as string, NODE_OPTIONS: `--require=${join(home, 'before.cjs')}` };
      assert.equal((await ran(`login --url ${cutter.url}`, env, { input: token })).exit, 0);
      assert.deepEqual([readFileSync(trap as string, 'utf8'), lstatSync(link as string).isSymbolicLink()], ['', true]);
      assert.deepEqual(Object.keys(JSON.parse(readFileSync(real as string, 'utf8'))), ['default']);
      assert.equal(statSync(real as string).mode & 0o777, 0o600);
    });

    it('knows of no profile that nobody has made', async () => {
      for (const name of ['constructor', '__proto__']) {
        const ended = await ran(`zones --profile ${name}`, { ZONEWARD_URL: cutter.url });
        assert.deepEqual([ended.exit, /there is no token for/.test(ended.err)], [1, true], ended.err);
      }
    });

    it('tells no token that no header can hold', async () => {
      const ended = await zoneward('zones', { ZONEWARD_TOKEN: `${token}\nmore` });
      assert.deepEqual([ended.exit, ended.err.includes(token.slice(0, 20))], [1, false], ended.err);
    });

    it('refuses a profile beside an environment that has both of what it is for', async () => {
      await fails('zones --profile home', 1, /--profile, or ZONEWARD_URL and ZONEWARD_TOKEN/);
      await ok('zones', 0, { ZONEWARD_PROFILE: 'home' });
    });

    it('takes the token of a profile to no other address', async () => {
      const ended = await ran('zones --profile home', { ZONEWARD_URL: 'http://127.0.0.1:9' });
      assert.deepEqual([ended.exit, /there is no token for/.test(ended.err)], [1, true]);
    });

    it('refuses credentials among its arguments, and repeats none', async () => {
      const ended = await zoneward(`search ${token}`);
      assert.deepEqual([ended.exit, /among the arguments/.test(ended.err)], [1, true]);
      const told = await zoneward('zones --debug');
      assert.match(told.err, /GET \/api\/domains: 200 in \d+ ms, try 1, request /);
      assert.ok(!JSON.stringify(everything).includes(token.slice(0, 20)), 'the token was printed');
    });

    it('has no colours in a pipe', async () => {
      assert.ok(!(await ok('zones')).includes(ESCAPE));
    });

    it('has them on a terminal, unless NO_COLOR is set', () => {
      const env = {
        ...profiles(),
        PATH: process.env.PATH,
        TERM: 'xterm',
        ZONEWARD_URL: cutter.url,
        ZONEWARD_TOKEN: token,
      };
      const shown = (more: object) =>
        runProgram(['script', '-qec', `${process.execPath} ${COMMAND} zones`, '/dev/null'], {
          ...env,
          ...more,
        } as Record<string, string>);
      return Promise.all([shown({}), shown({ NO_COLOR: '1' })]).then(([colours, none]) => {
        assert.ok(colours.out.includes(`${ESCAPE}[1mID`));
        assert.match(none.out, /ID +ZONE/);
        assert.ok(!none.out.includes(`${ESCAPE}[1m`));
      });
    });

    it('ends quietly when whoever reads has read enough', async () => {
      const line = `${process.execPath} ${COMMAND} help | head -1`;
      const ended = await runProgram(['bash', '-o', 'pipefail', '-c', line], profiles());
      assert.deepEqual([ended.exit, ended.err], [0, '']);
    });

    it('works to its end, and keeps its exit code, when nobody reads any more', async () => {
      writeFileSync(at('u.zone'), 'unread 300 IN A 192.0.2.10\n');
      const env = { ...profiles(), ZONEWARD_URL: cutter.url, ZONEWARD_TOKEN: token };
      // nobody has its output from the start, nor its words
      const unread = (line: string) =>
        runProgram(['bash', '-c', `{ ${process.execPath} ${COMMAND} ${line} 2>&1; echo $? >code; } | true`], env, {
          cwd: folder,
        }).then(() => Number(readFileSync(at('code'), 'utf8')));
      assert.equal(await unread('plan example.com u.zone'), 2);
      assert.equal(await unread('import example.com u.zone --yes --debug'), 0);
      assert.deepEqual(await values('unread'), ['192.0.2.10']);
      assert.equal(await unread('records nowhere.example --debug'), 1);
    });

    it('completes commands, options and zones in bash and zsh', async () => {
      const env = { ...profiles(), ZONEWARD_URL: cutter.url, ZONEWARD_TOKEN: token, NODE: process.execPath, COMMAND };
      const command = 'zoneward() { "$NODE" "$COMMAND" "$@"; }';
      const typed = async (words: string[]) => {
        const list = words.map((word) => `'${word}'`).join(' ');
        const script = `${command}; source <(zoneward completion bash); COMP_WORDS=(zoneward ${list}); COMP_CWORD=${words.length}; _zoneward; printf '%s\\n' "\${COMPREPLY[@]}"`;
        const { out, err } = await runProgram(['bash', '-c', script], env);
        assert.equal(err, '');
        return out.trim().split('\n');
      };
      const [first, option, zones] = await Promise.all([typed(['pl']), typed(['plan', '--sy']), typed(['plan', ''])]);
      assert.deepEqual([first, option, zones.sort()], [['plan'], ['--sync'], ['example.com', 'example.net']]);
      const zsh = `${command}; autoload -Uz compinit && compinit -u -d ${at('zcompdump')}; source <(zoneward completion zsh); print $_comps[zoneward]; compadd() { print -- "\${found[@]}" }; words=(zoneward plan ''); CURRENT=3; _zoneward`;
      const { out, err } = await runProgram(['zsh', '-fc', zsh], env);
      assert.deepEqual(
        [out.trim().split('\n')[0], out.trim().split('\n')[1]?.split(' ').sort(), err],
        ['_zoneward', ['example.com', 'example.net'], ''],
      );
      assert.match((await zoneward('completion fish')).out, /^# fish[\s\S]*complete -c zoneward/);
    });

    it('says whether the audit log is whole', async () => {
      const { ok: whole } = await json<{ ok: boolean }>('verify');
      assert.equal(whole, true);
    });
  });
