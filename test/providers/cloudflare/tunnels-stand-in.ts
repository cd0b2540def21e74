import { randomBytes, randomUUID } from 'node:crypto';
import type { Answer, Received } from '../../support/vendor.js';

/** The account that has everything, unless a test says otherwise. */
export const OWNER = 'a'.repeat(32);

/** A tunnel as Cloudflare keeps it (TypeScript client 7.1, documentation of 2026). */
interface KeptTunnel {
  id: string;
  account_tag: string;
  name: string;
  created_at: string;
  deleted_at: string | null;
  status: string;
  tun_type: string;
  config_src?: string;
  metadata: object;
  secret: string;
  version: number;
  config: Record<string, unknown> | null;
  connectors: { id: string; version: string; conns: object[] }[];
}

const json = (status: number, result: unknown, errors: object[], more: object = {}): Answer => ({
  status,
  body: { success: errors.length === 0, errors, messages: [], result, ...more },
});
const fine = (result: unknown, more: object = {}): Answer => json(200, result, [], more);
const wrong = (status: number, code: number, message: string): Answer => json(status, null, [{ code, message }]);

const NO_TUNNEL = wrong(404, 1003, 'Tunnel not found');
const TAKEN = wrong(409, 1013, 'You already have a tunnel with this name. Please choose a different name.');
const IN_USE =
  'This tunnel has active connections. Please stop all cloudflared replicas, or wait a few minutes for connections to close, then try again.';

/** What cloudflared itself says of rules that it does not take; null when nothing. */
function refusal(config: Record<string, unknown> | undefined): string | null {
  const rules = config?.ingress as { hostname?: string; path?: string; service?: string }[] | undefined;
  if (!rules?.length) return 'No ingress rules were defined';
  const all = rules.map(({ hostname, path }) => ['', '*'].includes(hostname ?? '') && !path);
  if (!all.at(-1)) return 'The last ingress rule must match all URLs';
  if (all.slice(0, -1).includes(true)) return 'Rule is matching the hostname "", but this will match every hostname';
  const plain = /^(http_status:\d{3}|bastion|socks-proxy|unix(\+tls)?:\/.+|[a-z]+:\/\/[^/]+)$/;
  const bad = rules.find(({ service }) => !plain.test(service ?? ''));
  return bad ? `${bad.service} is an invalid address, please make sure it has a scheme and a hostname` : null;
}

