import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { openDatabase } from '../support/database.js';
import { AA, address, answerTo, type Hostile, RRTYPE, startHostile } from '../support/hostile.js';
import { type Service, startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, until } from '../support/world.js';

const RESOLVER = '127.31.2.1';

/** Why a process cannot be given a resolv.conf of its own here, if so. */
function noNamespaces(): string | undefined {
  try {
    execFileSync('unshare', ['-m', 'mount', '--bind', '/etc/hosts', '/etc/resolv.conf'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'not allowed to mount: the process is to have a resolver of its own';
  }
}

describeUnless(noNamespaces())('names that a silent name server is to resolve', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-lookups-'));
  let resolver: Hostile;
  let cloudflare: Cloudflare;
  let service: Service;
  let db: Db;
  let close: () => Promise<void>;

  beforeAll(async () => {
    cloudflare = await startCloudflare('a.example');
    resolver = await startHostile([RESOLVER], 53, (asked) => {
      if (asked.name.endsWith('silent.test.')) return null;
      const ours = ['vendor.inner.test.', 'vendor.test.'].includes(asked.name);
      if (!ours) return [answerTo(asked, [[]], AA | 3)];
      return [answerTo(asked, [asked.type === RRTYPE.A ? [{ type: RRTYPE.A, rdata: address('127.0.0.1') }] : []])];
    });
    const [resolvConf, hosts] = [join(folder, 'resolv.conf'), join(folder, 'hosts')];
    // the system's own resolver would wait for minutes
    writeFileSync(resolvConf, `nameserver ${RESOLVER}\nsearch inner.test\noptions timeout:30 attempts:5\n`);
    writeFileSync(hosts, '127.0.0.1 localhost\n127.0.0.1 listed.test other\n');
    const mount = `mount --bind ${resolvConf} /etc/resolv.conf && mount --bind ${hosts} /etc/hosts && exec "$@"`;
    service = await startProcess('sqlite', {}, ['unshare', '-m', 'sh', '-c', mount, 'sh']);
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
    await resolver?.stop();
    await cloudflare?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const add = (host: string) => {
    const endpoint = cloudflare.url.replace('127.0.0.1', host);
    return addAccount(service.admin, 'cloudflare', { api_token: 't', endpoint });
  };
  const silent = () =>
    new Set(resolver.asked.filter(({ name }) => name.endsWith('silent.test.')).map(({ name }) => name));

  it('hold up no other call by name: 50 hosts whose certificates are watched', async () => {
    const { admin } = service;
    const domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'silent.test', true);
    const changes = Array.from({ length: 50 }, (_, i) => ({
      op: 'create' as const,
      ...{ host: `h${i}`, type: 'A', value: '192.0.2.1' },
    }));
    done(await admin.post(`/api/domains/${domain}/records/batch`, { changes }));
    done(await admin.put(`/api/domains/${domain}`, { watch_certificates: true }));
    await db.run(`UPDATE jobs SET next_at = ? WHERE name = 'expiry.certificates'`, [now()]);
    await until('the hosts are looked up', async () => silent().size >= 8);
    await add('vendor.test');
    assert.ok(cloudflare.requests.length > 0);
    // others are still waited for
    assert.ok(silent().size < 50, String(silent().size));
    // they come to their end, and leave their places to the next ones
    await until('more are looked up', async () => silent().size >= 16);
  });

  it('are found in the list of hosts and the search domains of the machine, as operators write them', async () => {
    for (const host of ['localhost', 'listed.test', 'other', 'vendor']) await add(host);
    const names = new Set(resolver.asked.map(({ name }) => name));
    assert.ok(names.has('vendor.inner.test.'));
    assert.ok(!names.has('vendor.') && !names.has('listed.test.') && !names.has('localhost.'), [...names].join(' '));
  });

  it('that nobody has are told as such', async () => {
    const answer = await service.admin.post('/api/accounts', {
      provider: 'cloudflare',
      name: 'x',
      credentials: { api_token: 't', endpoint: 'http://nobody.test' },
    });
    assert.match(answer.msg, /The host name nobody\.test cannot be resolved/);
  });

  it('that a name server says nothing of are given up, and told as such', async () => {
    const answer = await service.admin.post('/api/accounts', {
      provider: 'cloudflare',
      name: 'x',
      credentials: { api_token: 't', endpoint: 'http://vendor.silent.test' },
    });
    assert.match(answer.msg, /The host name vendor\.silent\.test cannot be resolved/);
  });
});
