import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { startCloudflareApi } from '../providers/cloudflare/stand-in.js';
import { startTechnitium } from '../providers/technitium/stand-in.js';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import type { Answer } from '../support/vendor.js';

const root = resolve(import.meta.dirname, '../..');
const out = mkdtempSync(join(tmpdir(), 'zoneward-check-'));
afterAll(() => rmSync(out, { recursive: true }));

/** @param during is called with what was printed so far, and can send a signal */
function run(
  words: string[],
  env: Record<string, string> = {},
  during?: (printed: string, kill: (signal: NodeJS.Signals) => void) => void,
) {
  return new Promise<{ code: number; out: string }>((done) => {
    const options = { cwd: root, env: { PATH: process.env.PATH, ...env }, maxBuffer: 2 ** 26 };
    const all = ['scripts/provider-check.mjs', ...words, '--out', out];
    const child = execFile(process.execPath, all, options, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, out: stdout + stderr }),
    );
    let printed = '';
    child.stdout?.on('data', (chunk) => {
      printed += chunk;
      during?.(printed, (signal) => child.kill(signal));
    });
  });
}

interface Report {
  version: string;
  date: string;
  ended: string;
  counts: { passed: number; failed: number; refused: number };
  checks: { name: string; result: string; ms: number; words?: string }[];
  notTried: string[];
  cleanup: { removed: number; left: string[]; others: string };
}
const texts = (kind: string) =>
  ['json', 'md'].map((end) => readFileSync(join(out, `provider-check-${kind}.${end}`), 'utf8'));
const reportOf = (kind: string) => JSON.parse(texts(kind)[0] as string) as Report;

