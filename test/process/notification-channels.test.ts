import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { checkExport, parseCheckpoints } from '../../src/audit/export-check.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { LocalServer, ServerProcess, type Service, startService } from '../support/server.js';
import { startSmtp } from '../support/smtp.js';
import { atEndOfTest } from '../support/suites.js';
import { type Answer, type Received, type StandIn, startStandIn } from '../support/vendor.js';
import { done, refused, until } from '../support/world.js';

const PATH = '/api/settings/notifications';
const ENV = { OUTBOUND_ALLOW: '127.0.0.0/8', LOG_LEVEL: 'trace' };
const TOKEN = '4711:Planted-Bot-Token-Ibis-83';
const SECRET = 'Planted-Signing-Secret-Otter-29';
const KEY = 'Planted-Address-Key-Quokka-64';
const PLANTED = [TOKEN, SECRET, KEY];

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64');
const textAt = (body: unknown, ...path: string[]) =>
  String(path.reduce((at, key) => (at as Record<string, unknown>)[key], body));

describe('channels of notices', () => {
  let service: Service;
  let db: Db;
  let standIn: StandIn;
  let answer: Answer;
  const afterTest = atEndOfTest();

  beforeAll(async () => {
    service = await startService('sqlite', ENV);
    ({ db } = await openDatabase(service.databaseUrl, service.server.dataDir));
    standIn = await startStandIn(() => answer);
  });
  beforeEach(() => {
    answer = { status: 200, body: 'ok' };
    standIn.requests.length = 0;
  });
  afterAll(async () => {
    await standIn?.stop();
    await service?.stop();
  });

  const put = (...channels: object[]) => service.admin.put(PATH, { channels });
  const set = async (...channels: object[]) => done(await put(...channels)).channels;
  /** The path and code of each error. */
  const wrong = async (...channels: object[]) =>
    refused(await put(...channels), 400, 400001).data.errors.map(({ path, code }) => `${path} ${code}`);
  const test = async (id: string) => done(await service.admin.post(`${PATH}/${id}/test`));

  /** Each type as its vendor documents it: its configuration, the answer that accepts, and the expected request. */
  const TYPES: Record<string, { config: () => object; takes: Answer; arrives(request: Received): void }> = {
    webhook: {
      config: () => ({ url: `${standIn.url}/in`, secret: SECRET }),
      takes: { status: 204 },
      arrives: ({ path, body, headers }) => {
        assert.equal(path, '/in');
        assert.deepEqual([textAt(body, 'event'), headers['x-zoneward-event']], ['test', 'test']);
        const signed = `${headers['x-zoneward-timestamp']}.${JSON.stringify(body)}`;
        const hash = createHmac('sha256', SECRET).update(signed).digest('hex');
        assert.equal(headers['x-zoneward-signature'], `sha256=${hash}`);
      },
    },
    telegram: {
      config: () => ({ api_url: standIn.url, token: TOKEN, chat_id: '-100123' }),
      takes: { body: { ok: true, result: {} } },
      arrives: ({ path, body }) => {
        assert.equal(path, `/bot${TOKEN}/sendMessage`);
        assert.equal(textAt(body, 'chat_id'), '-100123');
        assert.match(textAt(body, 'text'), /^\[A & B <i> \*b\* ~s~ `c`\] test: This message/);
      },
    },
    slack: {
      config: () => ({ url: `${standIn.url}/services/T/B/${KEY}` }),
      takes: { body: 'ok' },
      arrives: ({ path, body }) => {
        assert.equal(path, `/services/T/B/${KEY}`);
        assert.match(textAt(body, 'text'), /^\[A &amp; B &lt;i&gt; ＊b＊ ～s～ ｀c｀\] test: /);
        assert.equal(textAt(body, 'mrkdwn'), 'false');
      },
    },
    discord: {
      config: () => ({ url: `${standIn.url}/api/webhooks/1/${KEY}` }),
      takes: { status: 204 },
      arrives: ({ body }) => {
        assert.match(textAt(body, 'content'), /^\\\[A & B <i\\> \\\*b\\\* \\~s\\~ \\`c\\`\\\] test: This message/);
        assert.equal(textAt(body, 'allowed_mentions', 'parse'), '');
      },
    },
    dingtalk: {
      config: () => ({ url: `${standIn.url}/robot/send?access_token=${KEY}`, secret: SECRET }),
      takes: { body: { errcode: 0, errmsg: 'ok' } },
      arrives: ({ query, body }) => {
        const { access_token, timestamp, sign } = query;
        assert.deepEqual([access_token, sign], [KEY, hmac(SECRET, `${timestamp}\n${SECRET}`)]);
        assert.match(String(timestamp), /^\d{13}$/);
        assert.match(textAt(body, 'text', 'content'), /test: This message/);
        assert.equal(textAt(body, 'msgtype'), 'text');
      },
    },
    feishu: {
      config: () => ({ url: `${standIn.url}/open-apis/bot/v2/hook/${KEY}`, secret: SECRET }),
      takes: { body: { code: 0, msg: 'success' } },
      arrives: ({ body }) => {
        const timestamp = textAt(body, 'timestamp');
        assert.match(timestamp, /^\d{10}$/);
        assert.equal(textAt(body, 'sign'), hmac(`${timestamp}\n${SECRET}`, ''));
        assert.match(textAt(body, 'content', 'text'), /^\[A & B ＜i> \*b\* ~s~ `c`\] test: /);
      },
    },
    wecom: {
      config: () => ({ url: `${standIn.url}/cgi-bin/webhook/send?key=${KEY}` }),
      takes: { body: { errcode: 0, errmsg: 'ok' } },
      arrives: ({ query, body }) => {
        assert.equal(query.key, KEY);
        assert.match(textAt(body, 'text', 'content'), /＜i> \*b\* ~s~ `c`\] test: This message/);
      },
    },
  };

  /** Answers that refuse, and what errors show of them; nothing else may be shown. */
  const REFUSALS: Record<string, [Answer, string][]> = {
    webhook: [
      [{ status: 500, body: 'a page of somebody else' }, 'HTTP 500'],
      [{ status: 302, headers: { location: '/elsewhere' } }, 'HTTP 302'],
    ],
    telegram: [
      [
        { status: 400, body: { ok: false, error_code: 400, description: 'chat not found' } },
        'chat not found, code 400, HTTP 400',
      ],
      [{ status: 200, body: 'a page of somebody else' }, 'HTTP 200'],
    ],
    slack: [
      [{ status: 403, body: 'invalid_token' }, 'invalid_token, HTTP 403'],
      [{ status: 404, body: 'a page of somebody else' }, 'HTTP 404'],
      [{ status: 302, headers: { location: `/elsewhere?${KEY}` } }, 'HTTP 302'],
    ],
    discord: [
      [{ status: 404, body: { message: 'Unknown Webhook', code: 10015 } }, 'Unknown Webhook, code 10015, HTTP 404'],
    ],
    dingtalk: [
      [
        { body: { errcode: 310000, errmsg: `sign not match ${KEY} ${SECRET}` } },
        'sign not match *** ***, code 310000, HTTP 200',
      ],
      [{ body: 'a page of somebody else' }, 'HTTP 200'],
    ],
    feishu: [
      [{ body: { code: 19021, msg: 'sign match fail' } }, 'sign match fail, code 19021, HTTP 200'],
      [{ body: {} }, 'HTTP 200'],
    ],
    wecom: [[{ body: { errcode: 93000, errmsg: 'invalid webhook url' } }, 'invalid webhook url, code 93000, HTTP 200']],
  };

  it('each type sends what its vendor documents', async () => {
    done(await service.admin.put('/api/settings', { site_name: 'A & B <i> *b* ~s~ `c`' }));
    for (const [type, { config, takes, arrives }] of Object.entries(TYPES)) {
      await set({ id: 'it', type, name: type, config: config(), enabled: false });
      answer = takes;
      standIn.requests.length = 0;
      assert.deepEqual(await test('it'), { success: true, message: 'The channel took the message' }, type);
      const [request] = standIn.requests as [Received];
      assert.deepEqual([request.method, request.headers['content-type']], ['POST', 'application/json'], type);
      arrives(request);
    }
    done(await service.admin.put('/api/settings', { site_name: 'Zoneward' }));
  });

  it('each type detects a refusal, also one with the status 200, and repeats only the error message of the vendor', async () => {
    assert.deepEqual(Object.keys(REFUSALS), Object.keys(TYPES));
    for (const [type, cases] of Object.entries(REFUSALS)) {
      await set({ id: 'it', type, name: type, config: TYPES[type]?.config() });
      for (const [refusal, told] of cases) {
        answer = refusal;
        assert.deepEqual(await test('it'), { success: false, message: `It was not taken: ${told}` }, type);
      }
    }
    assert.deepEqual(
      standIn.requests.filter(({ path }) => path === '/elsewhere'),
      [],
    );
  });

  it('no error shows any part of a secret address, not even its host', async () => {
    const host = 'planted-host-heron-35.invalid';
    for (const type of ['slack', 'discord', 'dingtalk', 'feishu', 'wecom']) {
      await set({ id: 'it', type, name: type, config: { url: `https://${host}/send/${KEY}?key=${KEY}` } });
      assert.deepEqual(await test('it'), { success: false, message: 'The host name *** cannot be resolved' }, type);
    }
    const audit = await service.admin.get('/api/audit/logs?limit=500&page=1');
    assert.equal((JSON.stringify(audit) + service.server.log).includes('heron'), false);
  });

  it('mail goes to all addresses at once', async () => {
    const smtp = await startSmtp();
    afterTest(() => smtp.stop());
    await set({ id: 'mail', type: 'email', name: 'Mail', config: { to: ['a@example.com', 'b@example.com'] } });
    assert.match((await test('mail')).message, /name no mail server/);
    const server = { host: '127.0.0.1', port: smtp.port, security: 'none', from: 'dns@example.com' };
    done(await service.admin.put('/api/settings/smtp', server));
    assert.equal((await test('mail')).success, true);
    assert.deepEqual(
      smtp.mails.map(({ to }) => to[0]),
      ['a@example.com', 'b@example.com'],
    );
  });

  it('secrets appear in no answer, audit log, log or database', async () => {
    const all = Object.entries(TYPES).filter(([type]) => type !== 'webhook');
    const hook = { id: 'hook', type: 'webhook', name: 'Hook', config: { url: standIn.url, secret: SECRET } };
    const channels = all.map(([type, { config }]) => ({ id: type, type, name: type, config: config() }));
    const answers: unknown[] = [await put(hook, ...channels), await service.admin.get(PATH)];
    answers.push(await put({ ...hook, config: { url: `ftp://x/${KEY}`, secret: [SECRET] } }));
    answers.push(await put({ ...channels[1], config: { url: `http://10.0.0.1/${KEY}` } }));
    for (const { id, config } of [hook, ...channels]) {
      // a vendor that echoes its request
      const words = PLANTED.filter((secret) => JSON.stringify(config).includes(secret)).join();
      answer = { status: 500, body: { errmsg: words, description: words, msg: words, message: words } };
      answers.push(await test(id));
    }
    await standIn.stop();
    for (const { id } of [hook, ...channels]) answers.push(await test(id));
    standIn = await startStandIn(() => answer);
    answers.push(await service.admin.get('/api/audit/logs?limit=500&page=1'));
    const tables = ['settings', 'audit_logs', 'deliveries'];
    for (const table of tables) answers.push(await db.rows(`SELECT * FROM ${table}`));
    const everything = JSON.stringify(answers) + service.server.log;
    for (const secret of PLANTED) assert.equal(everything.includes(secret), false, secret);
    const { channels: shown } = done(await service.admin.get(PATH));
    assert.deepEqual(Object.fromEntries(shown.map(({ type, config }) => [type, config])), {
      webhook: { url: hook.config.url, secret_set: true },
      telegram: { api_url: hook.config.url, token_set: true, chat_id: '-100123' },
      slack: { url_set: true },
      discord: { url_set: true },
      dingtalk: { url_set: true, secret_set: true },
      feishu: { url_set: true, secret_set: true },
      wecom: { url_set: true },
    });
    const [entry] = done(
      await service.admin.get('/api/audit/logs?action=settings.update&result=ok&limit=1&page=1'),
    ).list;
    const { after } = done(await service.admin.get(`/api/audit/logs/${entry?.id}`));
    assert.deepEqual(after, { channels: shown });
  });

  it('the audit log shows which secrets changed', async () => {
    const hook = { id: 'hook', type: 'webhook', name: 'Hook', config: { url: standIn.url, secret: SECRET } };
    const chat = { id: 'chat', type: 'slack', name: 'Chat', config: { url: `${standIn.url}/${KEY}` } };
    await set(hook, chat);
    const changed = async (...channels: object[]) => {
      assert.equal(JSON.stringify(await set(...channels)).includes('changed'), false);
      const [entry] = done(await service.admin.get('/api/audit/logs?action=settings.update&limit=1')).list;
      const told = entry?.after as { channels: { config: object }[] } | undefined;
      return told?.channels.map(({ config }) => config);
    };
    const url = standIn.url;
    assert.deepEqual(await changed({ ...hook, config: { url, secret: 'another one' } }, chat), [
      { url, secret_set: true, secret_changed: true },
      { url_set: true },
    ]);
    assert.deepEqual(await changed({ ...hook, config: { url } }, { ...chat, config: { url: `${url}/other` } }), [
      { url, secret_set: true },
      { url_set: true, url_changed: true },
    ]);
  });

  it('omitted secrets stay, null removes them, and they must be sent again when the address changes', async () => {
    const chat = { id: 'chat', type: 'dingtalk', name: 'Chat' };
    const url = `${standIn.url}/send?access_token=${KEY}`;
    await set({ ...chat, config: { url, secret: SECRET } });
    answer = { body: { errcode: 0 } };
    await set({ ...chat, name: 'Renamed', config: {} });
    await set({ ...chat, config: { url_set: true, secret_set: true } });
    assert.equal((await test('chat')).success, true);
    assert.ok(standIn.requests[0]?.query.sign);
    // the same address is no change
    await set({ ...chat, config: { url } });
    const elsewhere = `${url}x`;
    assert.deepEqual(await wrong({ ...chat, config: { url: elsewhere } }), ['channels.0.config.secret required']);
    assert.deepEqual(await wrong({ ...chat, config: { url_set: false } }), ['channels.0.config.url_set read_only']);
    const [moved] = await set({ ...chat, config: { url: elsewhere, secret: null } });
    assert.deepEqual(moved?.config, { url_set: true, secret_set: false });
    // a channel of another type, or another id, gets no stored secret
    await set({ ...chat, config: { url, secret: SECRET } });
    assert.deepEqual(await wrong({ ...chat, type: 'slack', config: {} }), ['channels.0.config.url required']);
    assert.deepEqual(await wrong({ ...chat, id: 'other', config: {} }), ['channels.0.config.url required']);
    const bot = { id: 'bot', type: 'telegram', name: 'Bot', config: { token: TOKEN, chat_id: '1' } };
    assert.equal((await set(bot))[0]?.config.api_url, 'https://api.telegram.org');
    assert.deepEqual(await wrong({ ...bot, config: { chat_id: '1', api_url: standIn.url } }), [
      'channels.0.config.token required',
    ]);
    const hook = { id: 'hook', type: 'webhook', name: 'Hook', config: { url: standIn.url, secret: SECRET } };
    await set(hook);
    assert.deepEqual(await wrong({ ...hook, config: { url: `${standIn.url}/other` } }), [
      'channels.0.config.secret required',
    ]);
    await set();
  });

  const HOOK = { type: 'webhook', name: 'Hook', config: { url: 'https://hooks.example.com' } };
  const WRONG: [string, object[], string[]][] = [
    ['a type that there is not', [{ ...HOOK, type: 'pager' }], ['channels.0.type choice']],
    ['an event that there is not', [{ ...HOOK, events: ['domain.expiring', 'x'] }], ['channels.0.events choice']],
    ['an unknown field', [{ ...HOOK, colour: 1 }], ['channels.0.colour unknown']],
    [
      'an unknown field of the configuration',
      [{ ...HOOK, config: { ...HOOK.config, x: 1 } }],
      ['channels.0.config.x unknown'],
    ],
    [
      'a field of another type',
      [{ ...HOOK, config: { ...HOOK.config, token: 'x' } }],
      ['channels.0.config.token unknown'],
    ],
    [
      'what is told of another type',
      [{ ...HOOK, config: { ...HOOK.config, url_set: true } }],
      ['channels.0.config.url_set unknown'],
    ],
    ['no configuration', [{ type: 'slack', name: 'x' }], ['channels.0.config required']],
    [
      'nothing of what is needed',
      [{ type: 'telegram', name: 'x', config: {} }],
      ['channels.0.config.token required', 'channels.0.config.chat_id required'],
    ],
    [
      'null for what is needed',
      [{ type: 'email', name: 'x', config: { to: null } }],
      ['channels.0.config.to required'],
    ],
    [
      'an address that is none',
      [{ type: 'email', name: 'x', config: { to: ['a@x', 'b'] } }],
      ['channels.0.config.to format'],
    ],
    [
      'two of one id',
      [
        { ...HOOK, id: 'a' },
        { ...HOOK, id: 'a' },
      ],
      ['channels.1.id duplicate'],
    ],
    ['an id with a slash', [{ ...HOOK, id: 'a/b' }], ['channels.0.id format']],
    [
      'a query where all can read it',
      [{ ...HOOK, config: { url: 'https://hooks.example.com/?key=x' } }],
      ['channels.0.config.url format'],
    ],
    [
      'a token that leads elsewhere',
      [{ type: 'telegram', name: 'x', config: { token: '1:a/../b', chat_id: '1' } }],
      ['channels.0.config.token format'],
    ],
    ['null in place of a list', [{ ...HOOK, events: null }], ['channels.0.events format']],
  ];
  for (const [what, channels, told] of WRONG)
    it(`refuses ${what}, and changes nothing`, async () => {
      const before = await db.rows('SELECT * FROM settings');
      assert.deepEqual(await wrong(...channels), told);
      assert.deepEqual(await db.rows('SELECT * FROM settings'), before);
    });

  it('refuses more than fifty channels, and the test of an unknown channel', async () => {
    assert.deepEqual(await wrong(...Array.from({ length: 51 }, () => HOOK)), ['channels length']);
    refused(await service.admin.post(`${PATH}/nobody/test`), 404, 404001);
    refused(await service.admin.post(`${PATH}/No_Body/test`), 404, 404001);
  });

  it('a webhook gets the signed end of the audit log, and an export verifies against it', async () => {
    await set({ id: 'ends', type: 'webhook', name: 'x', config: { url: standIn.url }, events: ['audit.checkpoint'] });
    // a notice is sent every ten minutes, and with the first entry after a start
    const { server: former, databaseUrl, stop } = service;
    await former.stop();
    const server = await LocalServer.start({ DATABASE_URL: databaseUrl, ...ENV }, former.dataDir);
    const token = await server.login();
    service = { server, token, databaseUrl, admin: server.as(token), stop: () => server.stop().then(stop) };
    await until('it is told', async () => standIn.requests.length > 0);
    const [{ body, headers }] = standIn.requests as [Received];
    assert.deepEqual([headers['x-zoneward-event'], textAt(body, 'event')], Array(2).fill('audit.checkpoint'));
    const { checkpoint } = done(await service.admin.get('/api/audit/verify'));
    const { details } = body as { details: object };
    assert.deepEqual(Object.keys(details), Object.keys(checkpoint ?? {}));
    const exported = await fetch(`${server.url}/api/audit/export?format=ndjson`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const file = join(server.dataDir, 'export.ndjson');
    writeFileSync(file, await exported.text());
    const { wrong, confirmed } = await checkExport(file, parseCheckpoints(JSON.stringify(body)), true);
    assert.deepEqual([wrong, confirmed], [null, 1]);
  });

  it('a missing key is found at the start', async () => {
    await set({ id: 'it', type: 'slack', name: 'x', config: { url: `${standIn.url}/${KEY}` } });
    await service.server.stop();
    await assert.rejects(
      ServerProcess.start(
        { DATABASE_URL: service.databaseUrl, SECRET_KEY: 'another-key-than-before-0123456789012345' },
        service.server.dataDir,
      ),
      /secrets of notification channels \(1\)/,
    );
  });
});
