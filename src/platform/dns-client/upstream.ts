import { isIP, isIPv6 } from 'node:net';

/** A DNS server and its transport. */
export interface Upstream {
  transport: 'plain' | 'tls' | 'https';
  /** Address or name, IPv6 without brackets. */
  host: string;
  port: number;
  /** URL, for `https` only. */
  url: string | null;
}

/**
 * Parses a server of the settings: an address, `192.0.2.1:5353` or `[2001:db8::1]:5353` for plain DNS,
 * `tls://dns.example` for DNS over TLS (RFC 7858), `https://dns.example/dns-query` for DNS over HTTPS (RFC 8484).
 * @returns null for anything else
 */
export function upstreamOf(text: string): Upstream | null {
  if (isIP(text)) return { transport: 'plain', host: text, port: 53, url: null };
  const secure = /^(tls|https):\/\//.test(text);
  const given = secure ? text : `dns://${text}`;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url?.hostname || url.username || url.password || url.hash || url.search) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'https:') return { transport: 'https', host, port: Number(url.port || 443), url: url.href };
  if (url.pathname && (url.pathname !== '/' || !secure)) return null;
  if (secure) return { transport: 'tls', host, port: Number(url.port || 853), url: null };
  return isIP(host) && url.port ? { transport: 'plain', host, port: Number(url.port), url: null } : null;
}

/** The usual notation: `192.0.2.1`, `192.0.2.1:5353`, `tls://dns.example`, `https://dns.example/dns-query`. */
export function upstreamText({ transport, host, port, url }: Upstream): string {
  if (url) return url;
  const name = isIPv6(host) ? `[${host}]` : host;
  if (transport === 'tls') return `tls://${name}${port === 853 ? '' : `:${port}`}`;
  return port === 53 ? host : `${name}:${port}`;
}
