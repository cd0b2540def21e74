import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { LocalServer, type Service, startService } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';
import { type Handler, type StandIn, startStandIn } from '../support/vendor.js';
import { done } from '../support/world.js';

/** `localhost.` is a name that not every system knows */
const REFUSED =
  /not allowed|(localhost\.|\*\*\*) cannot be resolved|The host name is not known|must be an? http or https URL without (user name|query)/;

/** One address in all its spellings, for URLs and for fields that hold a host. */
const LOOPBACK = [
  '127.0.0.1',
  '127.1',
  '127.255.0.9',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '017700000001',
  '0177.0.0.01',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:7f00:1]',
  '[::7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'localhost.',
  'LOCALHOST',
];
const NEVER = [
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::]',
  '[fe80::1]',
  '100.100.100.200',
  '[fd00:ec2::254]',
  '0.0.0.0',
  '0',
  '[::]',
  '224.0.0.1',
  '255.255.255.255',
];
const PRIVATE = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '167772161', '[fd00::1]', '[::ffff:10.0.0.1]', '[fc00::1]'];
/** neither private nor anybody's */
const RESERVED = ['100.64.0.1', '192.0.2.1', '198.18.0.1', '240.0.0.1', '[2001:db8::1]', '[fec0::1]', '[100::1]'];
const bare = (host: string) => host.replace(/^\[|\]$/g, '');

/** Points one kind of outbound call at a host. @returns what is told of it */
type Kind = (service: Service, host: string) => Promise<string>;

const channel =
  (type: string, config: (host: string) => object): Kind =>
  async ({ admin }, host) => {
    const channels = [{ id: 'it', type, name: 'x', config: config(host) }];
    const answer = await admin.put('/api/settings/notifications', { channels });
    if (answer.status === 400) return answer.msg;
    done(answer);
    return done(await admin.post('/api/settings/notifications/it/test')).message;
  };
const account =
  (provider: string, credentials: (host: string) => object): Kind =>
  async ({ admin }, host) =>
    (await admin.post('/api/accounts', { provider, name: 'x', credentials: credentials(host) })).msg;

/** What comes from outside: private addresses only where OUTBOUND_ALLOW lists them. */
const OUTSIDE: Record<string, Kind> = {
  webhook: channel('webhook', (host) => ({ url: `http://${host}:9/` })),
  telegram: channel('telegram', (host) => ({ api_url: `http://${host}:9`, token: '1:a', chat_id: '1' })),
  slack: channel('slack', (host) => ({ url: `https://${host}:9/x` })),
  discord: channel('discord', (host) => ({ url: `https://${host}:9/x` })),
  dingtalk: channel('dingtalk', (host) => ({ url: `https://${host}:9/x?access_token=y`, secret: 'z' })),
  feishu: channel('feishu', (host) => ({ url: `https://${host}:9/x`, secret: 'z' })),
  wecom: channel('wecom', (host) => ({ url: `https://${host}:9/x?key=y` })),
};
/** What administrators set and what usually lives on private networks; OUTBOUND_DENY narrows it. */
const INSIDE: Record<string, Kind> = {
  'provider by URL': account('powerdns', (host) => ({ url: `http://${host}:9`, api_key: 'x' })),
  'provider by host': account('rfc2136', (host) => ({
    server: bare(host),
    port: '9',
    tsig_name: 'key.',
    tsig_secret: 'c2VjcmV0',
    zones: 'example.com',
  })),
  'mail server': async ({ admin }, host) => {
    done(await admin.put('/api/settings/smtp', { host: bare(host), port: 9, from: 'a@example.com' }));
    return done(await admin.post('/api/settings/smtp/test', { to: 'a@example.com' })).message;
  },
  'identity provider': async ({ admin, server }, host) => {
    const provider = { key: 'x', name: 'x', issuer: `https://${host}:9`, client_id: 'x' };
    const answer = await admin.put('/api/settings/oauth', { enabled: true, providers: [provider] });
    if (answer.status === 400) return answer.msg;
    return (await server.call('POST', '/api/auth/oauth/start', { provider: 'x' })).msg;
  },
};

const afterTest = atEndOfTest();
const receiver = async (handler?: Handler): Promise<StandIn> => {
  const standIn = await startStandIn(handler);
  afterTest(() => standIn.stop());
  return standIn;
};
/** A service for all tests of a part: a process has one at a time. */
const withService = (env: Record<string, string>): { service: Service } => {
  const here = {} as { service: Service };
  beforeAll(async () => {
    here.service = await startService('sqlite', env);
  });
  afterAll(() => here.service?.stop());
  return here;
};

describe('outbound calls, while nothing is configured', () => {
  const here = withService({});
  for (const [kind, point] of Object.entries(OUTSIDE))
    it(`${kind}: only to public addresses`, async () => {
      for (const host of [...LOOPBACK, ...NEVER, ...PRIVATE, ...RESERVED])
        assert.match(await point(here.service, host), REFUSED, host);
    });
  for (const [kind, point] of Object.entries(INSIDE))
    it(`${kind}: never to link-local, unspecified or metadata addresses`, async () => {
      for (const host of NEVER) assert.match(await point(here.service, host), REFUSED, host);
      assert.doesNotMatch(await point(here.service, '127.0.0.1'), REFUSED);
    });
});