/** Cloudflare's API of tunnels, which remembers; its errors are those that others have met. */
export function cloudflareTunnels() {
  const state = {
    owners: [{ id: OWNER, name: 'Ada' }],
    /** zones of another account */
    zoneOwner: new Map<string, string>(),
    kept: [] as KeptTunnel[],
    /** the token may read only */
    readOnly: false,
    /** tunnels that are not deleted */
    live: () => state.kept.filter((tunnel) => !tunnel.deleted_at),
    /** One that somebody else made. */
    add(name: string, more: Partial<KeptTunnel> = {}): KeptTunnel {
      const tunnel = { ...born(OWNER, name), ...more };
      state.kept.push(tunnel);
      return tunnel;
    },
    /** A connector that runs it comes, with one connection. */
    connect(tunnel: KeptTunnel): void {
      const client_id = randomUUID();
      const conn = {
        id: randomUUID(),
        client_id,
        client_version: '2026.8.2',
        colo_name: 'fra06',
        origin_ip: '192.0.2.7',
      };
      const opened = { opened_at: '2026-01-01T00:00:00.123456Z', is_pending_reconnect: false, uuid: conn.id };
      tunnel.connectors.push({ id: client_id, version: '2026.8.2', conns: [{ ...conn, ...opened }] });
      tunnel.status = 'healthy';
    },
    answer,
  };

  const born = (owner: string, name: string): KeptTunnel => ({
    ...{ id: randomUUID(), account_tag: owner, name, created_at: '2026-02-03T04:05:06.789012Z', deleted_at: null },
    ...{ status: 'inactive', tun_type: 'cfd_tunnel', config_src: 'cloudflare', metadata: {}, version: 0, config: null },
    ...{ secret: randomBytes(32).toString('base64'), connectors: [] },
  });
  const told = ({ secret: _s, version: _v, config: _c, connectors: _n, ...tunnel }: KeptTunnel) => tunnel;
  const tokenOf = ({ account_tag: a, id: t, secret: s }: KeptTunnel) =>
    Buffer.from(JSON.stringify({ a, t, s })).toString('base64');
  const configOf = ({ account_tag, id, version, config }: KeptTunnel) =>
    fine({ account_id: account_tag, tunnel_id: id, version, source: 'cloudflare', config });
  const page = (all: unknown[]) =>
    fine(all, { result_info: { page: 1, per_page: 1000, count: all.length, total_count: all.length } });
  const nameTaken = (owner: string, name: unknown, but?: KeptTunnel) =>
    state.live().some((one) => one.account_tag === owner && one.name === name && one !== but);

  function answer({ method, path, query, body }: Received): Answer {
    const [, , owner, kind, id, part] = path.split('/');
    const sent = (body ?? {}) as Record<string, unknown>;
    if (!owner) return page(state.owners);
    if (kind !== 'cfd_tunnel' || !state.owners.some((one) => one.id === owner))
      return wrong(403, 10000, 'Authentication error');
    const secret = part === 'token';
    if (state.readOnly && (method !== 'GET' || secret)) return wrong(403, 10000, 'Authentication error');
    if (!id && method === 'GET') {
      const all = state.kept.filter((one) => one.account_tag === owner);
      // what is asked for is answered; to leave deleted ones out is the caller's affair, too
      const hits = all.filter((one) => (!query.name || one.name === query.name) && query.is_deleted !== undefined);
      return page(hits.map(told));
    }
    if (!id) {
      if (typeof sent.name !== 'string' || !sent.name) return wrong(400, 1002, 'name is required');
      if (nameTaken(owner, sent.name)) return TAKEN;
      const made = born(owner, sent.name);
      made.config_src = (sent.config_src as string) ?? 'local';
      made.metadata = (sent.metadata as object) ?? {};
      state.kept.push(made);
      const { account_tag: AccountTag, id: TunnelID, name: TunnelName, secret: TunnelSecret } = made;
      const credentials_file = { AccountTag, TunnelID, TunnelName, TunnelSecret };
      return fine({ ...told(made), token: tokenOf(made), credentials_file });
    }
    const tunnel = state.kept.find((one) => one.id === id && one.account_tag === owner);
    if (!tunnel) return NO_TUNNEL;
    if (method === 'GET' && !part) return fine(told(tunnel));
    if (tunnel.deleted_at) return part === 'configurations' ? NO_CONFIG : NO_TUNNEL;
    if (method === 'GET' && secret) return fine(tokenOf(tunnel));
    if (part === 'connections') {
      if (method === 'GET') return fine(tunnel.connectors);
      tunnel.connectors = [];
      tunnel.status = 'down';
      return fine(null);
    }
    if (part === 'configurations') {
      if (method === 'GET') return tunnel.config ? configOf(tunnel) : NO_CONFIG;
      const config = sent.config as Record<string, unknown> | undefined;
      const why = refusal(config);
      if (why) return wrong(400, 1056, `Bad Configuration: Validation failed: ${why}`);
      tunnel.version++;
      tunnel.config = { 'warp-routing': { enabled: false }, ...config };
      return configOf(tunnel);
    }
    if (method === 'PATCH') {
      if (sent.name !== undefined && nameTaken(owner, sent.name, tunnel)) return TAKEN;
      if (sent.tunnel_secret !== undefined && Buffer.from(`${sent.tunnel_secret}`, 'base64').length < 32)
        return wrong(400, 1004, 'tunnel_secret must be at least 32 bytes');
      tunnel.name = (sent.name as string) ?? tunnel.name;
      tunnel.secret = (sent.tunnel_secret as string) ?? tunnel.secret;
      return fine({ ...told(tunnel), token: tokenOf(tunnel) });
    }
    if (tunnel.connectors.length) return wrong(400, 1022, IN_USE);
    tunnel.deleted_at = '2026-03-03T04:05:06.789012Z';
    delete tunnel.config_src;
    return fine(told(tunnel));
  }
  return state;
}
export type CloudflareTunnels = ReturnType<typeof cloudflareTunnels>;

const NO_CONFIG = wrong(404, 1055, 'Configuration for tunnel not found');
