import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface TransipEntry {
  name: string;
  expire: number;
  type: string;
  content: string;
}

export const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** TransIP as its documentation and its traffic of 2022 have it: tokens against a signature, entries as a whole. */
export async function startTransip(): Promise<
  StandIn & {
    world: {
      entries: TransipEntry[];
      domains: string[];
      tokens: string[];
      asked: number;
      keeps: (e: TransipEntry[]) => TransipEntry[];
    };
  }
> {
  const world = {
    entries: [] as TransipEntry[],
    domains: ['contract.example', 'other.example'],
    tokens: [] as string[],
    asked: 0,
    keeps: (entries: TransipEntry[]) => entries,
  };
  const no = (status: number, error: string): Answer => ({ status, body: { error } });
  const nonces = new Set<string>();
  const wrong = (entries: TransipEntry[]): string | null => {
    const seen = new Set<string>();
    for (const { name, type, expire, content } of entries) {
      const text = JSON.stringify([name, type, content]);
      if (seen.has(text)) return `The entry ${text} is there twice`;
      seen.add(text);
      if (!Number.isInteger(expire) || expire < 60) return `The expire ${expire} is not valid`;
      if (type === 'TXT' && (!content || content.length > 1024 || /[\\`]|\s$/.test(content)))
        return 'The TXT is not valid';
      if (/^(CNAME|MX|NS|SRV|ALIAS)$/.test(type) && !content.endsWith('.')) return `The content ${content} is relative`;
      const alone = entries.filter((other) => other.name === name);
      if (type === 'CNAME' && alone.length > 1) return `The CNAME record '${name}' cannot stand beside others`;
    }
    return null;
  };
  const standIn = await startStandIn(({ method, path, headers, body }) => {
    if (path === '/auth') {
      // what is verified is the text itself: it comes as it is, without blanks
      const given = body as { login: string; nonce: string; expiration_time: string; global_key: boolean };
      const signature = Buffer.from(String(headers.signature), 'base64');
      const key = createPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' }));
      const right = verify('RSA-SHA512', Buffer.from(JSON.stringify(given)), key, signature);
      if (!right || given.login !== 'ada' || !/json/.test(String(headers['content-type'])))
        return no(401, 'The provided signature is invalid');
      if (nonces.has(given.nonce) || given.nonce.length > 32) return no(401, 'The nonce has been used before');
      nonces.add(given.nonce);
      // each is good until it ends: another one takes nothing of that back
      const token = `token-${++world.asked}`;
      world.tokens.push(token);
      return { status: 201, body: { token } };
    }
    if (!world.tokens.some((token) => headers.authorization === `Bearer ${token}`))
      return no(401, 'Your access token has been revoked.');
    const domain = (name: string) => ({ name, renewalDate: '2027-01-05', isDnsOnly: false, hasAutoDns: false });
    if (path === '/domains') return { body: { domains: world.domains.map(domain) } };
    const [, , name = '', what] = path.split('/');
    if (!world.domains.includes(name)) return no(404, `Domain with name '${name}' not found`);
    if (!what) return { body: { domain: domain(name) } };
    if (method === 'GET') return { body: { dnsEntries: world.entries, _links: [] } };
    const { dnsEntries } = body as { dnsEntries: TransipEntry[] };
    const why = wrong(dnsEntries);
    if (why) return no(406, why);
    world.entries = world.keeps(dnsEntries);
    return { status: 204 };
  });
  return Object.assign(standIn, { world });
}
