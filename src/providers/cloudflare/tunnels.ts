import { randomBytes } from 'node:crypto';
import { following } from '../kit/http/deadline-context.js';
import { cutShort, needed, ProviderError } from '../kit/http/errors.js';
import type { CallOptions, Method } from '../kit/http/http-client.js';
import type { RemoteRule, RemoteTunnel, TunnelApi } from '../tunnels.js';

// of the TypeScript client 7.1 and its documentation of 2026; what is not told is absent
type ApiTunnel = { id: string; name: string; status?: string; tun_type?: string; config_src?: string } & {
  created_at?: string | null;
  deleted_at?: string | null;
  metadata?: Record<string, unknown> | null;
};
type Connector = { id: string; version?: string; conns?: Conn[] | null };
type Conn = { id?: string; uuid?: string; client_id?: string; client_version?: string; colo_name?: string } & {
  origin_ip?: string;
  opened_at?: string;
  is_pending_reconnect?: boolean;
};
type Config = { version?: number; config?: ({ ingress?: RemoteRule[] | null } & Record<string, unknown>) | null };
type Account = { id: string; name: string };

/** What the adapter's client does. */
interface Calls {
  call<T>(method: Method, path: string, options?: CallOptions): Promise<T>;
  /** what answers without a result, perhaps */
  done(method: Method, path: string): Promise<void>;
  list<T extends { id: string }>(path: string, perPage: number, query?: Record<string, string>): Promise<T[]>;
}

const NONE: Config = { version: 0 };
/** our entry of the metadata, which come back with the tunnel */
const MARK = 'zoneward';
const PER_PAGE = 1000;
/** bytes that a secret has at least (API documentation) */
const SECRET_BYTES = 32;
const IN_USE = /\(code 1022\)/;
const NAME_TAKEN = /\(code 1013\)/;
const NO_CONFIG = /\(code 1055\)/;
/** a 404 that is no proxy's */
const GONE = /\(code \d+\).*\(HTTP 404\)$/s;
/** of a path that the API does not know, perhaps for its account: it says nothing of the tunnel */
const NO_ROUTE = /\(code (7000|7003)\)/;

const isSo = (error: unknown, words: RegExp) => error instanceof ProviderError && words.test(error.message);
/** What is made of a refusal with such words. @throws the error when it is another one */
const unless =
  <T>(words: RegExp, value: T) =>
  (error: unknown): T => {
    if (isSo(error, words)) return value;
    throw error;
  };
/** What was asked for of a tunnel, or null where that is gone. @throws ProviderError for all other failures */
const orGone = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    const unknown = error instanceof ProviderError && error.kind === 'not_found';
    if (unknown && isSo(error, GONE) && !isSo(error, NO_ROUTE)) return null;
    throw error;
  });

