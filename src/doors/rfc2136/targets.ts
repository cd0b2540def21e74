import { isIP, isIPv6 } from 'node:net';

/** A name server that is told of changes. */
export interface Address {
  /** a name or an address, without brackets */
  host: string;
  port: number;
}

/** @param text as `targetOf` has it */
export function addressOf(text: string): Address {
  const { hostname, port } = new URL(`dns://${text}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** The usual form of `host`, `host:port` or `[address]:port`, with the port; null: it is none of them. */
export function targetOf(text: string): string | null {
  const given = `dns://${isIPv6(text) ? `[${text}]` : text}`;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || url.username || url.password || url.pathname || url.search || url.hash) return null;
  const host = url.hostname.toLowerCase();
  const isName = host.length <= 253 && /^(?=.*[a-z])[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/.test(host);
  if (!isName && !isIP(host.replace(/^\[|\]$/g, ''))) return null;
  return url.port === '0' ? null : `${host}:${url.port || 53}`;
}