describe('outbound calls, while networks are denied', () => {
  const DENY = '127.0.0.0/8,::1/128,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7';
  const here = withService({ OUTBOUND_DENY: DENY, OUTBOUND_ALLOW: DENY });
  for (const [kind, point] of Object.entries({ ...INSIDE, webhook: OUTSIDE.webhook as Kind }))
    it(`${kind}: to none of them`, async () => {
      for (const host of [...LOOPBACK, ...PRIVATE]) assert.match(await point(here.service, host), REFUSED, host);
    });

  it('a name and a password before the host, or what looks like another host, leads nowhere', async () => {
    const urls = [
      'http://hooks.example.com@127.0.0.1:9/',
      'http://hooks.example.com:80@127.0.0.1:9/',
      'http://a:b@hooks.example.com/',
      'http://127.0.0.1:9#@hooks.example.com/',
      'http://127.0.0.1:9\\@hooks.example.com/',
      'http://①②⑦.⓪.⓪.①/',
      'http://127。0。0。1/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:9/',
    ];
    for (const url of urls) {
      assert.match(await channel('webhook', () => ({ url }))(here.service, ''), /not allowed|URL/, url);
      assert.match(
        await account('powerdns', () => ({ url, api_key: 'x' }))(here.service, ''),
        /not allowed|URL|user name/,
        url,
      );
    }
  });
});

describe('outbound calls of the setup flow', () => {
  it('a database of the setup flow: the same', async () => {
    const fresh = await LocalServer.start({ OUTBOUND_DENY: '127.0.0.0/8,::1/128' });
    afterTest(async () => {
      await fresh.stop();
      rmSync(fresh.dataDir, { recursive: true, force: true });
    });
    for (const host of [...LOOPBACK, ...NEVER].map(bare)) {
      const postgresql = { host, port: 9, database: 'x', user: 'x', password: 'x' };
      const { data, msg } = await fresh.call('POST', '/api/init/test-db', { type: 'postgresql', postgresql });
      assert.match(`${msg} ${JSON.stringify(data)}`, REFUSED, host);
    }
  });
});

describe('outbound calls to an address that is allowed', () => {
  const here = withService({ OUTBOUND_ALLOW: '127.0.0.1/32' });

  it('what is allowed is called, and a redirect is followed by nobody', async () => {
    const elsewhere = await receiver(() => ({ body: { ok: true } }));
    const { url } = await receiver(() => ({ status: 307, headers: { location: elsewhere.url } }));
    const { service } = here;
    const { host } = new URL(url);
    const told = [
      await channel('webhook', () => ({ url }))(service, ''),
      await channel('slack', () => ({ url }))(service, ''),
      await account('powerdns', () => ({ url, api_key: 'x' }))(service, ''),
    ];
    for (const words of told) assert.match(words, /HTTP 307/);
    const provider = { key: 'x', name: 'x', issuer: `http://${host}`, client_id: 'x' };
    done(await service.admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
    assert.equal((await service.server.call('POST', '/api/auth/oauth/start', { provider: 'x' })).status, 500);
    assert.equal(elsewhere.requests.length, 0);
    // other addresses of the same network are not
    assert.match(
      await channel('webhook', () => ({ url: url.replace('127.0.0.1', '127.0.0.2') }))(service, ''),
      REFUSED,
    );
  });
});

/** Calls a name four times, of which the system's resolver says something else each time; prints what was told. */
const REBINDING = `
  import dns from 'node:dns/promises';
  let asked = 0;
  dns.Resolver.prototype.resolve4 = async () => [asked++ % 2 ? '127.0.0.2' : '127.0.0.1'];
  dns.Resolver.prototype.resolve6 = async () => [];
  const { outboundAgent } = await import(process.argv[1] + '/platform/outbound/agent.js');
  const { parseCidr } = await import(process.argv[1] + '/platform/common/cidr.js');
  const { request } = await import('undici');
  const dispatcher = outboundAgent([], 5000, [parseCidr('127.0.0.1')]);
  const told = [];
  for (let i = 0; i < 4; i++)
    told.push(await request(process.argv[2], { dispatcher }).then((a) => a.statusCode, (e) => e.message));
  console.log(JSON.stringify([asked, ...told]));
  await dispatcher.destroy();
`;

describe('a name that changes its mind between check and connection', () => {
  it('is asked once for each connection, which leads to what was checked', async () => {
    const wanted = await receiver(() => ({ status: 204, headers: { connection: 'close' } }));
    const { port } = new URL(wanted.url);
    let reached = 0;
    const trap = createServer((_request, response) => {
      reached++;
      response.end();
    });
    await new Promise<void>((listening) => trap.listen(Number(port), '127.0.0.2', listening));
    afterTest(() => new Promise((closing) => trap.close(closing)));
    // a process of its own: no server here makes the system's resolver change its mind
    const built = join(import.meta.dirname, '../../dist/src');
    const args = ['--input-type=module', '-e', REBINDING, built, `http://rebinding.example:${port}/`];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const not = 'Connections to rebinding.example are not allowed (outbound rules)';
    assert.deepEqual(JSON.parse(stdout), [4, 204, not, 204, not]);
    assert.deepEqual([wanted.requests.length, reached], [2, 0]);
  });
});
