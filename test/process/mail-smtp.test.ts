import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { freePort } from '../support/bind.js';
import { stopClock } from '../support/clock.js';
import { addUser, openDatabase } from '../support/database.js';
import { startProcess, startService } from '../support/server.js';
import {
  type Certificate,
  decodedWords,
  makeCertificates,
  type Smtp,
  type SmtpOptions,
  startSmtp,
} from '../support/smtp.js';
import { until } from '../support/until.js';
import { done, made, refused } from '../support/world.js';

const PASSWORD = 'mail-secret-8f2c';
const TO = 'somebody@example.com';

describe('mail server settings', () => {
  let service: Awaited<ReturnType<typeof startProcess>>;
  let certificates: ReturnType<typeof makeCertificates>;
  let localhost: Certificate;
  let elsewhere: Certificate;
  let db: Db;
  let close: () => Promise<void>;
  const started: Smtp[] = [];

  beforeAll(async () => {
    certificates = makeCertificates();
    localhost = certificates.issue('localhost');
    elsewhere = certificates.issue('elsewhere.example');
    // a process of its own: Node reads its trusted authorities at the start
    service = await startProcess('sqlite', { NODE_EXTRA_CA_CERTS: localhost.ca, OUTBOUND_DENY: '192.0.2.0/24' });
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
  });
  afterAll(async () => {
    await close();
    await service.stop();
    for (const server of started) await server.stop();
    certificates.remove();
  });

  const set = async (settings: object) => done(await service.admin.put('/api/settings/smtp', settings));
  const test = async (to: unknown = TO) => service.admin.post('/api/settings/smtp/test', { to });
  /** A mail server, set up in the service but not switched on. */
  async function setUp(options: SmtpOptions, settings: object = {}): Promise<Smtp> {
    const server = await startSmtp({ host: 'localhost', ...options });
    started.push(server);
    const { port } = server;
    const security = options.security ?? 'none';
    const plain = { enabled: false, username: '', password: null, from: 'Zoneward <dns@example.com>' };
    await set({ ...plain, host: 'localhost', port, security, ...settings });
    return server;
  }
  const succeeds = async (server: Smtp) => {
    const { success, message } = done(await test());
    assert.ok(success, message);
    assert.equal(server.mails.length, 1);
    assert.deepEqual([server.mails[0]?.from, server.mails[0]?.to], ['dns@example.com', [TO]]);
  };
  const fails = async (words: RegExp) => {
    const { success, message } = done(await test());
    assert.equal(success, false, message);
    assert.match(message, words);
    assert.doesNotMatch(message, new RegExp(`${PASSWORD}|\\n|\\bat .*\\.js`));
    return message as string;
  };

  it('says which field is missing', async () => {
    assert.match(refused(await test(), 400, 400001).msg, /^host: /);
    await set({ host: 'localhost' });
    assert.match(refused(await test(), 400, 400001).msg, /^from: /);
  });

  it('sends over a plain connection while mail is off, and logs it', async () => {
    const server = await setUp({});
    await succeeds(server);
    assert.deepEqual(server.sessions, [{ secure: false, user: undefined }]);
    const [entry] = done(await service.admin.get('/api/audit/logs?action=settings.smtp_test')).list;
    assert.equal(entry?.after?.success, true);
  });

  it('uses no TLS when it is turned off', async () => {
    const server = await setUp({ security: 'starttls', certificate: elsewhere }, { security: 'none' });
    await succeeds(server);
    assert.equal(server.sessions[0]?.secure, false);
  });

  for (const security of ['starttls', 'tls'] as const) {
    const login = (user: string, password: string) =>
      user === 'mailer' && password === PASSWORD ? null : `535 no such login: ${user} ${password}`;
    it(`sends over ${security} with a login`, async () => {
      const options = { security, certificate: localhost, authentication: true, login };
      const server = await setUp(options, { username: 'mailer', password: PASSWORD });
      await succeeds(server);
      assert.deepEqual(server.sessions, [{ secure: true, user: 'mailer' }]);
    });

    it(`refuses the certificate of another name over ${security}`, async () => {
      const server = await setUp({ security, certificate: elsewhere });
      await fails(/certificate of localhost:\d+ is not trusted: .*altnames/);
      assert.equal(server.mails.length, 0);
    });

    it(`refuses an unknown authority over ${security}`, async () => {
      const other = makeCertificates();
      try {
        const server = await setUp({ security, certificate: other.issue('localhost') });
        await fails(/certificate of localhost:\d+ is not trusted/);
        assert.equal(server.mails.length, 0);
      } finally {
        other.remove();
      }
    });

    it(`reports that a login was refused over ${security}, and does not repeat the password`, async () => {
      const options = { security, certificate: localhost, authentication: true };
      const say = (_user: string, password: string) =>
        `535 not ${password}, nor ${Buffer.from(password).toString('base64')}`;
      await setUp({ ...options, login: say }, { username: 'mailer', password: PASSWORD });
      assert.match(await fails(/refused user name or password: 535/), /535 not \*\*\*, nor \*\*\*/);
    });
  }

  it('never falls back to plain text', async () => {
    const server = await setUp({}, { security: 'starttls', username: 'mailer', password: PASSWORD });
    await fails(/does not offer STARTTLS/);
    await set({ security: 'tls' });
    await fails(/TLS with localhost:\d+ failed; check/);
    assert.equal(server.mails.length, 0);
  });

  it('reports that a login is required', async () => {
    await setUp({ authentication: true });
    await fails(/demands a login/);
  });

  it('reports that STARTTLS is required', async () => {
    await setUp({ recipient: () => '530 Must issue a STARTTLS command first' });
    await fails(/demands STARTTLS/);
  });

  it('reports that a recipient was refused or deferred', async () => {
    const server = await setUp({ recipient: (address) => `550 no ${address} here` });
    await fails(/refused the recipient: 550 no somebody@example.com here/);
    server.behaviour.recipient = () => '451 later';
    await fails(/put off the recipient: 451 later/);
  });

  it('reports that nothing listens', async () => {
    await setUp({}, { port: await freePort() });
    await fails(/cannot be reached: connection refused/);
  });

  it('answers although the server does not', async () => {
    const server = await startSmtp({ slow: 60_000 });
    started.push(server);
    // in this process, whose clock the test controls
    const local = await startService('sqlite');
    const clock = stopClock();
    try {
      const settings = { host: '127.0.0.1', port: server.port, security: 'none', from: 'dns@example.com' };
      done(await local.admin.put('/api/settings/smtp', settings));
      const tested = local.admin.post('/api/settings/smtp/test', { to: TO });
      await until('the limit runs', () => clock.isWaiting(9_500));
      // who waits gets an answer within ten seconds
      await clock.advance(9_999);
      const { success, message } = done(await tested);
      assert.equal(success, false);
      assert.match(message, /did not answer in time/);
    } finally {
      clock.release();
      await local.stop();
    }
    assert.equal(server.mails.length, 0);
  });

  it('obeys the outbound rules', async () => {
    for (const host of ['169.254.169.254', '192.0.2.7']) {
      await setUp({}, { host });
      await fails(/not allowed \(outbound rules\)/);
    }
    await setUp({}, { host: 'no-such-host.invalid' });
    await fails(/cannot be resolved/);
  });

  it('accepts one address and nothing else', async () => {
    const server = await setUp({});
    for (const to of [
      undefined,
      null,
      '',
      5,
      ['a@example.com'],
      { address: 'a@example.com' },
      'a@example.com,b@example.com',
      'a@example.com;b@example.com',
      'A <a@example.com>',
      'a@example.com (comment)',
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com\n',
      'a@example.com\r',
      'a@exa mple.com',
      'group: a@example.com;',
      '"a b"@example.com',
      'a\u0000@example.com',
      'a@example.com\u0085',
      'example.com',
    ]) {
      refused(await service.admin.post('/api/settings/smtp/test', { to }), 400, 400001);
    }
    refused(await service.admin.post('/api/settings/smtp/test', { to: TO, from: TO }), 400, 400001);
    assert.equal(server.mails.length, 0);
  });

  it('allows no line ends in sender and site name', async () => {
    for (const from of [
      'a@example.com\r\nBcc: b@example.com',
      'A\r\nBcc: b <a@example.com>',
      'a@example.com,b@example.com',
    ])
      refused(await service.admin.put('/api/settings/smtp', { from }), 400, 400001);
    for (const site_name of [
      'Zone\r\nBcc: b@example.com',
      'Zone\nward',
      'Zone\rward',
      'Zone\u2028ward',
      'Zone\u0007ward',
    ])
      refused(await service.admin.put('/api/settings', { site_name }), 400, 400001);
  });

  it('treats names as plain text, in subject and sender', async () => {
    const site_name = 'Ümläut: <b>区域</b> =?utf-8?Q?x=0D=0AX-Evil:_1?=';
    done(await service.admin.put('/api/settings', { site_name, language: 'zh' }));
    const server = await setUp({}, { from: 'Gruppe: Zoneward; (x) <dns@example.com>' });
    await succeeds(server);
    const [mail] = server.mails;
    assert.ok(mail);
    const names = mail.headers.map(([name]) => name);
    assert.deepEqual(names.toSorted(), [
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
      'x-auto-response-suppress',
    ]);
    const from = mail.headers.find(([name]) => name === 'from')?.[1] ?? '';
    assert.match(decodedWords(from), /^"?Gruppe: Zoneward; \(x\)"? <dns@example.com>$/);
    assert.match(mail.subject, /^Ümläut: .*：测试邮件$/);
    assert.match(mail.text, /邮件功能正常/);
    assert.match(mail.html, /&lt;b&gt;区域&lt;\/b&gt;/);
    assert.doesNotMatch(mail.html, /<b>/);
    done(await service.admin.put('/api/settings', { site_name: 'Zoneward', language: 'en' }));
  });

  it('is allowed to signed-in administrators only', async () => {
    await addUser(db, { username: 'plain', password: 'plain-secret' });
    const plain = await service.server.login({ username: 'plain', password: 'plain-secret' });
    refused(await service.server.as(plain).post('/api/settings/smtp/test', { to: TO }), 403, 403001);
    const { token } = made(await service.admin.post('/api/tokens', { name: 'ci' }));
    refused(await service.server.as(token).post('/api/settings/smtp/test', { to: TO }), 403, 403001);
    refused(await service.server.call('POST', '/api/settings/smtp/test', { to: TO }), 401, 401001);
  });

  it('leaves no password in the log', () => {
    assert.doesNotMatch(service.server.log, new RegExp(PASSWORD));
  });
});
