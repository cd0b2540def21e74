import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { missing } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { basic, say, snippetOf } from '../support/doors.js';
import { dig, type Key } from '../support/nsupdate.js';
import { type Pebble, startPebble } from '../support/pebble.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import {
  hostOf,
  type PageRow,
  quotedIn,
  ROWS,
  type Row,
  rowsOf,
  startTroubles,
  type Troubles,
  WRONG,
} from '../support/troubles.js';
import { done } from '../support/world.js';

const PROGRAMS = ['pebble', 'lego', 'certbot', 'dehydrated', 'curl', 'openssl', 'dig'];
const noTools = noPowerdns || missing(...PROGRAMS, '/usr/bin/ddclient', '/usr/sbin/inadyn') || false;

/** How a client ended, and what it showed. */
interface Ended {
  code: number;
  output: string;
}

/** What a client is to do. */
interface Try {
  row: Row;
  host: string;
  /** it was tried before, and failed or not */
  isAgain?: boolean;
}

interface Client {
  name: string;
  door: string;
  run(one: Try): Promise<Ended>;
}

/** What stays wrong until somebody mends the token. */
const LASTING = new Set<Row>(['wrong token', 'foreign host']);
const ACME = new Set(['lego', 'certbot', 'dehydrated']);
const NO_SECRET = Buffer.alloc(32).toString('base64');

