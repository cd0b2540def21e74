import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { PasskeyStart } from '../../src/auth/passkeys/passkeys.dto.js';
import type { LoginResult } from '../../src/auth/sessions/sessions.dto.js';
import { SoftAuthenticator } from './authenticator.js';
import type { Ceremony, Options } from './chromium.js';
import { addUser, openDatabase } from './database.js';
import type { Kind } from './databases.js';
import { type Answer, type Client, startService } from './server.js';
import { done, made } from './world.js';

/** A user signed in with a password. */
export interface Person {
  id: number;
  username: string;
  client: Client;
  /** Signs in with the password again. */
  again(): Promise<Client>;
}

/** Performs ceremonies: a browser, or the software authenticator. */
export interface Ceremonies {
  create(options: Options): Promise<Ceremony> | Ceremony;
  get(options: Options): Promise<Ceremony> | Ceremony;
}

/** A service without rate limits, and helpers for passkeys. */
export async function startPasskeys(kind: Kind, env: Record<string, string> = {}) {
  const service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32', ...env });
  const { server, admin } = service;
  const { db, close } = await openDatabase(service.databaseUrl, server.dataDir);
  const unlimited = async () => {
    // directly in the database, since the administrator may be locked out of the API
    await db.run("DELETE FROM settings WHERE name = 'security'");
    const rate_limits = { login: 100, public: 0 };
    const login_limit = { network_failures: 100_000 };
    done(await admin.put('/api/settings/security', { rate_limits, login_limit }));
  };
  await unlimited();
  const path = '/api/auth/webauthn' as const;
  const start = (username?: string) => server.call('POST', `${path}/login/start`, { username });

  let network = 0;
  /** From a network of its own, so that each failure has its own audit log entry. */
  const finish = (challenge_id: string, response: unknown) =>
    server.call('POST', `${path}/login/finish`, { challenge_id, response }, undefined, {
      'x-forwarded-for': `10.77.${++network >> 8}.${network & 255}`,
    });

  return {
    ...service,
    db,
    path,
    unlimited,
    stop: async () => {
      await close();
      await service.stop();
    },
    /** A new user with a password. */
    async person(role = 1): Promise<Person> {
      const username = `user-${randomBytes(4).toString('hex')}`;
      const account = { username, password: `${username}-secret` };
      const id = await addUser(db, account, role);
      const again = async () => server.as(await server.login(account));
      return { id, username, client: await again(), again };
    },
    registerStart: async (client: Client): Promise<PasskeyStart> =>
      done(await client.post(`${path}/register/start`, {})),
    /** Registers a passkey. @returns its id and name */
    async register(client: Client, by: Ceremonies, name?: string): Promise<{ id: number; name: string }> {
      const { challenge_id, options } = done(await client.post(`${path}/register/start`, {}));
      const response = await by.create(options);
      return made(await client.post(`${path}/register/finish`, { challenge_id, response, name }));
    },
    loginStart: async (username?: string): Promise<PasskeyStart> => done(await start(username)),
    loginFinish: finish,
    /** Runs a complete login ceremony. */
    async login(by: Ceremonies, username?: string): Promise<Answer<Required<LoginResult>>> {
      const { challenge_id, options } = done(await start(username));
      return finish(challenge_id, await by.get(options));
    },
    /** The failure reason of a request in the audit log. */
    async reason(answer: Answer): Promise<string | null | undefined> {
      const requestId = answer.headers.get('x-request-id');
      const of = (table: string) => `SELECT action, error FROM ${table} WHERE request_id = ?`;
      const sql = `${of('audit_logs')} UNION ALL ${of('audit_pending')}`;
      const rows = await db.rows<{ action: string; error: string | null }>(sql, [requestId, requestId]);
      return rows.length === 1 ? rows[0]?.error : `${rows.length} entries`;
    },
  };
}

export type Passkeys = Awaited<ReturnType<typeof startPasskeys>>;

/** Origin used by the software authenticators. */
export const ORIGIN = 'https://dns.example.com';
export const BASE_URL = `${ORIGIN}/zoneward`;

/** A user with a passkey in software. */
export async function enrolled(world: Passkeys): Promise<Person & { key: SoftAuthenticator }> {
  const person = await world.person();
  const key = new SoftAuthenticator(ORIGIN);
  await world.register(person.client, key);
  return { ...person, key };
}

/** Asserts the uniform answer to failed logins. */
export const refusedLogin = (answer: Answer, what?: string): void =>
  assert.deepEqual(
    [answer.status, answer.code, answer.msg, answer.data],
    [401, 401001, 'The passkey was refused', { reason: 'passkey_refused' }],
    what,
  );
