import assert from 'node:assert/strict';
import { createServer, type Server as HttpServer } from 'node:http';
import { jest } from '@jest/globals';
import Provider from 'oidc-provider';
import { freePort } from './bind.js';
import type { Answer, Server } from './server.js';

/** Claims by login name. */
export type People = Record<string, Record<string, string | boolean>>;

export interface Idp {
  issuer: string;
  clientId: string;
  clientSecret: string;
  people: People;
  /**
   * Completes the provider's pages as a user would; null: denies.
   * @returns the query of the redirect back
   */
  visit(authUrl: string, login: string | null): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export const closed = (server: HttpServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** A real OpenID provider on loopback with one client for this redirect address. */
export async function startIdp(redirectUri: string, people: People): Promise<Idp> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const [clientId, clientSecret] = ['zoneward', 'provider-client-secret-7f3a'];
  // suppresses its warnings about the test setup
  for (const method of ['info', 'warn'] as const) jest.spyOn(console, method).mockReturnValue(undefined);
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'] },
    cookies: { keys: ['a key for the cookies of a test'] },
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  });
  const server = createServer(provider.callback());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  const visit = async (authUrl: string, login: string | null): Promise<Record<string, string>> => {
    const jar = new Map<string, string>();
    let url = authUrl;
    let form: URLSearchParams | undefined;
    for (let step = 0; step < 20; step++) {
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
      const answer = await fetch(url, {
        redirect: 'manual',
        headers: { cookie },
        ...(form ? { method: 'POST', body: form } : {}),
      });
      form = undefined;
      keepCookies(jar, answer);
      const location = answer.headers.get('location');
      if (location) {
        url = new URL(location, url).href;
        if (url.startsWith(redirectUri)) return Object.fromEntries(new URL(url).searchParams);
        continue;
      }
      const page = await answer.text();
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      assert.ok(prompt, `the provider shows: ${answer.status} ${page}`);
      if (login === null) url = `${url}/abort`;
      else form = new URLSearchParams({ prompt, login, password: 'any' });
    }
    throw new Error('the provider sends the browser in circles');
  };
  return { issuer, clientId, clientSecret, people, visit, stop: () => closed(server) };
}

function keepCookies(jar: Map<string, string>, answer: Response): void {
  for (const line of answer.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) as unknown as [string, string, string];
    if (value) jar.set(name, value);
    else jar.delete(name);
  }
}

let browsers = 0;

/** A browser session: keeps its cookie, and has its own address if the service trusts a proxy. */
export class Browser {
  cookie = '';
  private readonly ip = `10.78.${++browsers >> 8}.${browsers & 255}`;
  constructor(private readonly server: Server) {}

  /** Starts a sign-in, or with a user's token the linking of an account. */
  async start(body: object = {}, token?: string) {
    const path = token ? '/api/security/bind-oauth' : '/api/auth/oauth/start';
    return this.keep(await this.server.call('POST', path, body, token, { cookie: this.cookie }));
  }

  /** @returns the provider's authorization URL */
  async authUrl(body: object = {}, token?: string): Promise<string> {
    const answer = await this.start(body, token);
    assert.equal(answer.status, 200, `${answer.status} ${answer.msg}`);
    return answer.data.auth_url;
  }

  /** Sends the provider's redirect query to the service. */
  async finish(query: object) {
    return this.keep(
      await this.server.call('POST', '/api/auth/oauth/callback', query, undefined, {
        cookie: this.cookie,
        'x-forwarded-for': this.ip,
      }),
    );
  }

  private keep<T>(answer: Answer<T>): Answer<T> {
    const [line] = answer.headers.getSetCookie();
    if (line) this.cookie = (line.split(';')[0] as string).replace(/^[^=]+=$/, '');
    return answer;
  }
}
