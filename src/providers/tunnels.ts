/** A tunnel as its provider lists it. */
export interface RemoteTunnel {
  id: string;
  name: string;
  /** the provider's word: `inactive` (never run), `healthy`, `degraded`, `down` */
  status: string;
  /** what a CNAME to it leads to */
  target: string;
  /** its rules are in a file beside its connector: they cannot be set from here */
  local: boolean;
  /** what was sent at its creation; null: another one made it */
  mark: string | null;
  /** UTC; null where the provider does not say */
  createdAt: string | null;
}

/** One connection of a connector. */
export interface TunnelConnection {
  id: string;
  client_id: string;
  version: string | null;
  colo: string | null;
  origin_ip: string | null;
  opened_at: string | null;
  /** it dropped, and is expected back */
  reconnecting: boolean;
}

/** A rule as the provider holds it, unknown fields included. */
export type RemoteRule = { service: string; hostname?: string; path?: string } & Record<string, unknown>;

/** The rules of a tunnel, and all else that its configuration holds. */
interface TunnelConfig {
  ingress: RemoteRule[];
  rest: Record<string, unknown>;
}

/**
 * Tunnels, at vendors that have such (`capabilities.tunnels`). `owner` is the provider's id of the account that has
 * them, of which one credential may see several. All throw ProviderError.
 */
export interface TunnelApi {
  /** The accounts that tunnels can be in. */
  owners(): Promise<{ id: string; name: string }[]>;
  /** The account that a zone, by its id, is in; null when the provider does not say. */
  ownerOf(zoneId: string): Promise<string | null>;
  /** The live tunnels, or those of one name; all or an error. */
  list(owner: string, name?: string): Promise<RemoteTunnel[]>;
  /** Null when it is gone. */
  find(owner: string, id: string): Promise<RemoteTunnel | null>;
  /** Returns also the secret that runs it, which is not stored. Null: a live tunnel has the name. */
  create(owner: string, name: string, mark: string): Promise<{ tunnel: RemoteTunnel; token: string } | null>;
  /** False: another live tunnel has the name. */
  rename(owner: string, id: string, name: string): Promise<boolean>;
  /** Another secret: connectors that have the old one run on until they are started anew. */
  rotate(owner: string, id: string): Promise<string>;
  /** False: connectors hold it. What is gone is a success. */
  remove(owner: string, id: string): Promise<boolean>;
  connections(owner: string, id: string): Promise<TunnelConnection[]>;
  /** Cuts all connections off; a connector with a valid secret comes back. */
  disconnect(owner: string, id: string): Promise<void>;
  /** What there is none of yet is version 0 without rules. */
  config(owner: string, id: string): Promise<TunnelConfig & { version: number }>;
  /** @returns the version that it made */
  configure(owner: string, id: string, config: TunnelConfig): Promise<number>;
}

type Verb = keyof TunnelApi;
const READS: Record<Verb, boolean> = {
  ...{ owners: true, ownerOf: true, list: true, find: true, connections: true, config: true },
  ...{ create: false, rename: false, rotate: false, remove: false, disconnect: false, configure: false },
};

/** The verbs, each called through `saying`, which knows the adapter. */
export function tunnelVerbs(
  saying: <T>(verb: `tunnels.${Verb}`, reading: boolean, call: (api: TunnelApi) => Promise<T>) => Promise<T>,
): TunnelApi {
  const verbs = (Object.keys(READS) as Verb[]).map((verb) => {
    const call = (...args: unknown[]) =>
      saying(`tunnels.${verb}`, READS[verb], (api) =>
        (api[verb] as (...args: unknown[]) => Promise<unknown>).apply(api, args),
      );
    return [verb, call] as const;
  });
  return Object.fromEntries(verbs) as unknown as TunnelApi;
}