/** Cloudflare Tunnel: remotely managed tunnels of an account. */
export function tunnelsOf({ call, done, list }: Calls): TunnelApi {
  const base = (owner: string, ...more: string[]) =>
    ['', 'accounts', owner, 'cfd_tunnel', ...more].map(encodeURIComponent).join('/');
  const zoneOwners = async (): Promise<Account[]> => {
    const zones = await list<{ id: string; account?: Account }>('/zones', 50);
    const all = new Map(zones.flatMap(({ account }) => (account?.id ? [[account.id, account] as const] : [])));
    return [...all.values()];
  };
  const find = async (owner: string, id: string) => {
    const found = await orGone(call<ApiTunnel>('GET', base(owner, id)));
    return found && !found.deleted_at ? fromApi(found) : null;
  };
  const patch = (owner: string, id: string, json: object) =>
    // the same twice leaves the same
    call<ApiTunnel & { token?: string }>('PATCH', base(owner, id), { json, idempotent: true });

  return {
    async owners() {
      // a token without a right on accounts still sees those of its zones
      const own = await list<Account>('/accounts', 50).catch((error: unknown) => {
        if (error instanceof ProviderError && ['auth', 'not_found', 'rejected'].includes(error.kind)) return [];
        throw error;
      });
      return (own.length ? own : await zoneOwners()).map(({ id, name }) => ({ id, name }));
    },
    ownerOf: async (zoneId) =>
      (await call<{ account?: Account }>('GET', `/zones/${encodeURIComponent(zoneId)}`)).account?.id ?? null,
    async list(owner, name) {
      // until December 2025 the default listed deleted ones, too
      const query = { is_deleted: 'false', ...(name !== undefined && { name }) };
      const all = await list<ApiTunnel>(base(owner), PER_PAGE, query);
      const live = all.filter((one) => !one.deleted_at && (one.tun_type ?? 'cfd_tunnel') === 'cfd_tunnel');
      return live.map(fromApi).filter((one) => name === undefined || one.name === name);
    },
    find,
    async create(owner, name, mark) {
      // `local` is the default, and cannot be changed afterwards
      const json = { name, config_src: 'cloudflare', metadata: { [MARK]: mark } };
      const made = await call<ApiTunnel & { token?: string }>('POST', base(owner), { json }).catch(
        unless(NAME_TAKEN, null),
      );
      if (!made) return null;
      if (!made.id) throw cutShort('id').applied(true);
      // needs the right to write, as the creation did
      const token = made.token || (await following(() => call<string>('GET', base(owner, made.id, 'token'))));
      return { tunnel: fromApi(made), token };
    },
    rename: (owner, id, name) => patch(owner, id, { name }).then(() => true, unless(NAME_TAKEN, false)),
    async rotate(owner, id) {
      const tunnel_secret = randomBytes(SECRET_BYTES).toString('base64');
      const { token } = await patch(owner, id, { tunnel_secret });
      return token || following(() => call<string>('GET', base(owner, id, 'token')));
    },
    async remove(owner, id) {
      try {
        await done('DELETE', base(owner, id));
        return true;
      } catch (error) {
        if (isSo(error, IN_USE)) return false;
        const refused = error instanceof ProviderError && ['not_found', 'rejected'].includes(error.kind);
        // how a second deletion is refused is not documented
        if (refused && !(await find(owner, id))) return true;
        throw error;
      }
    },
    async connections(owner, id) {
      const connectors = await orGone(call<Connector[]>('GET', base(owner, id, 'connections')));
      return (connectors ?? []).flatMap(({ id: client, version, conns }) =>
        (conns ?? []).map((one) => ({
          id: one.id ?? one.uuid ?? '',
          client_id: one.client_id ?? client,
          version: one.client_version ?? version ?? null,
          colo: one.colo_name ?? null,
          origin_ip: one.origin_ip ?? null,
          opened_at: time(one.opened_at),
          reconnecting: one.is_pending_reconnect ?? false,
        })),
      );
    },
    disconnect: (owner, id) => done('DELETE', base(owner, id, 'connections')),
    async config(owner, id) {
      // of a tunnel that has none yet; any other 404 says nothing of its rules
      const asked = call<Config>('GET', base(owner, id, 'configurations'));
      const held = await asked.catch(unless(NO_CONFIG, NONE));
      // absent only before the first PUT; to have no rules is another thing
      if (!held?.config && held?.version !== 0) throw cutShort('config');
      const { ingress, ...rest } = held.config ?? {};
      return { version: held.version ?? 0, ingress: ingress ?? [], rest };
    },
    async configure(owner, id, { ingress, rest }) {
      const json = { config: { ...rest, ingress } };
      const { version } = await call<Config>('PUT', base(owner, id, 'configurations'), { json });
      return needed(version, 'version');
    },
  };
}

const time = (text: string | null | undefined): string | null => {
  const date = new Date(text ?? '');
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
};

function fromApi(tunnel: ApiTunnel): RemoteTunnel {
  const mark = tunnel.metadata?.[MARK];
  return {
    id: tunnel.id,
    name: tunnel.name,
    status: tunnel.status ?? 'inactive',
    target: `${tunnel.id}.cfargotunnel.com`,
    local: tunnel.config_src !== 'cloudflare',
    mark: typeof mark === 'string' ? mark : null,
    createdAt: time(tunnel.created_at),
  };
}
