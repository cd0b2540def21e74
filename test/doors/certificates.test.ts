import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { freePort, missing } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { snippetOf, textsAt, tokenOf } from '../support/doors.js';
import type { Key } from '../support/nsupdate.js';
import { type Pebble, startPebble } from '../support/pebble.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Answer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addDomain, done, made, startWorld, type World } from '../support/world.js';

const noTools = noPowerdns || missing('pebble', 'lego', 'certbot', 'dehydrated', 'curl', 'openssl') || false;

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noTools)(`certificates of a real ACME server by doors, on ${kind}`, () => {
    let world: World;
    let pebble: Pebble;
    let folder: string;
    let token: string;
    let key: Key;

    beforeAll(async () => {
      world = await startWorld(kind, { DNS_PORT: String(await freePort()), DNS_HOST: '127.0.0.1' });
      done(await world.admin.put('/api/settings/doors', { rfc2136: { enabled: true } }));
      await world.pdns.createZone('example.net');
      await addDomain(world.admin, world.account, 'example.net');
      pebble = await startPebble(world.pdns.dnsPort);
      folder = await mkdtemp(join(tmpdir(), 'zoneward-certificates-'));
      const only = { allowed_domains: [world.domain], preset: { name: 'acme' } };
      token = await tokenOf(world.admin, ['acme'], only);
      const dns = { name: 'dns', allowed_services: ['rfc2136'], ...only };
      const answer = (await world.admin.post('/api/tokens', dns)) as Answer<{ tokenData: { id: number } }>;
      const path = `/api/tokens/${made(answer).tokenData.id}/tsig-key` as '/api/tokens/{id}/tsig-key';
      key = made(await world.admin.post(path, {}));
      // what a snippet cannot know of this test's ACME server
      const at = (path: string) => join(folder, path);
      const more = `--config-dir ${at('certbot')} --work-dir ${at('work')} --logs-dir ${at('logs')}`;
      await wrap('certbot', `"$@" -n --agree-tos -m you@example.com --server ${pebble.url} --no-verify-ssl ${more}`);
      const resolver = `--dns.resolvers 127.0.0.1:${world.pdns.dnsPort} --dns.disable-cp`;
      await wrap('lego', `--accept-tos --server ${pebble.url} --path ${at('lego')} ${resolver} "$@"`);
    });
    afterAll(async () => {
      await pebble?.stop();
      await world?.stop();
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    const wrap = async (program: string, args: string) => {
      await mkdir(join(folder, 'bin'), { recursive: true });
      const file = join(folder, 'bin', program);
      await writeFile(file, `#!/bin/sh\nexec /usr/bin/${program} ${args}\n`);
      await chmod(file, 0o755);
    };

    /** What a shell prints, and whether it succeeds. */
    const shell = (script: string) =>
      new Promise<{ ok: boolean; output: string }>((resolve) => {
        const PATH = `${join(folder, 'bin')}:/usr/sbin:/usr/bin:/bin`;
        const options = { cwd: folder, env: { PATH, HOME: folder, LEGO_CA_CERTIFICATES: pebble.ca }, timeout: 120_000 };
        execFile('/bin/sh', ['-c', script], options, (error, stdout, stderr) =>
          resolve({ ok: !error, output: stdout + stderr }),
        );
      });

    const namesIn = (certificate: string): string[] => {
      const text = execFileSync('openssl', [
        'x509',
        '-noout',
        '-ext',
        'subjectAltName',
        '-in',
        join(folder, certificate),
      ]);
      return [...String(text).matchAll(/DNS:([^\s,]+)/g)].map(([, name]) => name as string).sort();
    };

    const cleaned = async () => assert.deepEqual(await textsAt(world, '_acme-challenge.example.com'), []);

    it('lego gets one for a zone and its wildcard, and cleans up', async () => {
      const { ok, output } = await shell(await snippetOf(world.admin, 'httpreq', 'lego', token));
      assert.ok(ok, output);
      assert.deepEqual(namesIn('lego/certificates/example.com.crt'), ['*.example.com', 'example.com']);
      await cleaned();
    });

    it('lego tells its user why it got none for another zone', async () => {
      const script = (await snippetOf(world.admin, 'httpreq', 'lego', token)).replaceAll('example.com', 'example.net');
      const { ok, output } = await shell(script);
      assert.equal(ok, false);
      assert.match(output, /403/);
      assert.match(output, /permission for this domain/);
    });

    it('certbot gets one by its hooks, and cleans up', async () => {
      const { ok, output } = await shell(await snippetOf(world.admin, 'httpreq', 'certbot', token));
      assert.ok(ok, output);
      assert.deepEqual(namesIn('certbot/live/example.com/cert.pem'), ['example.com']);
      await cleaned();
    });

    /** A snippet of the door rfc2136 with the key of the test. */
    const signed = async (tool: string) =>
      (await snippetOf(world.admin, 'rfc2136', tool, ''))
        .replaceAll('localhost', '127.0.0.1')
        .replaceAll('$KEY_NAME', key.name)
        .replaceAll('$KEY_SECRET', key.secret)
        .replace('propagation-seconds 30', 'propagation-seconds 1 --cert-name dns');

    const byUpdates = async () => {
      const sets = done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list;
      return sets.filter(({ door_key }) => door_key === 'rfc2136').length;
    };

    it('lego gets one by dynamic updates, and cleans up', async () => {
      const script = (await signed('lego')).replace('--domains example.com', "--domains '*.example.com'");
      const { ok, output } = await shell(script);
      assert.ok(ok, output);
      assert.deepEqual(namesIn('lego/certificates/_.example.com.crt'), ['*.example.com']);
      await cleaned();
      assert.equal(await byUpdates(), 2);
    });

    it('lego tells its user why it got none by dynamic updates for another zone', async () => {
      const { ok, output } = await shell((await signed('lego')).replaceAll('example.com', 'example.net'));
      assert.equal(ok, false);
      assert.match(output, /REFUSED/);
    });

    it('certbot gets one by dynamic updates, and cleans up', async () => {
      const { ok, output } = await shell(await signed('certbot'));
      assert.ok(ok, output);
      assert.deepEqual(namesIn('certbot/live/dns/cert.pem'), ['example.com']);
      await cleaned();
      assert.equal(await byUpdates(), 4);
    });

    it('dehydrated gets one by its hook, and cleans up', async () => {
      const hook = join(folder, 'hook.sh');
      await writeFile(hook, await snippetOf(world.admin, 'httpreq', 'dehydrated', token));
      await chmod(hook, 0o755);
      const config = [`CA=${pebble.url}`, `BASEDIR=${folder}/dehydrated`, 'CURL_OPTS=-k', 'KEYSIZE=2048'].join('\n');
      await mkdir(join(folder, 'dehydrated'));
      await writeFile(join(folder, 'config'), `${config}\n`);
      const use = 'dehydrated --config ./config';
      const asked = `--cron --challenge dns-01 --hook ./hook.sh --domain "example.com *.example.com"`;
      const { ok, output } = await shell(`${use} --register --accept-terms && ${use} ${asked} --alias both`);
      assert.ok(ok, output);
      assert.deepEqual(namesIn('dehydrated/certs/both/cert.pem'), ['*.example.com', 'example.com']);
      assert.match(await readFile(hook, 'utf8'), /present/);
      await cleaned();
    });
  });
