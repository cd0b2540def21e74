import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { missing } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { basic, logOf, type Said, say, snippetOf, tokenOf } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { ask as askDns, done, made, refused, startWorld, type World } from '../support/world.js';

const HOST = 'home.example.com';
const noClients = noPowerdns || missing('/usr/bin/ddclient', '/usr/sbin/inadyn') || false;

/** What a program prints, and how it ends. */
const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const options = { env: { PATH: '/usr/sbin:/usr/bin:/bin', ...env }, timeout: 60_000 };
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });

const at = async ({ pdns }: World, name: string, type: 'A' | 'AAAA'): Promise<string[]> =>
  (await askDns(pdns.dnsPort, name, type)).map(({ rdata }) => rdata).sort();

const writesOf = ({ proxy }: World): number => proxy.requests.filter(({ method }) => method === 'PATCH').length;

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the door dyndns2, on ${kind}`, () => {
    let world: World;
    let token: string;

    beforeAll(async () => {
      world = await startWorld(kind, { TRUSTED_PROXIES: '127.0.0.1' });
      token = await tokenOf(world.admin, ['ddns'], { preset: { name: 'ddns', host: 'home' } });
    });
    afterAll(() => world.stop());
    beforeEach(() => {
      world.proxy.fault = null;
    });

    const ask = (query: string, secret = token, path = '/nic/update'): Promise<Said> =>
      say(`${world.server.url}${path}?${query}`, 'GET', { authorization: basic(secret) });
    const words = async (query: string, secret = token) => (await ask(query, secret)).text;

    it('gives a host its address, once, and says so', async () => {
      const answer = await ask(`hostname=${HOST}&myip=192.0.2.1`);
      assert.deepEqual([answer.status, answer.text, answer.type], [200, 'good 192.0.2.1', 'text/plain; charset=utf-8']);
      // ddclient 3.10 misreads pieces
      assert.equal(answer.headers.get('content-length'), String(answer.text.length));
      const before = [writesOf(world), world.proxy.requests.length, (await logOf(world)).length];
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.1`), 'nochg 192.0.2.1');
      assert.deepEqual([writesOf(world), world.proxy.requests.length, (await logOf(world)).length], before);
      assert.equal((await ask(`hostname=${HOST}&myip=192.0.2.2`, token, '/v3/update')).text, 'good 192.0.2.2');
      assert.deepEqual(await at(world, HOST, 'A'), ['192.0.2.2']);
      await world.agree();
      const [set] = done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list;
      assert.deepEqual([set?.door, set?.door_key], ['door', 'dyndns2']);
    });

    it('sets IPv4 and IPv6 together, and leaves the one alone that is not named', async () => {
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.3,2001:DB8::1`), 'good 192.0.2.3,2001:db8::1');
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.3&myipv6=2001:db8::2`), 'good 192.0.2.3,2001:db8::2');
      assert.equal(await words(`hostname=${HOST}&myip=2001:db8::3`), 'good 2001:db8::3');
      assert.deepEqual([await at(world, HOST, 'A'), await at(world, HOST, 'AAAA')], [['192.0.2.3'], ['2001:db8::3']]);
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.3&myipv6=2001:db8::3`), 'nochg 192.0.2.3,2001:db8::3');
    });

    it('moves the IPv6 addresses of a host to another network, each with its own end', async () => {
      await words(`hostname=${HOST}&myip=2001:db8:1:2:a:b:c:d`);
      assert.equal(await words(`hostname=${HOST}&ip6lanprefix=2001:db8:77::/48`), 'good 2001:db8:77:2:a:b:c:d');
      assert.equal(await words(`hostname=${HOST}&myipv6=2001:db8:5:ff60::/59`), 'good 2001:db8:5:ff62:a:b:c:d');
      assert.equal(await words(`hostname=${HOST}&ip6lanprefix=2001:db8:5:ff60::/59`), 'nochg 2001:db8:5:ff62:a:b:c:d');
      assert.deepEqual(await at(world, HOST, 'AAAA'), ['2001:db8:5:ff62:a:b:c:d']);
    });

    it('keeps the TTL of an address, and takes the peer where none is named', async () => {
      const { list } = done(await world.admin.get(`${world.records}?host=home&type=A`));
      done(await world.admin.put(`${world.records}/${list[0]?.id as number}`, { ttl: 77 }));
      const from = { authorization: basic(token), 'x-forwarded-for': '192.0.2.77' };
      assert.equal((await say(`${world.server.url}/nic/update?hostname=${HOST}`, 'GET', from)).text, 'good 192.0.2.77');
      assert.deepEqual(
        (await askDns(world.pdns.dnsPort, HOST, 'A')).map(({ ttl, rdata }) => [ttl, rdata]),
        [[77, '192.0.2.77']],
      );
      const user = { authorization: basic(token, HOST) };
      assert.equal((await say(`${world.server.url}/nic/update?myip=192.0.2.9`, 'GET', user)).text, 'good 192.0.2.9');
      const form = { ...user, 'content-type': 'application/x-www-form-urlencoded' };
      const posted = await say(`${world.server.url}/nic/update`, 'POST', form, `hostname=${HOST}&myip=192.0.2.10`);
      assert.equal(posted.text, 'good 192.0.2.10');
      // a form that says nothing leaves the query as it is, and a host in two spellings is one
      const both = `hostname=${HOST},${HOST.toUpperCase()}.&myip=192.0.2.8`;
      assert.equal(
        (await say(`${world.server.url}/nic/update?${both}`, 'POST', user, '')).text,
        'good 192.0.2.8\ngood 192.0.2.8',
      );
    });

    it('replaces several addresses of a host by the one', async () => {
      made(await world.admin.post(world.records, { host: 'home', type: 'A', value: '192.0.2.50' }));
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.11`), 'good 192.0.2.11');
      assert.deepEqual(await at(world, HOST, 'A'), ['192.0.2.11']);
      const path = `${world.server.url}/nic/update?hostname=${HOST}&myip=192.0.2.12`;
      await fetch(path, { method: 'HEAD', headers: { authorization: basic(token) } });
      assert.deepEqual(await at(world, HOST, 'A'), ['192.0.2.11']);
    });

    it('answers a line for each of several hosts, in their order, and writes those of a zone in one list', async () => {
      const all = await tokenOf(world.admin, ['ddns']);
      const before = writesOf(world);
      const answer = await words(
        `hostname=a.example.com,x.example.net,b.example.com,a.example.com&myip=192.0.2.1`,
        all,
      );
      assert.equal(answer, 'good 192.0.2.1\nnohost\ngood 192.0.2.1\ngood 192.0.2.1');
      assert.equal(writesOf(world) - before, 1);
      assert.equal(await words('hostname=*.dyn.example.com&myip=192.0.2.1', all), 'good 192.0.2.1');
    });

    it('has a word for each refusal', async () => {
      const freeze = (ms: number) => ({
        ...{ from: new Date(Date.now() - 60_000).toISOString(), until: new Date(Date.now() + ms).toISOString() },
        reason: 'audit',
      });
      const hosts = Array.from({ length: 21 }, (_, i) => `h${i}.example.com`).join();
      const table: [string, number, string][] = [
        ['hostname=mail.example.com&myip=192.0.2.1', 200, '!yours'],
        ['hostname=home.example.net&myip=192.0.2.1', 200, 'nohost'],
        ['hostname=home&myip=192.0.2.1', 200, 'notfqdn'],
        ['hostname=a..example.com&myip=192.0.2.1', 200, 'notfqdn'],
        ['myip=192.0.2.1', 200, 'notfqdn'],
        [`hostname=${hosts}&myip=192.0.2.1`, 200, 'numhost'],
        [`hostname=${HOST}&myip=192.0.2.256`, 200, 'badsys'],
        [`hostname=${HOST}&myip=1`, 200, 'badsys'],
        // of a request without an address it is the one that the request comes from, 127.0.0.1
        [`hostname=${HOST}`, 200, 'badsys'],
        ...[
          '0.0.0.0',
          '127.0.0.2',
          '169.254.1.1',
          '224.0.0.1',
          '255.255.255.255',
          '::',
          '::1',
          'fe80::1',
          'ff02::1',
          '::ffff:127.0.0.1',
          'fe80::/64',
        ].map((address): [string, number, string] => [`hostname=${HOST}&myip=${address}`, 200, 'badsys']),
        [`hostname=${HOST}&hostname=b.example.com`, 200, 'notfqdn'],
        [`hostname=${HOST}&offline=YES`, 200, '!donator'],
        [`hostname=${HOST}&myip=192.0.2.1&password=x`, 401, 'badauth'],
      ];
      for (const [query, status, word] of table) {
        const answer = await ask(query);
        assert.deepEqual([query, answer.status, answer.text], [query, status, word]);
      }
      for (const method of ['GET', 'POST']) {
        const page = { authorization: basic(token), 'sec-fetch-site': 'cross-site' };
        const answer = await say(`${world.server.url}/nic/update?hostname=${HOST}&myip=192.0.2.1`, method, page);
        assert.equal(answer.text, 'badauth', method);
      }
      const stranger = await ask(`hostname=${HOST}&myip=192.0.2.1`, `svc_${'0'.repeat(64)}`);
      assert.deepEqual([stranger.status, stranger.text], [401, 'badauth']);
      const inQuery = await say(
        `${world.server.url}/nic/update?hostname=${HOST}&username=x&password=${token}`,
        'GET',
        {},
      );
      assert.deepEqual([inQuery.status, inQuery.text], [401, 'badauth']);
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.99`), 'dnserr');
      world.proxy.fault = null;
      const path = `/api/domains/${world.domain}` as const;
      done(await world.admin.put(path, { freeze: freeze(60_000) }));
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.98`), '911');
      done(await world.admin.put(path, { freeze: null, approval: { for: 'all', by: { role: 2 }, own: true } }));
      for (const address of ['192.0.2.97', '192.0.2.97', '192.0.2.96'])
        assert.equal(await words(`hostname=${HOST}&myip=${address}`), '911');
      // the newest address is the one that somebody is asked about
      const { list } = done(await world.admin.get(`${path}/plans?state=waiting`));
      assert.deepEqual(
        list.map(({ door_key }) => door_key),
        ['dyndns2'],
      );
      done(await world.admin.post(`/api/plans/${list[0]?.id as number}/approve`, {}));
      assert.equal(await words(`hostname=${HOST}&myip=192.0.2.96`), 'nochg 192.0.2.96');
      done(await world.admin.put(path, { approval: { for: 'none' } }));
      made(await world.admin.post(world.records, { host: 'alias', type: 'CNAME', value: 'example.com' }));
      assert.equal(
        await words('hostname=alias.example.com&myip=192.0.2.1', await tokenOf(world.admin, ['ddns'])),
        'dnserr',
      );
    });

    it('leaves each refused host in the log', async () => {
      await words('hostname=mail.example.com,home.example.net&myip=192.0.2.1');
      const [second, first] = await logOf(world);
      for (const [entry, name, domain] of [
        [first, 'mail.example.com', 'example.com'],
        [second, 'home.example.net', null],
      ] as const) {
        assert.deepEqual([entry?.action, entry?.result, entry?.door], ['record.update', 'failed', 'dyndns2']);
        assert.deepEqual([entry?.target?.name, entry?.domain], [name, domain]);
      }
    });

    it('opens nothing else to its token', async () => {
      refused(await world.server.as(token).get('/api/domains'), 403, 403001);
      refused(
        await world.server.as(token).post(world.records, { host: 'home', type: 'A', value: '192.0.2.1' }),
        403,
        403001,
      );
      assert.equal(
        (await say(`${world.server.url}/doors/httpreq/present`, 'POST', { authorization: basic(token) }, {})).status,
        403,
      );
    });

    describeUnless(noClients)('clients of Debian, as GET /api/doors says', () => {
      let folder: string;
      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'zoneward-doors-'));
      });
      afterAll(() => rm(folder, { recursive: true, force: true }));

      const ddclient = async (secret: string, address: string) => {
        const text = (await snippetOf(world.admin, 'dyndns2', 'ddclient', secret))
          .replace(/^use=.*$/m, `use=ip, ip=${address}`)
          .replace('localhost', '127.0.0.1');
        const file = join(folder, 'ddclient.conf');
        await writeFile(file, `${text}\n`, { mode: 0o600 });
        const cache = join(folder, `ddclient.${address}.cache`);
        const args = [
          '-daemon=0',
          '-noquiet',
          '-verbose',
          '-file',
          file,
          '-cache',
          cache,
          '-pid',
          join(folder, 'd.pid'),
        ];
        return run('/usr/bin/ddclient', args);
      };

      it('ddclient gives a host its address, and tells its user what is wrong', async () => {
        const good = await ddclient(token, '192.0.2.21');
        assert.match(good.output, /good: IPv?4? ?address set to 192\.0\.2\.21|SUCCESS.*192\.0\.2\.21/i);
        assert.deepEqual(await at(world, HOST, 'A'), ['192.0.2.21']);
        const wrong = await ddclient(`svc_${'0'.repeat(64)}`, '192.0.2.22');
        assert.match(wrong.output, /FAILED.*(authorization|401)/i);
        assert.deepEqual(await at(world, HOST, 'A'), ['192.0.2.21']);
      });

      it('inadyn gives a host its address, and tells its user what is wrong', async () => {
        const inadyn = async (secret: string, address: string) => {
          const text = await snippetOf(world.admin, 'dyndns2', 'inadyn', secret);
          const file = join(folder, 'inadyn.conf');
          const source = `checkip-command = "/bin/echo ${address}"`;
          await writeFile(file, text.replace(/\n}/, `\n    ${source}\n}`));
          const args = [
            '-1',
            '-n',
            '-l',
            'debug',
            '-f',
            file,
            '--cache-dir',
            join(folder, address),
            '-P',
            join(folder, 'i'),
          ];
          return run('/usr/sbin/inadyn', [...args, '--force']);
        };
        const good = await inadyn(token, '192.0.2.31');
        assert.deepEqual(await at(world, HOST, 'A'), ['192.0.2.31'], good.output);
        const wrong = await inadyn(`svc_${'0'.repeat(64)}`, '192.0.2.32');
        assert.match(wrong.output, /auth|401/i);
        assert.deepEqual(await at(world, HOST, 'A'), ['192.0.2.31']);
      });
    });
  });