describeUnless(noPowerdns)('npm run provider:check, with a PowerDNS', () => {
  let server: Powerdns;
  const credentials = () => ({ CHECK_URL: server.url, CHECK_API_KEY: server.apiKey });
  const held = async (zone: string) =>
    (await server.zone(zone)).rrsets
      .filter(({ type }) => type !== 'SOA')
      .map(({ name, type, ttl, records }) => `${name} ${type} ${ttl} ${records.map((r) => r.content).sort()}`)
      .sort();
  beforeAll(async () => {
    server = await startPowerdns();
    await server.createZone('empty.example');
    await server.createZone('used.example');
    const set = (name: string, type: string, content: string) => ({
      ...{ name, type, ttl: 60, changetype: 'REPLACE', records: [{ content, disabled: false }] },
    });
    await server.api('PATCH', '/zones/used.example.', {
      rrsets: [
        set('www.used.example.', 'A', '192.0.2.1'),
        set('zoneward-check-www.used.example.', 'A', '192.0.2.1'),
        set('*.used.example.', 'TXT', '"of somebody"'),
      ],
    });
  });
  afterAll(() => server?.stop());

  it('looks, and changes nothing unless it is told to', async () => {
    const { code, out } = await run(['powerdns', 'empty.example'], credentials());
    assert.equal(code, 0, out);
    assert.match(out, /2 zones; empty\.example holds \d records, 0 beside its name servers\nNothing was changed\./);
    assert.ok(!out.includes(server.apiKey));
  });

  it('refuses to try the apex of a zone in use, a label in use, unknown zones and wrong credentials', async () => {
    const before = await held('used.example');
    const refused = async (words: string[], why: RegExp, env = credentials()) => {
      const { code, out } = await run(['powerdns', ...words], env);
      assert.equal(code, 1, out);
      assert.match(out, why);
    };
    await refused(['--zone', 'used.example', '--write', '--apex'], /it is not empty/);
    const mine = ['--label', 'zoneward-check-www'];
    await refused(['--zone', 'used.example', '--write', ...mine], /records at or below zoneward-check-www/);
    // a label that could not be cleaned up is not written to
    for (const how of ['--write', '--clean'])
      await refused(['--zone', 'used.example', how, '--label', 'www'], /--label: zoneward-check- and more letters/);
    await refused(['--zone', 'used.example', '--clean'], /--clean needs --zone, and the --label/);
    await refused(['--zone', 'other.example'], /other\.example is none of the 2 zones/);
    await refused(['--make-zone', 'used.example'], /used\.example is there already/);
    await refused(['--zone', 'used.example'], /credentials were not taken/, {
      ...credentials(),
      CHECK_API_KEY: 'wrong',
    });
    const none = await run(['powerdns', 'used.example']);
    assert.match(none.out, /set CHECK_URL, CHECK_API_KEY/);
    assert.deepEqual(await held('used.example'), before);
  });

  it('takes a zone in use, leaves it as it was, and reports each check', async () => {
    const before = await held('used.example');
    const { code, out } = await run(['powerdns', '--zone', 'used.example', '--write'], credentials());
    assert.equal(code, 0, out);
    assert.deepEqual(await held('used.example'), before);
    const report = reportOf('powerdns');
    assert.ok(report.counts.passed > 40 && report.checks.every((one) => one.ms >= 0 && one.result === 'passed'));
    assert.deepEqual(report.cleanup.left, []);
    assert.match(report.cleanup.others, /as they were/);
    assert.ok(report.date && report.version);
    for (const text of [...texts('powerdns'), out]) assert.ok(!text.includes(server.apiKey));
    for (const text of texts('powerdns')) assert.ok(!text.includes('used.example') && !text.includes(server.url));
  });

  it('makes a zone, tries its apex too, and removes it', async () => {
    const { code, out } = await run(
      ['powerdns', '--make-zone', 'made.example', '--apex', '--only', ' (A|MX|NS): create'],
      credentials(),
    );
    assert.equal(code, 0, out);
    assert.equal((await server.api('GET', '/zones/made.example.')).status, 404);
    assert.equal(reportOf('powerdns').counts.failed, 0);
  });

  it('removes what it made when it is interrupted, and says what it had found', async () => {
    const before = await held('used.example');
    let seen: Promise<string[]> | undefined;
    const label = ['--label', 'zoneward-check-cut'];
    const { code, out } = await run(
      ['powerdns', '--zone', 'used.example', '--write', ...label],
      credentials(),
      (printed, kill) => {
        if (seen || !printed.includes('passed: A: create')) return;
        seen = held('used.example');
        kill('SIGINT');
        kill('SIGTERM');
      },
    );
    assert.equal(code, 130, out);
    assert.deepEqual(await held('used.example'), before);
    const report = reportOf('powerdns');
    assert.match(report.ended, /broken off by SIG/);
    assert.ok(report.checks.length >= 1);
  });

  it('cleans up below a label of an earlier run, and nothing else', async () => {
    const before = await held('used.example');
    const records = [{ content: '192.0.2.9', disabled: false }];
    const names = ['zoneward-check-old', 'a.zoneward-check-old', 'xzoneward-check-old'];
    const rrsets = names.map((name) => ({
      ...{ name: `${name}.used.example.`, type: 'A', ttl: 60, changetype: 'REPLACE', records },
    }));
    await server.api('PATCH', '/zones/used.example.', { rrsets });
    const words = ['powerdns', '--zone', 'used.example', '--clean', '--label', 'zoneward-check-old'];
    const { code, out } = await run(words, credentials());
    assert.equal(code, 0, out);
    assert.match(out, /2 records were removed/);
    assert.deepEqual(
      await held('used.example'),
      [...before, 'xzoneward-check-old.used.example. A 60 192.0.2.9'].sort(),
    );
  });
});

