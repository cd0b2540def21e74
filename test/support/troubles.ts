import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './bind.js';
import type { Kind } from './databases.js';
import type { Key } from './nsupdate.js';
import type { Answer } from './server.js';
import { done, made, startWorld, type World } from './world.js';

/** What goes wrong, as the pages of the doors call it. */
export const ROWS = [
  'wrong token',
  'foreign host',
  'vendor down',
  'rate limit',
  'frozen',
  'waits for approval',
] as const;
export type Row = (typeof ROWS)[number];

/** A token that there is not. */
export const WRONG = 'svc_0000000000000000000000000000000000000000';
/** What the tokens of these tests may change. */
export const RULES = [{ effect: 'allow', hosts: ['own', 'own*', '_acme-challenge.own', '_acme-challenge.own*'] }];
/** The name that a client changes: its own or, where that is the row, one that it may not. */
export const hostOf = (row: Row): string => (row === 'foreign host' ? 'foreign' : 'own');

/** A row of a page. */
export interface PageRow {
  /** what is in the answer, its status first */
  answer: string[];
  /** what the client shows */
  shows: string;
}

/** The rows of a door's page. */
export function rowsOf(door: string): Map<string, PageRow> {
  const page = readFileSync(join(process.cwd(), `docs/doors/${door}.md`), 'utf8');
  const [, table = ''] = /\| Row \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n?)+)/.exec(page) ?? [];
  const cells = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(cells.map(([, row = '', answer = '', shows = '']) => [row, { answer: quotedIn(answer), shows }]));
}

/** What stands in backticks. */
export const quotedIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, one]) => one as string);

/** A service with all doors open, in which everything can go wrong that the pages have a row for. */
export interface Troubles extends World {
  /** of the door rfc2136 */
  dnsPort: number;
  /** @param rules null: none, so it may do all there */
  makeToken(service: string, rules?: object[] | null): Promise<{ id: number; token: string }>;
  makeKey(token: number): Promise<Key>;
  /** @param send spends the one request that a token has */
  provoke(row: Row, send: () => Promise<unknown>): Promise<unknown>;
  /** All is well again. */
  calm(): Promise<void>;
}

export async function startTroubles(kind: Kind): Promise<Troubles> {
  const dnsPort = await freePort();
  const world = await startWorld(kind, { DNS_PORT: String(dnsPort), DNS_HOST: '127.0.0.1' });
  const { admin } = world;
  const rule = (body: object) => admin.put(`/api/domains/${world.domain}`, body as never).then(done);
  const rates = (token: number) =>
    admin.put('/api/settings/security', { rate_limits: { public: 0, token } }).then(done);
  const until = () => new Date(Date.now() + 3_600_000).toISOString();
  const provoke: Record<Row, (send: () => Promise<unknown>) => Promise<unknown>> = {
    'wrong token': async () => undefined,
    'foreign host': async () => undefined,
    'vendor down': async () => {
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
    },
    'rate limit': async (send) => {
      await rates(1);
      await send();
    },
    frozen: () => rule({ freeze: { from: '2020-01-01T00:00Z', until: until(), reason: 'release', acme: true } }),
    'waits for approval': () => rule({ approval: { for: 'all', by: { role: 3 }, own: true } }),
  };
  const open = { enabled: true };
  done(await admin.put('/api/settings/doors', { powerdns: open, rfc2136: open }));
  await rates(0);
  return {
    ...world,
    dnsPort,
    async makeToken(service, rules = RULES) {
      const body = {
        name: service,
        allowed_services: [service],
        allowed_domains: [world.domain],
        ...(rules && { rules }),
      };
      const answer = (await admin.post('/api/tokens', body)) as Answer<{ token: string; tokenData: { id: number } }>;
      const { token, tokenData } = made(answer);
      return { id: tokenData.id, token };
    },
    makeKey: async (token) =>
      made((await admin.post(`/api/tokens/${token}/tsig-key` as '/api/tokens/{id}/tsig-key', {})) as Answer<Key>),
    provoke: (row, send) => provoke[row](send),
    async calm() {
      world.proxy.fault = null;
      await rates(0);
      await rule({ freeze: null, approval: { for: 'none' } });
    },
  };
}
