import { type Answer, type Client } from './server.js';
import { ask as askDns, made, txtOf, type World } from './world.js';

/** A token of these scopes. @param more as of `POST /api/tokens` */
export async function tokenOf(client: Client, allowed_services: string[], more: object = {}): Promise<string> {
  const answer = await client.post('/api/tokens', { name: allowed_services.join(), allowed_services, ...more });
  return (made(answer as Answer<{ token: string }>) as { token: string }).token;
}

export const basic = (token: string, user = 'client'): string =>
  `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;

/** What a door answers. */
export interface Said {
  status: number;
  type: string;
  text: string;
  headers: Headers;
}

/** One request to a door. @param body sent as JSON, a text as it is */
export async function say(url: string, method: string, headers: Record<string, string>, body?: unknown): Promise<Said> {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const type = body === undefined || 'content-type' in headers ? {} : { 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers: { ...type, ...headers }, ...sent });
  const text = await response.text();
  return { status: response.status, type: response.headers.get('content-type') ?? '', text, headers: response.headers };
}

/** The texts that PowerDNS serves at a name, sorted. */
export const textsAt = async ({ pdns }: World, name: string): Promise<string[]> =>
  (await askDns(pdns.dnsPort, name, 'TXT')).map(({ rdata }) => txtOf(rdata)).sort();

/** The newest entries of the audit log. */
export const logOf = async ({ admin }: Pick<World, 'admin'>, query = '') =>
  (await admin.get(`/api/audit/logs?limit=50${query}` as '/api/audit/logs')).data.list;

/** What `GET /api/doors` has to paste for a tool, with a token. */
export async function snippetOf(admin: Client, door: string, tool: string, token: string): Promise<string> {
  const { data } = await admin.get('/api/doors');
  const snippet = data.find(({ key }) => key === door)?.tools.find(({ name }) => name === tool)?.snippet;
  if (!snippet) throw new Error(`there is nothing for ${tool} at ${door}`);
  return snippet.replaceAll('$ZONEWARD_TOKEN', token);
}