describe('npm run provider:check, with the API of a vendor', () => {
  const TOKEN = 'a-token-for-the-tests';
  const ACCOUNT = '0123456789abcdef0123456789abcdef';
  const file = join(out, 'credentials.json');
  let vendor: Awaited<ReturnType<typeof startCloudflareApi>>;
  let real: (typeof vendor)['handler'];
  const store = (content: unknown, mode = 0o600) => {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(file, mode);
  };
  beforeAll(async () => {
    vendor = await startCloudflareApi();
    real = vendor.handler;
    const more = { proxied: false, proxiable: true, ttl: 300, comment: 'mine', tags: [], settings: {} };
    const times = { created_on: '2025-01-01T00:00:00Z', modified_on: '2025-01-01T00:00:00Z' };
    vendor.records.push(
      { id: 'f'.repeat(32), name: 'www.contract.example', type: 'A', content: '192.0.2.1', ...more, ...times },
      { id: 'e'.repeat(32), name: 'contract.example', type: 'TXT', content: '"of somebody"', ...more, ...times },
    );
  });
  beforeEach(() => {
    vendor.handler = real;
    store({ cloudflare: { api_token: TOKEN, endpoint: vendor.url } });
  });
  afterAll(() => vendor?.stop());
  const check = (...more: string[]) =>
    run(['cloudflare', '--zone', 'contract.example', '--credentials', file, ...more]);

  it('takes credentials from a file that nobody else can read, and quotes none of it', async () => {
    assert.equal((await check()).code, 0);
    store({ api_token: TOKEN, endpoint: vendor.url }, 0o644);
    const open = await check();
    assert.deepEqual([open.code, /chmod 600/.test(open.out)], [1, true], open.out);
    assert.equal((await check('--insecure')).code, 0);
    store(`{"api_token": ${TOKEN}}`);
    const broken = await check();
    assert.match(broken.out, /is not JSON/);
    store({ hetzner: { api_token: TOKEN } });
    const others = await check();
    assert.match(others.out, /holds nothing of cloudflare/);
    for (const { out } of [open, broken, others]) assert.ok(!out.includes('a-token'), out);
  });

  it('cleans up after checks that failed, and reports in the words of the vendor, without its secrets', async () => {
    const before = structuredClone(vendor.records);
    const words = `No: ${TOKEN} of ${ACCOUNT}, ada@company.example, account 123456789012`;
    const no = { status: 400, body: { success: false, errors: [{ code: 9999, message: words }], result: null } };
    // the vendor refuses one text, and the change of an address, which leaves a record there
    vendor.handler = (request) => {
      const text = JSON.stringify(request.body ?? '');
      if (text.includes('0012')) return no;
      return /PATCH|PUT|batch/.test(`${request.method}${request.path}`) && text.includes('198.51.100.7')
        ? no
        : real(request);
    };
    const only = ['--only', ' A: create|AAAA: create|MX target|TXT with quotes|a number'];
    const { code, out } = await check('--write', ...only);
    assert.equal(code, 1, out);
    assert.deepEqual(vendor.records, before);
    const report = reportOf('cloudflare');
    const failed = report.checks.filter(({ result }) => result === 'failed');
    // the next checks are not hit by what the first one left
    assert.deepEqual(
      failed.map(({ name }) => name),
      ['A: create, read, update value, priority and TTL, delete'],
    );
    assert.match(failed[0]?.words ?? '', /No: \*\*\* of \*\*\*, \*\*\*, account \*\*\* \(code 9999\)/);
    const refused = report.checks.filter(({ result }) => result === 'refused').map(({ name }) => name);
    assert.deepEqual(refused, ['TXT that is a number comes back as it was']);
    const passed = report.checks.length - 2;
    assert.deepEqual(report.counts, { passed, failed: 1, refused: 1 });
    for (const text of [out, texts('cloudflare')[1]])
      assert.match(text ?? '', RegExp(`${passed} passed, 1 failed, 1 refused`));
    assert.ok(report.notTried.some((one) => /^TXT that is a number: refused: No: \*\*\*/.test(one)));
    assert.deepEqual(report.cleanup.left, []);
    assert.match(report.cleanup.others, /as they were/);
    for (const text of texts('cloudflare'))
      for (const secret of [TOKEN, ACCOUNT, vendor.url, 'ada@', '123456789012', 'contract.example', root])
        assert.ok(!text.includes(secret), secret);
    assert.ok(!out.includes(TOKEN));
  });

  it('lists what could not be removed', async () => {
    const before = vendor.records.length;
    const no = { status: 403, body: { success: false, errors: [{ code: 1004, message: 'Not now' }], result: null } };
    const kept = () => vendor.records.filter(({ name }) => name.startsWith('two.'));
    vendor.handler = (request) => {
      const text = `${request.path} ${JSON.stringify(request.body ?? '')}`;
      const deletes = request.method === 'DELETE' || text.includes('"deletes"');
      return deletes && kept().some(({ id }) => text.includes(id)) ? no : real(request);
    };
    const { code, out } = await check('--write', '--label', 'zoneward-check-kept', '--only', 'one by one|MX target');
    assert.equal(code, 1, out);
    const { left } = reportOf('cloudflare').cleanup;
    assert.ok(
      left.length > 0 && left.every((one) => /^A at two\.zoneward-check-kept: .*Not now/.test(one)),
      left.join(),
    );
    assert.match(out, /try again: .* --clean --label zoneward-check-kept/);
    vendor.handler = real;
    const again = await check('--clean', '--label', 'zoneward-check-kept');
    assert.equal(again.code, 0, again.out);
    assert.equal(vendor.records.length, before);
  });
});

