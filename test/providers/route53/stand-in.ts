import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

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

/** A hosted zone; all have one name. */
interface Zone {
  id: string;
  hidden?: boolean;
}

export interface Route53 extends StandIn {
  zones: Zone[];
  /** of the zone Z1 */
  sets: Map<string, Stored>;
  setsOf(id: string): Map<string, Stored>;
  most: { sets: number };
}

/** What the API does (service model, traffic of 2022): XML, batches that are applied whole, octal escapes. */
export async function startRoute53(): Promise<Route53> {
  const zones: Zone[] = [{ id: 'Z1' }];
  const held = new Map<string, Map<string, Stored>>();
  const most = { sets: 300 };
  function setsOf(id: string): Map<string, Stored> {
    const known = held.get(id);
    if (known) return known;
    const sets = new Map<string, Stored>();
    held.set(id, sets);
    const put = (set: Stored) => sets.set(key(set), set);
    put({
      name: ZONE,
      type: 'SOA',
      ttl: '900',
      values: ['ns-1.awsdns-39.net. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400'],
    });
    put({ name: ZONE, type: 'NS', ttl: '172800', values: ['ns-1.awsdns-39.net.'] });
    return sets;
  }
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

  function batch(body: string, sets: Map<string, Stored>): string | null {
    const next = new Map(sets);
    for (const [, change] of body.matchAll(/<Change>([\s\S]*?)<\/Change>/g)) {
      const [action, name, type, ttl] = ['Action', 'Name', 'Type', 'TTL'].map((tag) => all(change as string, tag)[0]);
      const more = /<HealthCheckId>.*?<\/HealthCheckId>/.exec(change as string)?.[0];
      const set = {
        ...{ name: `${name}`, type: `${type}`, ttl: `${ttl}`, values: all(change as string, 'Value') },
        ...(more && { more }),
      };
      const now = next.get(key(set));
      if (action === 'DELETE') {
        const what = `Tried to delete resource record set [name='${name}', type='${type}']`;
        if (!now) return `${what} but it was not found`;
        if (JSON.stringify(now) !== JSON.stringify(set))
          return `${what} but the values provided do not match the current values`;
        if (name === ZONE && type === 'NS')
          return 'A HostedZone must contain at least one NS record for the zone itself.';
        next.delete(key(set));
        continue;
      }
      if (action === 'CREATE' && now)
        return `Tried to create resource record set [name='${name}', type='${type}'] but it already exists`;
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
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/(us-east-1|cn-northwest-1|us-gov-west-1)\/route53\/aws4_request, SignedHeaders=\S*host\S*, Signature=[0-9a-f]{64}$/;
    if (!signature.test(headers.authorization ?? ''))
      return no(403, 'InvalidClientTokenId', 'The security token is invalid');
    if (path === '/2013-04-01/hostedzone') {
      const config = '<Config><Comment></Comment><PrivateZone>';
      const list = zones.map(
        ({ id, hidden = false }) =>
          `<HostedZone><Id>/hostedzone/${id}</Id><Name>${ZONE}</Name><CallerReference>01f9750a</CallerReference>${config}${hidden}</PrivateZone></Config></HostedZone>`,
      );
      return xml(
        200,
        `<ListHostedZonesResponse><HostedZones>${list.join('')}</HostedZones><IsTruncated>false</IsTruncated><MaxItems>${query.maxitems ?? 100}</MaxItems></ListHostedZonesResponse>`,
      );
    }
    const asked = zones.find(({ id }) => path.startsWith(`/2013-04-01/hostedzone/${id}/rrset`));
    if (!asked) return no(404, 'NoSuchHostedZone', 'No hosted zone found');
    const sets = setsOf(asked.id);
    if (method === 'POST') {
      const why = batch(String(body), sets);
      return why
        ? xml(400, `<InvalidChangeBatch><Messages><Message>[${escaped(why)}]</Message></Messages></InvalidChangeBatch>`)
        : xml(
            200,
            '<ChangeResourceRecordSetsResponse><ChangeInfo><Id>/change/C0537538G8T0NETNOSFS</Id><Status>PENDING</Status><SubmittedAt>2022-04-19T20:56:28.449Z</SubmittedAt></ChangeInfo></ChangeResourceRecordSetsResponse>',
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
      `<ListResourceRecordSetsResponse><ResourceRecordSets>${page.join('')}</ResourceRecordSets><IsTruncated>${!!next}</IsTruncated>${more}<MaxItems>${query.maxitems}</MaxItems></ListResourceRecordSetsResponse>`,
    );
  });
  return Object.assign(standIn, { zones, sets: setsOf('Z1'), setsOf, most });
}
