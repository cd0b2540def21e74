import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord } from '../../../src/dns/record.js';
import { connectAdapter, connectProvider } from '../../../src/providers/connect.js';
import type { RrsetVerbs } from '../../../src/providers/kit/rrsets/from-rrsets.js';
import type { Change, DnsProvider } from '../../../src/providers/provider.js';
import { zonefile } from '../../../src/providers/zonefile/declaration.js';
import { ZoneFiles } from '../../../src/providers/zonefile/store.js';
import { missing, zoneText } from '../../support/bind.js';
import { connectOptions } from '../../support/connect-options.js';
import { itUnless } from '../../support/suites.js';
import { providerContract } from '../contract.js';

const ZONE = 'example.com';
const zone = { id: ZONE, name: ZONE };
/** ms for which locks are held without being renewed */
const LOCKS_MS = 25_000;

const optionsFor = (root: string, reloadCommand?: string) => ({
  ...connectOptions(3000),
  installation: { zonefile: { root, ...(reloadCommand && { reloadCommand }) } },
});

function open(root: string, more: { directory?: string; endpoint?: string; reloadCommand?: string } = {}): DnsProvider {
  const { reloadCommand, ...credentials } = more;
  return connectProvider(zonefile, credentials, optionsFor(root, reloadCommand));
}

const record = (host: string, type: string, value: string, ttl = 600): DnsRecord =>
  dnsRecord({ host, type, value, ttl }, ZONE);
const create = (...args: Parameters<typeof record>): Change => ({ op: 'create', after: record(...args) });

providerContract('zonefile', async () => {
  const root = await mkdtemp(join(tmpdir(), 'zoneward-zones-'));
  await writeFile(join(root, `${ZONE}.zone`), zoneText(ZONE));
  return { provider: open(root), definition: zonefile, zone, stop: () => rm(root, { recursive: true }) };
});

/**
 * Comments, groups, relative names, a TTL and an owner taken from the line before: all of it must survive an edit
 * elsewhere.
 */
const WRITTEN_BY_HAND = `; the zone of the example company
$TTL 1h
@\tIN SOA ns1 hostmaster (
\t\t2024010105 ; serial
\t\t1h 10m 2w 5m )
\tNS\tns1
\tNS\tns2 ; the second one

; web
www\tA\t192.0.2.1 ; first
\tA\t192.0.2.2 ; second
\tAAAA\t2001:db8::1
$ORIGIN sub.example.com.
deep\t5m TXT "one; two" "three" ; not a comment inside
$ORIGIN example.com.
ns1\tA\t192.0.2.53
ns2\tA\t192.0.2.54`;