describe('npm run provider:check, with a zone whose making is not answered', () => {
  let server: Awaited<ReturnType<typeof startTechnitium>>;
  let real: (typeof server)['handler'];
  beforeAll(async () => {
    server = await startTechnitium();
    real = server.handler;
  });
  afterAll(() => server?.stop());
  /** Makes the zone in which the answer to its making is lost. */
  const make = async (answer: (path: string) => Answer | undefined) => {
    server.handler = async (request) => {
      const refused = answer(request.path);
      if (refused) return refused;
      const made = await real(request);
      return request.path === '/api/zones/create' ? { ...made, breakAfter: 3 } : made;
    };
    const credentials = { CHECK_URL: server.url, CHECK_TOKEN: 'a-token' };
    return run(['technitium', '--make-zone', 'lost.example'], credentials);
  };
  const failure = { body: { status: 'error', errorMessage: 'Not now.' } };

  it('removes it', async () => {
    const { code, out } = await make(() => undefined);
    assert.equal(code, 1, out);
    assert.match(out, /could not be made: .*\nthe zone lost\.example was there all the same, and was removed/s);
    assert.deepEqual(server.world.zones, ['contract.example']);
    assert.deepEqual([reportOf('technitium').counts.failed, reportOf('technitium').cleanup.left], [1, []]);
  });

  it('lists it where it cannot be removed, or looked for', async () => {
    const kept = await make((path) => (path === '/api/zones/delete' ? failure : undefined));
    assert.equal(kept.code, 1, kept.out);
    assert.match(kept.out, /left behind: the zone lost\.example: .*Not now/);
    assert.deepEqual(server.world.zones, ['contract.example', 'lost.example']);
    assert.match(`${reportOf('technitium').cleanup.left}`, /^the zone zone\.example: .*Not now/);
    server.world.zones.pop();
    let made = false;
    const hidden = await make((path) => {
      if (path === '/api/zones/list' && made) return failure;
      made ||= path === '/api/zones/create';
      return undefined;
    });
    assert.match(hidden.out, /left behind: maybe the zone lost\.example: .*Not now/);
  });

  it('says just what is wrong where it was refused', async () => {
    server.world.zones.splice(1);
    const { code, out } = await make((path) => (path === '/api/zones/create' ? failure : undefined));
    assert.deepEqual(
      [code, /could not be made: .*Not now/.test(out), out.includes('left behind')],
      [1, true, false],
      out,
    );
  });
});
