import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { closed } from './oidc.js';

/** A request sent by the service. */
export interface Sent {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Handler = (sent: Sent, response: ServerResponse) => void | Promise<void>;

/** Sends a JSON answer. */
export const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

/** An HTTP server whose answers a test defines. */
export async function startStandIn(): Promise<{
  url: string;
  sent: Sent[];
  routes: Record<string, Handler>;
  stop(): Promise<void>;
}> {
  const sent: Sent[] = [];
  const routes: Record<string, Handler> = {};
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = (request.url as string).split('?')[0] as string;
    const entry = { method: request.method as string, path, headers: request.headers, body };
    sent.push(entry);
    const handler = routes[path];
    if (handler) await handler(entry, response);
    else json(response, {}, 404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, sent, routes, stop: () => closed(server) };
}

export const CLIENT = { id: 'zoneward', secret: 'issuer-client-secret-4b1c-long-enough-for-hs256' };
export const ACCESS_TOKEN = 'access-token-of-the-issuer-91d2';

/**
 * An OpenID provider whose answers a test defines. Its discovery document lists every algorithm, including insecure
 * ones.
 */
export async function startIssuer() {
  const standIn = await startStandIn();
  const { url, routes } = standIn;
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const stranger = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'first', alg: 'RS256', use: 'sig' };

  /** A valid discovery document. */
  const document = (issuer = url) => ({
    issuer,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    userinfo_endpoint: `${url}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  });
  /** Claims of a valid id_token. */
  const claims = (nonce: string, more: Record<string, unknown> = {}): JWTPayload => {
    const now = Math.floor(Date.now() / 1000);
    return { iss: url, aud: CLIENT.id, sub: 'somebody', nonce, iat: now, exp: now + 300, ...more };
  };
  const sign = (payload: JWTPayload, key: Parameters<SignJWT['sign']>[0] = privateKey, header: object = {}) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'first', ...header }).sign(key);

  const discovery = '/.well-known/openid-configuration';
  const issuer = {
    ...standIn,
    discovery,
    document,
    claims,
    sign,
    strangersKey: stranger.privateKey,
    publicKeyText: await exportSPKI(publicKey),
    /** The next id_token. */
    idToken: '',
    /** Restores valid answers of all routes. */
    reset() {
      issuer.idToken = '';
      routes[discovery] = (_, response) => json(response, document());
      routes['/jwks'] = (_, response) => json(response, { keys: [jwk] });
      routes['/userinfo'] = (_, response) => json(response, { sub: 'somebody', preferred_username: 'somebody' });
      routes['/token'] = (_, response) =>
        json(response, { access_token: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 60, id_token: issuer.idToken });
    },
  };
  issuer.reset();
  return issuer;
}
