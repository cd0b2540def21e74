import { createHash, createHmac } from 'node:crypto';
import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredSet {
  name: string;
  type: string;
  ttl: number;
  rdata: string[];
}

export const KEYS = { client_token: 'akab-client', client_secret: 'a-secret=', access_token: 'akab-access' };
const ZONE = 'contract.example';
const NAMES = 'CNAME MX NS SRV PTR'.split(' ');

/** By the words of Akamai's description of EdgeGrid. */
function isSigned({ method, path, query, headers, text = '' }: Received): boolean {
  const [, tokens = '', time = '', signature] =
    /^EG1-HMAC-SHA256 (client_token=[^;]+;access_token=[^;]+);timestamp=([^;]+);nonce=[^;]+;signature=(.+)$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (tokens !== `client_token=${KEYS.client_token};access_token=${KEYS.access_token}`) return false;
  if (!/^\d{8}T\d\d:\d\d:\d\d\+0000$/.test(time)) return false;
  const base64 = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64');
  const content = method === 'POST' && text ? createHash('sha256').update(text).digest('base64') : '';
  const search = new URLSearchParams(query).toString();
  const unsigned = `${headers.authorization}`.replace(/signature=.*$/, '');
  const parts = [method, 'http', headers.host, search ? `${path}?${search}` : path, '', content, unsigned];
  return signature === base64(base64(KEYS.client_secret, time), parts.join('\t'));
}

/** What the API does (Akamai's Go client and reference 2025, samples of octoDNS, dnscontrol): sets by their path. */
export async function startAkamai(): Promise<StandIn & { sets: StoredSet[]; zones: { zone: string; type: string }[] }> {
  const soa = `a1-1.akam.net. hostmaster.${ZONE}. 1 3600 600 604800 300`;
  const sets: StoredSet[] = [
    { name: ZONE, type: 'SOA', ttl: 86400, rdata: [soa] },
    { name: ZONE, type: 'NS', ttl: 86400, rdata: ['a1-1.akam.net.', 'a2-2.akam.net.'] },
  ];
  const zones = [
    { zone: ZONE, type: 'PRIMARY' },
    { zone: 'copy.example', type: 'SECONDARY' },
    { zone: 'mirror.example', type: 'ALIAS' },
  ];
  const no = (status: number, title: string, detail: string): Answer => ({
    ...{ status, headers: { 'content-type': 'application/problem+json' } },
    body: JSON.stringify({ type: 'https://problems.luna.akamaiapis.net/authoritative-dns/x', title, status, detail }),
  });

  function wrong({ name, type, ttl, rdata }: StoredSet): string | null {
    if (name !== ZONE && !name.endsWith(`.${ZONE}`)) return 'name is not in the zone';
    if (!Number.isInteger(ttl) || !Array.isArray(rdata) || !rdata.length) return 'ttl and rdata are required';
    if (new Set(rdata).size < rdata.length) return 'rdata holds a value twice';
    if (NAMES.includes(type) && rdata.some((text) => !text.endsWith('.'))) return 'names need their final dot';
    if (type === 'TXT' && rdata.some((text) => !/^("(\\.|[^"\\]){0,1020}"( |$))+$/.test(text)))
      return 'text is not quoted';
    const beside = sets.filter((set) => set.name === name && set.type !== type);
    const clash = type === 'CNAME' ? beside.length > 0 || rdata.length > 1 : beside.some((s) => s.type === 'CNAME');
    return clash ? 'CNAME must be alone' : null;
  }

  const standIn = await startStandIn((request) => {
    const { method, path, query, body } = request;
    if (!isSigned(request)) return no(401, 'Not authorized', 'Invalid authorization client token');
    const listed = (key: string, all: object[]): Answer => {
      const showAll = query.showAll === 'true';
      const size = Number(query.pageSize ?? 25);
      const metadata = { totalElements: all.length, showAll, ...(showAll ? {} : { page: 1, pageSize: size }) };
      return { body: { metadata, [key]: showAll ? all : all.slice(0, size) } };
    };
    const [, , , , zone, what, name, , type] = path.split('/').map(decodeURIComponent);
    if (!zone) return listed('zones', zones);
    if (zone !== ZONE) return no(404, 'Not Found', `Unable to find zone '${zone}'`);
    if (what === 'recordsets') return listed('recordsets', sets);
    const at = sets.findIndex((set) => set.name === name && set.type === type);
    if (method === 'POST' && at >= 0) return no(409, 'Conflict', 'The record set already exists');
    if (method !== 'POST' && at < 0) return no(404, 'Not Found', 'Unable to find record set');
    if (method === 'DELETE') {
      sets.splice(at, 1);
      return { status: 204 };
    }
    const set = body as StoredSet;
    const why = set.name === name && set.type === type ? wrong(set) : 'name and type are those of the path';
    if (why) return no(400, 'Bad Request', why);
    sets.splice(at < 0 ? sets.length : at, at < 0 ? 0 : 1, set);
    return { status: method === 'POST' ? 201 : 200, body: set };
  });
  return Object.assign(standIn, { sets, zones });
}
