import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { databases, freshDatabase } from '../support/databases.js';
import { type Answer, LocalServer } from '../support/server.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { done, made } from '../support/world.js';

const PLANTED = {
  password: 'Planted-Password-Obelisk-77',
  wrongPassword: 'Planted-Wrong-Walrus-31',
  setupCode: 'Planted-Setup-Code-Heron-12',
  secretKey: 'Planted-Secret-Key-Gazelle-000000000000000',
  apiKey: 'Planted-Api-Key-Mandolin-58',
  apiToken: 'PlantedCloudTokenPelican4711',
  globalKey: 'PlantedGlobalKeyOrchid0815',
  tsig: Buffer.from('Planted-Tsig-Secret-Lantern').toString('base64'),
};
const HASHES = /\$2[aby]\$\d\d\$|\bv1\.[0-9a-f]{8}\./;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`secrets on ${kind}`, () => {
    const afterTest = atEndOfTest();
    it('are in no answer, no log line, no audit entry and no column', async () => {
      const database = kind === 'sqlite' ? null : await freshDatabase(kind);
      const url = database?.url ?? 'sqlite:zoneward.db';
      const env = {
        DATABASE_URL: url,
        SECRET_KEY: PLANTED.secretKey,
        SETUP_CODE: PLANTED.setupCode,
        LOG_LEVEL: 'trace',
      };
      const server = await LocalServer.start(env);
      const side = await openDatabase(url, server.dataDir);
      afterTest(async () => {
        await side.close();
        await server.kill();
        await database?.drop();
      });
      const answers: Answer[] = [];
      const call = async <M extends string, P extends string>(method: M, path: P, body?: unknown, token?: string) => {
        const answer = await server.call(method, path, body, token);
        answers.push(answer);
        return answer;
      };
      const { password, setupCode: setup_code } = PLANTED;
      const root = { username: 'root', password };
      await call('POST', '/api/init/admin', { ...root, setup_code: `${setup_code}x` });
      await call('POST', '/api/init/admin', { ...root, setup_code, email: setup_code });
      done(await call('POST', '/api/init/admin', { ...root, setup_code }));
      await call('POST', '/api/auth/login', { username: 'root', password: PLANTED.wrongPassword });
      await call('POST', '/api/auth/login', { username: 'root', password, password2: password });
      const jwt = done(await server.call('POST', '/api/auth/login', root)).token;
      const token = made(await server.call('POST', '/api/tokens', { name: 'ci' }, jwt)).token;
      const short = made(await server.call('POST', '/api/tokens', { name: 'gone' }, jwt));
      await call('DELETE', `/api/tokens/${short.tokenData.id}`, undefined, jwt);
      await call('GET', '/api/domains', undefined, short.token);

      const nowhere = 'http://127.0.0.1:9';
      const credentials: [string, object][] = [
        ['powerdns', { url: nowhere, api_key: PLANTED.apiKey }],
        ['cloudflare', { api_token: PLANTED.apiToken, endpoint: nowhere }],
        ['cloudflare', { email: 'a@example.com', api_key: PLANTED.globalKey, endpoint: nowhere }],
        [
          'rfc2136',
          { server: '127.0.0.1', port: '9', tsig_name: 'key.', tsig_secret: PLANTED.tsig, zones: 'example.com' },
        ],
      ];
      for (const [provider, secret] of credentials) {
        const body = { provider, name: `${provider} account`, credentials: secret };
        await call('POST', '/api/accounts', body, token);
        await call('POST', '/api/accounts', { ...body, name: 5 }, token);
        await call('POST', '/api/accounts', { ...body, credentials: { ...secret, unknown: 'x' } }, token);
        const { id } = made(await call('POST', '/api/accounts?check=false', body, token));
        await call('POST', `/api/accounts/${id}/sync`, undefined, token);
        await call('POST', '/api/domains', { name: 'example.com', account_id: id }, token);
        await call('PUT', `/api/accounts/${id}`, { credentials: secret }, token);
        await call('PUT', `/api/accounts/${id}?check=false`, { credentials: secret, remark: 'x' }, token);
        await call('GET', `/api/accounts/${id}`, undefined, jwt);
      }
      await call('POST', '/api/accounts', `{"credentials": {"api_key": "${PLANTED.apiKey}"`, jwt);
      for (const path of [
        'accounts',
        'domains',
        'tokens',
        'providers',
        'auth/me',
        'audit/logs?limit=500',
        'openapi.json',
        'init/status',
      ]) {
        await call('GET', `/api/${path}`, undefined, jwt);
      }

      const columns: string[] = [];
      for (const { tableName } of side.db.source.entityMetadatas) {
        columns.push(JSON.stringify(await side.db.rows(`SELECT * FROM ${tableName}`)));
      }
      // failures of the inside, with statements and values in their errors
      await side.db.run('DROP TABLE audit_pending');
      for (const [method, path, body] of [
        ['POST', '/api/auth/login', root],
        ['POST', '/api/tokens', { name: 'fails' }],
        ['PUT', '/api/accounts/1?check=false', { credentials: credentials[0]?.[1], remark: 'fails' }],
        ['POST', '/api/accounts?check=false', { provider: 'powerdns', name: 'x', credentials: credentials[0]?.[1] }],
      ] as const) {
        assert.equal((await call(method, path, body, jwt)).code, 500001);
      }
      await call('POST', '/api/auth/logout', undefined, jwt);
      await server.stop();

      const [, payload] = jwt.split('.');
      const secrets = [...Object.values(PLANTED), token.slice(4), short.token.slice(4), jwt, payload as string];
      // what a reader could decode
      secrets.push(
        Buffer.from('Planted-Tsig-Secret-Lantern').toString(),
        Buffer.from(PLANTED.tsig, 'base64').toString('hex'),
      );
      const places = {
        answers: answers.map(({ data, msg, headers }) => JSON.stringify([data, msg, [...headers]])).join('\n'),
        log: server.log,
        columns: columns.join('\n'),
        ...(kind === 'sqlite' ? { file: readFileSync(join(server.dataDir, 'zoneward.db'), 'latin1') } : {}),
      };
      for (const [place, text] of Object.entries(places)) {
        assert.ok(text.length > 1000, place);
        for (const secret of secrets) {
          const at = text.indexOf(secret);
          assert.equal(at, -1, `${secret} is in the ${place}: …${text.slice(Math.max(0, at - 200), at + 100)}…`);
        }
      }
      assert.doesNotMatch(places.answers, HASHES);
      assert.doesNotMatch(places.log, HASHES);
      const lines = server.log.trim().split('\n');
      for (const line of lines) assert.equal(typeof JSON.parse(line).level, 'number', line);
    });
  });
}
