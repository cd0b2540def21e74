import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { dnsRecord } from '../../src/dns/record.js';
import type { DnsProvider } from '../../src/providers/provider.js';
import { route53 } from '../../src/providers/route53/route53.provider.js';
import { type Answer, connectTo, type StandIn, startStandIn } from '../support/vendor.js';
import { providerContract } from './contract.js';

interface Stored {
  name: string;
  type: string;
  ttl: string;
  values: string[];
  /** further elements */
  more?: string;
}

const ZONE = 'contract.example.';
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const plain = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
const all = (text: string, tag: string) =>
  [...text.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map((m) => plain(m[1] as string));

/** What the API does (service model, traffic of 2022): XML, batches that are applied whole, octal escapes. */
async function startRoute53(): Promise<StandIn & { sets: Map<string, Stored>; most: { sets: number } }> {
  const sets = new Map<string, Stored>();
  const most = { sets: 300 };
  const key = ({ name, type }: Pick<Stored, 'name' | 'type'>) => `${name} ${type}`;
  const xml = (status: number, body: string): Answer => ({
    status,
    body: `<?xml version="1.0"?>\n${body}`,
    headers: { 'content-type': 'text/xml' },
  });
  const no = (status: number, code: string, message: string) =>
    xml(
      status,
      `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
    );
  const printed = ({ name, type, ttl, values, more }: Stored) =>
    `<ResourceRecordSet><Name>${name.replace('*', '\\052')}</Name><Type>${type}</Type>${more ?? ''}<TTL>${ttl}</TTL><ResourceRecords>${values
      .map((value) => `<ResourceRecord><Value>${escaped(value)}</Value></ResourceRecord>`)
      .join('')}</ResourceRecords></ResourceRecordSet>`;

  function batch(body: string): string | null {
    const next = new Map(sets);
    for (const [, change] of body.matchAll(/<Change>([\s\S]*?)<\/Change>/g)) {
      const [action, name, type, ttl] = ['Action', 'Name', 'Type', 'TTL'].map((tag) => all(change as string, tag)[0]);
      const set = { name: `${name}`, type: `${type}`, ttl: `${ttl}`, values: all(change as string, 'Value') };
      const now = next.get(key(set));
      if (action === 'DELETE') {
        if (JSON.stringify(now) !== JSON.stringify(set)) return 'the values provided do not match the current values';
        next.delete(key(set));
        continue;
      }
      if (new Set(set.values).size < set.values.length) return 'Duplicate Resource Record';
      const odd = set.values.some(
        (v) => /[^\x20-\x7e]/.test(v) || v.split(/\\\\|\\"/).some((p) => /\\(?![0-3][0-7]{2})/.test(p)),
      );
      if (odd) return 'Value contains characters that must be escaped';
      next.set(key(set), set);
    }
    for (const { name } of next.values()) {
      const types = [...next.values()].filter((set) => set.name === name).map((set) => set.type);
      if (types.includes('CNAME') && types.length > 1)
        return `RRSet of type CNAME with DNS name ${name} is not permitted`;
    }
    sets.clear();
    for (const [k, set] of next) sets.set(k, set);
    return null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const signature =
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/us-east-1\/route53\/aws4_request, SignedHeaders=\S*host\S*, Signature=[0-9a-f]{64}$/;
    if (!signature.test(headers.authorization ?? ''))
      return no(403, 'InvalidClientTokenId', 'The security token is invalid');
    if (path === '/2013-04-01/hostedzone') {
      const zone = `<HostedZone><Id>/hostedzone/Z1</Id><Name>${ZONE}</Name></HostedZone>`;
      return xml(
        200,
        `<ListHostedZonesResponse><HostedZones>${zone}</HostedZones><IsTruncated>false</IsTruncated></ListHostedZonesResponse>`,
      );
    }
    if (!path.startsWith('/2013-04-01/hostedzone/Z1/rrset')) return no(404, 'NoSuchHostedZone', 'No hosted zone found');
    if (method === 'POST') {
      const why = batch(String(body));
      return why
        ? xml(400, `<InvalidChangeBatch><Messages><Message>[${escaped(why)}]</Message></Messages></InvalidChangeBatch>`)
        : xml(
            200,
            '<ChangeResourceRecordSetsResponse><ChangeInfo><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>',
          );
    }
    const from = query.name ? key({ name: `${query.name.replace(/\.?$/, '.')}`, type: query.type ?? '' }) : '';
    const list = [...sets.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).filter(([k]) => k >= from);
    const page = list.slice(0, Math.min(most.sets, Number(query.maxitems))).map(([, set]) => printed(set));
    const next = list[page.length]?.[1];
    const more = next
      ? `<NextRecordName>${next.name}</NextRecordName><NextRecordType>${next.type}</NextRecordType>`
      : '';
    return xml(
      200,
      `<ListResourceRecordSetsResponse><ResourceRecordSets>${page.join('')}</ResourceRecordSets><IsTruncated>${!!next}</IsTruncated>${more}</ListResourceRecordSetsResponse>`,
    );
  });
  const put = (set: Stored) => sets.set(key(set), set);
  put({
    name: ZONE,
    type: 'SOA',
    ttl: '900',
    values: ['ns-1.awsdns-39.net. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400'],
  });
  put({ name: ZONE, type: 'NS', ttl: '172800', values: ['ns-1.awsdns-39.net.'] });
  return Object.assign(standIn, { sets, most });
}

/** The same without the limit of 5 requests a second, which only makes a test wait. */
const fast = { ...route53, limits: { ...route53.limits, requests: 1000 } };
const connect = (standIn: StandIn, id = 'AKID'): DnsProvider =>
  connectTo(fast, { access_key_id: id, secret_access_key: 'a-secret-key', endpoint: standIn.url });
const zone = { id: 'Z1', name: 'contract.example' };

providerContract('Route 53 (stand-in)', async () => {
  const standIn = await startRoute53();
  standIn.most.sets = 2;
  return { provider: connect(standIn), definition: route53, zone, stop: standIn.stop };
});

describe('Route 53', () => {
  let standIn: Awaited<ReturnType<typeof startRoute53>>;
  let provider: DnsProvider;
  beforeAll(async () => {
    standIn = await startRoute53();
    provider = connect(standIn);
  });
  afterAll(() => standIn.stop());

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(standIn, 'WRONG').check(), { kind: 'auth', message: /security token/ });
    await assert.rejects(provider.listRecords({ id: 'Z9', name: 'x.example' }), { kind: 'not_found' });
  });

  it('shows aliases and routed sets read-only, and leaves them alone', async () => {
    const name = `special.${ZONE}`;
    const more = '<SetIdentifier>eu</SetIdentifier><Weight>10</Weight>';
    standIn.sets.set(`${name} A`, { name, type: 'A', ttl: '60', values: ['192.0.2.1'], more });
    const found = (await provider.listRecords(zone)).filter((r) => r.host === 'special');
    assert.deepEqual(
      found.map((r) => [r.readOnly, r.value]),
      [[true, '192.0.2.1 of set "eu"']],
    );
    const after = dnsRecord({ host: 'special', type: 'A', value: '192.0.2.2' }, zone.name);
    const [outcome] = await provider.apply(zone, [{ op: 'create', after }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    standIn.sets.delete(`${name} A`);
  });

  it('waits when it asks too often, which is a status of 400', async () => {
    const { handler } = standIn;
    let refused = 0;
    standIn.handler = (request) =>
      refused++ === 0
        ? {
            status: 400,
            body: '<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>',
          }
        : handler(request);
    assert.ok((await provider.listRecords(zone)).length > 0);
    assert.equal(refused, 2);
    standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = standIn;
    const open = '<ListResourceRecordSetsResponse>';
    for (const body of [
      open,
      `${open}</ListResourceRecordSetsResponse>`,
      `${open}<ResourceRecordSets/></ListResourceRecordSetsResponse>`,
    ]) {
      standIn.handler = () => ({ body });
      await assert.rejects(provider.listRecords(zone), { kind: 'unavailable' }, body);
    }
    standIn.handler = handler;
  });
});