/** The words that a client shows, as the door's page says: literally, or what is answered. None: all is well. */
function wordsFor(door: string, row: Row, client: string): string[] {
  const { answer, shows } = rowsOf(door).get(row) as PageRow;
  const said = shows.split('; ').find((part) => part.split(':')[0]?.split(', ').includes(client)) ?? '';
  return said.endsWith('status and sentence') ? answer.filter((word) => word !== 'Retry-After') : quotedIn(said);
}

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noTools)(`what clients show when a door fails, on ${kind}`, () => {
    let world: Troubles;
    let pebble: Pebble;
    let folder: string;
    let key: Key;
    /** of a token without rules, which may transfer */
    let reader: Key;
    let count = 0;
    const tokens = new Map<string, string>();

    const shell = (script: string, env: Record<string, string> = {}) =>
      new Promise<Ended>((resolve) => {
        const PATH = `${join(folder, 'bin')}:/usr/sbin:/usr/bin:/bin`;
        const all = { PATH, HOME: folder, LEGO_CA_CERTIFICATES: pebble.ca, ...env };
        execFile('/bin/sh', ['-c', script], { cwd: folder, env: all, timeout: 120_000 }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
        );
      });

    const wrap = async (program: string, args: string) => {
      await mkdir(join(folder, 'bin'), { recursive: true });
      const file = join(folder, 'bin', program);
      await writeFile(file, `#!/bin/sh\nexec /usr/bin/${program} ${args}\n`);
      await chmod(file, 0o755);
    };

    beforeAll(async () => {
      world = await startTroubles(kind);
      pebble = await startPebble(world.pdns.dnsPort);
      folder = await mkdtemp(join(tmpdir(), 'zoneward-errors-'));
      for (const service of ['acme', 'ddns', 'powerdns']) tokens.set(service, (await world.makeToken(service)).token);
      key = await world.makeKey((await world.makeToken('rfc2136')).id);
      reader = await world.makeKey((await world.makeToken('rfc2136', null)).id);
      const at = (path: string) => join(folder, path);
      const more = `--config-dir ${at('certbot')} --work-dir ${at('work')} --logs-dir ${at('logs')}`;
      await wrap('certbot', `"$@" -n --agree-tos -m you@example.com --server ${pebble.url} --no-verify-ssl ${more}`);
      const resolver = `--dns.resolvers 127.0.0.1:${world.pdns.dnsPort} --dns.disable-cp`;
      await wrap('lego', `--accept-tos --server ${pebble.url} --path ${at('lego')} ${resolver} "$@"`);
      const config = [`CA=${pebble.url}`, `BASEDIR=${folder}/dehydrated`, 'CURL_OPTS=-k', 'KEYSIZE=2048'].join('\n');
      await mkdir(at('dehydrated'));
      await writeFile(at('config'), `${config}\n`);
      await shell('dehydrated --config ./config --register --accept-terms');
    });
    afterAll(async () => {
      await pebble?.stop();
      await world?.stop();
      if (folder) await rm(folder, { recursive: true, force: true });
    });
    afterEach(() => world.calm());

    /** What `GET /api/doors` has for a tool, with a token that there is not where that is the row. */
    const paste = async (door: string, tool: string, { row, host }: Try, service = '') => {
      const token = row === 'wrong token' ? WRONG : (tokens.get(service) ?? '');
      return (await snippetOf(world.admin, door, tool, token))
        .replace(" --domains '*.example.com'", '')
        .replaceAll(/\b(home\.)?example\.com\b/g, host)
        .replaceAll(`you@${host}`, 'you@example.com')
        .replaceAll('localhost:', '127.0.0.1:')
        .replaceAll('= localhost', '= 127.0.0.1')
        .replaceAll('ahostsv4 localhost', 'ahostsv4 127.0.0.1')
        .replaceAll('$KEY_NAME', key.name)
        .replaceAll('$KEY_SECRET', row === 'wrong token' ? NO_SECRET : key.secret)
        .replace('propagation-seconds 30', 'propagation-seconds 1');
    };
    const clients: Client[] = [
      { name: 'lego', door: 'httpreq', run: async (one) => shell(await paste('httpreq', 'lego', one, 'acme')) },
      { name: 'certbot', door: 'httpreq', run: async (one) => shell(await paste('httpreq', 'certbot', one, 'acme')) },
      {
        name: 'dehydrated',
        door: 'httpreq',
        async run(one) {
          const hook = join(folder, 'hook.sh');
          await writeFile(hook, await paste('httpreq', 'dehydrated', one, 'acme'), { mode: 0o755 });
          return shell(`dehydrated --config ./config --cron --challenge dns-01 --hook ./hook.sh --domain ${one.host}`);
        },
      },
      { name: 'lego', door: 'powerdns', run: async (one) => shell(await paste('powerdns', 'lego', one, 'powerdns')) },
      { name: 'lego', door: 'rfc2136', run: async (one) => shell(await paste('rfc2136', 'lego', one)) },
      { name: 'certbot', door: 'rfc2136', run: async (one) => shell(await paste('rfc2136', 'certbot', one)) },
      {
        name: 'ddclient',
        door: 'dyndns2',
        async run(one) {
          const text = await paste('dyndns2', 'ddclient', one, 'ddns');
          const file = join(folder, 'ddclient.conf');
          await writeFile(file, `${text.replace(/^use=.*$/m, 'use=ip, ip=192.0.2.7')}\n`, { mode: 0o600 });
          const cache = join(folder, `${one.host}.cache`);
          const program = `ddclient -daemon=0 -noquiet -file ${file} -cache ${cache} -pid ${file}.pid`;
          if (!one.isAgain) return shell(program);
          // of itself it does not send the same address once more
          assert.match((await shell(`${program} -verbose`)).output, /skipped: IP address was already set/);
          return shell(`${program} -force`);
        },
      },
      {
        name: 'inadyn',
        door: 'dyndns2',
        async run(one) {
          const text = await paste('dyndns2', 'inadyn', one, 'ddns');
          const file = join(folder, 'inadyn.conf');
          await writeFile(file, text.replace(/\n}/, '\n    checkip-command = "/bin/echo 192.0.2.7"\n}'));
          const args = `-n -f ${file} --cache-dir ${join(folder, one.host)} -P ${file}.pid`;
          const once = await shell(`inadyn -1 ${args}`);
          if (!once.code) return once;
          // as the page says to run it: it stays
          const goesOn = `inadyn --continue-on-error ${args} >log 2>&1 & until grep -sqE 'ignoring|exiting' log`;
          const { output } = await shell(`rm -f log; ${goesOn}; do sleep 0.1; done; kill $!; cat log`);
          return { ...once, output };
        },
      },
      {
        name: 'dig',
        door: 'rfc2136',
        async run({ row }) {
          const by = row === 'foreign host' ? key : reader;
          const secret = row === 'wrong token' ? NO_SECRET : by.secret;
          const { output } = await dig(world.dnsPort, { ...by, secret }, 'example.com', 'AXFR', '+comments');
          return { code: / SOA /.test(output.replaceAll('\t', ' ')) ? 0 : 1, output };
        },
      },
    ];
    const spend: Record<string, () => Promise<unknown>> = {
      httpreq: () => {
        const body = { fqdn: '_acme-challenge.own.example.com.', value: 'x'.repeat(43) };
        return say(`${world.server.url}/doors/httpreq/cleanup`, 'POST', by('acme'), body);
      },
      powerdns: () =>
        say(`${world.server.url}/doors/powerdns/api/v1/servers`, 'GET', {
          'x-api-key': tokens.get('powerdns') as string,
        }),
      dyndns2: () => say(`${world.server.url}/nic/update?hostname=own.example.com&myip=192.0.2.7`, 'GET', by('ddns')),
      rfc2136: async () => {
        for (const one of [key, reader]) await dig(world.dnsPort, one, 'example.com', 'AXFR');
      },
    };
    const by = (service: string) => ({ authorization: basic(tokens.get(service) as string) });

    /** Agrees to what the client asked for; its next changes need to be agreed to as well. */
    const approve = async () => {
      const { list } = done(await world.admin.get(`/api/domains/${world.domain}/plans?state=waiting`));
      for (const { id } of list) await world.admin.post(`/api/plans/${id}/approve`, {});
    };

    for (const { name, door, run } of clients)
      for (const row of ROWS)
        it(`${name} at ${door}: ${row}`, async () => {
          const one = { row, host: `${hostOf(row)}${++count}.example.com` };
          const words = wordsFor(door, row, name);
          const check = ({ code, output }: Ended, fails: boolean) => {
            assert.equal(code !== 0, fails, output);
            if (fails) for (const word of words) assert.ok(output.includes(word), `${word}: ${output}`);
          };
          await world.provoke(row, () => (spend[door] as () => Promise<unknown>)());
          check(await run(one), words.length > 0);
          if (row === 'waits for approval') await approve();
          else await world.calm();
          // a new order of a certificate has another challenge, which waits as well
          check(
            await run({ ...one, isAgain: true }),
            LASTING.has(row) || (row === 'waits for approval' && ACME.has(name)),
          );
        });
  });