describe('zonefile', () => {
  let root: string;
  let provider: DnsProvider;
  const file = () => join(root, `${ZONE}.zone`);
  const text = () => readFile(file(), 'utf8');
  const serial = async () => Number(/(\d+) ; serial/.exec(await text())?.[1]);

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'zoneward-zones-'));
    provider = open(root);
  });
  afterAll(() => rm(root, { recursive: true }));
  beforeEach(() => writeFile(file(), WRITTEN_BY_HAND));

  const done = async (...changes: Change[]) => {
    for (const outcome of await provider.apply(zone, changes)) assert.ok(outcome.ok, JSON.stringify(outcome));
  };
  const only = async (host: string, type: string) =>
    (await provider.listRecords(zone)).filter((r) => r.host === host && r.type === type);
  const one = async (host: string, type: string, value: string) => {
    const found = (await only(host, type)).find((r) => r.value === value);
    assert.ok(found, `${host} ${type} ${value}`);
    return found;
  };
  const rejected = async (changes: Change[], words: RegExp) => {
    const was = await text();
    const [outcome] = await provider.apply(zone, changes);
    assert.ok(outcome && !outcome.ok);
    assert.match(outcome.error.message, words);
    assert.equal(outcome.error.mayHaveApplied, false);
    assert.equal(await text(), was, 'the file is untouched');
  };

  it('changes the lines of the touched set and the serial, and nothing else', async () => {
    await done(create('www', 'A', '192.0.2.3', 3600), create('mail', 'A', '192.0.2.25'));
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    const expected = WRITTEN_BY_HAND.replace('2024010105', `${today}00`)
      .replace('\tAAAA', 'www.example.com. 3600 IN A 192.0.2.3\n\tAAAA')
      .concat('\nmail.example.com. 600 IN A 192.0.2.25\n');
    assert.equal(await text(), expected);
  });

  it('shows types that it does not write, and leaves their lines alone', async () => {
    const lines = [
      'a HINFO "PC" "Linux 6"',
      'a PX 10 mail txt.example.net.',
      'a AFSDB 1 afs',
      'a KX 1 target',
      'a LP 10 l64',
      'a CSYNC 1 3 A NS AAAA',
      `@ ZONEMD 2024010105 1 1 ${'ab'.repeat(48)}`,
      'a AMTRELAY 10 0 1 192.0.2.1',
      'a TYPE65280 \\# 3 abcdef',
    ];
    await writeFile(file(), `${WRITTEN_BY_HAND}\n${lines.join('\n')}\n`);
    const shown = async () =>
      (await provider.listRecords(zone)).filter((r) => r.readOnly).map((r) => `${r.host} ${r.type} ${r.value}`);
    const expected = lines.map((line) =>
      line.replace('10 mail ', '10 mail.example.com. ').replace(/ (afs|target|l64)$/, ' $1.example.com.'),
    );
    assert.deepEqual(await shown(), expected);
    await done(create('www', 'A', '192.0.2.3', 3600));
    assert.ok((await text()).endsWith(`${lines.join('\n')}\n`));
    assert.deepEqual(await shown(), expected);
  });

  it('makes no zone whose name the reload command would take for an option', async () => {
    await assert.rejects(Promise.resolve(provider.createZone?.('-c/tmp/x')), { kind: 'rejected' });
  });

  it('gives a line the owner that it took from a line that is gone', async () => {
    await done({ op: 'delete', before: await one('www', 'A', '192.0.2.1') });
    assert.match(await text(), /; web\nwww\.example\.com\. A\t192\.0\.2\.2 ; second\n\tAAAA/);
    await done({ op: 'delete', before: await one('www', 'A', '192.0.2.2') });
    assert.match(await text(), /; web\nwww\.example\.com\. AAAA\t2001:db8::1\n/);
    assert.equal((await only('www', 'AAAA')).length, 1);
  });

  it('gives a line the TTL that it took from a line that is gone', async () => {
    await writeFile(
      file(),
      '@ 300 SOA ns1 h 1 1 1 1 1\n@ NS ns.example.net.\na 60 A 192.0.2.1\nb A 192.0.2.2\nc A 192.0.2.3\n',
    );
    assert.deepEqual(
      (await provider.listRecords(zone)).map((r) => r.ttl),
      [300, 60, 60, 60],
    );
    await done({ op: 'delete', before: await one('a', 'A', '192.0.2.1') });
    assert.deepEqual(
      (await provider.listRecords(zone)).map((r) => r.ttl),
      [300, 60, 60],
    );
    assert.match(await text(), /\nb 60 {2}A 192\.0\.2\.2\nc A/);
  });

  it('raises the serial at every write: by date, by one, over the end of its range', async () => {
    const first = await serial();
    await done(create('a', 'A', '192.0.2.1'));
    const second = await serial();
    await done(create('b', 'A', '192.0.2.1'));
    assert.ok(first < second && second < (await serial()));
    for (const [current, next] of [
      ['7', '8'],
      ['4294967295', '1'],
      ['2099123199', '2099123200'],
    ]) {
      await writeFile(file(), WRITTEN_BY_HAND.replace('2024010105', String(current)));
      await done(create('c', 'A', '192.0.2.1'));
      assert.equal(String(await serial()), next);
    }
  });

  it('does not write when nothing changes', async () => {
    await done(create('www', 'A', '192.0.2.1', 3600));
    assert.equal(await text(), WRITTEN_BY_HAND);
  });

  it('keeps a disabled record as a comment', async () => {
    const www = await one('www', 'A', '192.0.2.1');
    await done({ op: 'update', before: www, after: { ...www, enabled: false } });
    assert.match(await text(), /^;zoneward:disabled www\.example\.com\. 3600 IN A 192\.0\.2\.1$/m);
    assert.deepEqual((await only('www', 'A')).map((r) => [r.value, r.enabled]).sort(), [
      ['192.0.2.1', false],
      ['192.0.2.2', true],
    ]);
  });

  itUnless(missing('named-checkzone'))('what it writes passes named-checkzone', async () => {
    const check = (name: string) =>
      execFileSync('named-checkzone', ['-i', 'local', '-k', 'fail', name, join(root, `${name}.zone`)]).toString();
    const www = await one('www', 'A', '192.0.2.1');
    await done(
      { op: 'update', before: www, after: { ...www, enabled: false } },
      create('@', 'CAA', '0 issue "ca.example.net"'),
      create('long', 'TXT', `"\\;()${'ü'.repeat(300)}`),
      create('_sip._tcp', 'SRV', '10 5 5060 sip.example.net'),
      create('svc', 'HTTPS', '1 . alpn="h2,h3" port=8443'),
    );
    assert.match(check(ZONE), /OK/);
    const created = await provider.createZone?.('new.example');
    assert.deepEqual(created, { id: 'new.example', name: 'new.example' });
    assert.match(check('new.example'), /OK/);
    await assert.rejects(async () => provider.createZone?.('new.example'), { kind: 'rejected' });
  });

  it('refuses what name servers would not load, the file staying as it is', async () => {
    await rejected([create('www', 'CNAME', 'target.example.net')], /CNAME beside/);
    const wildcard = { ...record('child', 'NS', 'ns1.example.net'), host: '*.child' };
    await rejected([{ op: 'create', after: wildcard }], /wildcard/);
    for (const value of ['ns1.example.com', 'ns2.example.com']) await one('@', 'NS', value);
    const [first, second] = await only('@', 'NS');
    assert.ok(first && second);
    await done({ op: 'delete', before: first });
    await rejected([{ op: 'delete', before: second }], /at least one NS/);
  });

  it('refuses files that it does not understand in full, and does not let them take other zones with them', async () => {
    await writeFile(join(root, 'other.example.zone'), zoneText('other.example'));
    for (const [line, words] of [
      ['$INCLUDE more.zone', /line 17: \$INCLUDE/],
      ['$GENERATE 1-9 a$ A 192.0.2.$', /line 17: \$GENERATE/],
      ['x A (192.0.2.1', /line 17: parentheses/],
      ['x TXT "open', /line 17: a quote/],
      ['x BOGUS data', /line 17: "BOGUS" is not a record type/],
      ['@ SOA a b 1 2 3 4 5', /SOA too many/],
    ] as const) {
      await writeFile(file(), `${WRITTEN_BY_HAND}\n${line}\n`.replace('; the zone of the example company\n', ''));
      await rejected([create('new', 'A', '192.0.2.1')], words);
      await assert.rejects(provider.listRecords(zone), words);
      assert.ok((await provider.listZones()).some((z) => z.name === 'other.example'));
    }
    await writeFile(file(), '');
    await assert.rejects(provider.listRecords(zone), /cut short/);
  });

  it('does not write over what somebody else wrote meanwhile', async () => {
    const verbs = (await connectAdapter(zonefile, {}, optionsFor(root))) as DnsProvider & RrsetVerbs;
    const [was] = await verbs.readSets(zone, [{ host: 'www', type: 'A' }]);
    assert.ok(was);
    await writeFile(file(), WRITTEN_BY_HAND.replace('192.0.2.1 ', '192.0.2.77 '));
    assert.equal(await verbs.replaceSets?.(zone, [{ ...was, members: [] }], [was]), false);
    assert.match(await text(), /192\.0\.2\.77/);

    // another process, between reading and renaming
    const files = new ZoneFiles(root, '.');
    const read = await files.read(ZONE);
    await writeFile(file(), WRITTEN_BY_HAND);
    assert.equal(await files.write(ZONE, Buffer.from('lost'), read), false);
    assert.equal(await text(), WRITTEN_BY_HAND);
  });

  it('keeps the mode, leaves no temporary file, and takes none for a zone', async () => {
    await chmod(file(), 0o640);
    await writeFile(join(root, '.0123456789abcdef.tmp'), 'left behind by a crash');
    await done(create('x', 'A', '192.0.2.1'));
    assert.equal((await stat(file())).mode & 0o777, 0o640);
    assert.deepEqual(
      (await readdir(root)).filter((name) => name.startsWith('.')),
      ['.0123456789abcdef.tmp'],
    );
    assert.ok((await provider.listZones()).every((z) => /^[a-z.]+$/.test(z.name)));
  });

  it('stays inside its directory', async () => {
    for (const directory of ['../x', '/etc', 'a/../../b', 'a\0b']) {
      await assert.rejects(open(root, { directory }).check(), { kind: 'rejected' });
      await assert.rejects(open(root, { endpoint: directory }).check(), { kind: 'rejected' });
    }
    await symlink(tmpdir(), join(root, 'out'));
    await assert.rejects(open(root, { directory: 'out' }).listZones(), { kind: 'rejected' });
    await assert.rejects(open(root, { directory: 'out/new' }).check(), { kind: 'rejected' });
    await symlink('/etc/hostname', join(root, 'link.example.zone'));
    const link = { id: 'link.example', name: 'link.example' };
    await assert.rejects(provider.listRecords(link), { kind: 'rejected', message: /symbolic link/ });
    const upwards = { id: '../etc', name: '../etc' };
    await assert.rejects(provider.listRecords(upwards), { kind: 'not_found' });
  });

  it('creates its directory at the check; a directory that is missing later is an error, not an empty list', async () => {
    const nested = open(root, { directory: 'a/b' });
    await nested.check();
    assert.deepEqual(await nested.listZones(), []);
    assert.deepEqual(await nested.createZone?.('0/25.2.0.192.in-addr.arpa').then((z) => [z]), await nested.listZones());
    await rm(join(root, 'a'), { recursive: true });
    await assert.rejects(nested.listZones(), { kind: 'unavailable' });
  });

  it('runs the reload command without a shell, and says when it fails although the file is written', async () => {
    await mkdir(join(root, 'reload'), { recursive: true });
    const good = open(root, { reloadCommand: `touch ${root}/reload/{zone};id` });
    assert.ok((await good.apply(zone, [create('r', 'A', '192.0.2.1')])).every((o) => o.ok));
    assert.deepEqual(await readdir(join(root, 'reload')), ['example.com;id']);
    const [outcome] = await open(root, { reloadCommand: 'false {zone}' }).apply(zone, [create('s', 'A', '192.0.2.1')]);
    assert.ok(outcome && !outcome.ok);
    assert.match(outcome.error.message, /written, but the reload command failed/);
    assert.equal(outcome.error.mayHaveApplied, true);
    assert.equal((await only('s', 'A')).length, 1);
  });

  it('writes a zone of fifty thousand records while the locks of the change are held', async () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `h${i} A 10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    await writeFile(file(), [WRITTEN_BY_HAND, ...lines, ''].join('\n'));
    // they are not renewed here
    const until = performance.now() + LOCKS_MS;
    const [outcome] = await provider.apply(zone, [create('h7', 'A', '192.0.2.7', 3600)], { heldUntil: () => until });
    assert.ok(outcome?.ok, JSON.stringify(outcome));
    assert.match(await text(), /\nh7 A 10\.0\.0\.7\nh7\.example\.com\. 3600 IN A 192\.0\.2\.7\nh8 A /);
  });

  it('reads and edits a zone of ten thousand records', async () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => `host${i}\tIN\tA\t192.0.2.${i % 256} ; number ${i}`);
    await writeFile(file(), `${WRITTEN_BY_HAND}\n${lines.join('\n')}\n`);
    assert.equal((await provider.listRecords(zone)).length, 10_008);
    await done(...Array.from({ length: 200 }, (_, i) => create(`host${i * 7}`, 'A', '198.51.100.1')));
    assert.equal((await provider.listRecords(zone)).length, 10_208);
  });
});
