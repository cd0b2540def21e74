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

/** What the API does (service model, traffic of 2022): XML, batches that are applied whole, octal escapes. */
export async function startRoute53(): Promise<StandIn & { sets: Map<string, Stored>; most: { sets: number } }> {
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
      const id = '<Id>/hostedzone/Z1</Id>';
      const zone = `<HostedZone>${id}<Name>${ZONE}</Name><CallerReference>01f9750a</CallerReference></HostedZone>`;
      return xml(
        200,
        `<ListHostedZonesResponse><HostedZones>${zone}</HostedZones><IsTruncated>false</IsTruncated><MaxItems>${query.maxitems ?? 100}</MaxItems></ListHostedZonesResponse>`,
      );
    }
    if (!path.startsWith('/2013-04-01/hostedzone/Z1/rrset')) return no(404, 'NoSuchHostedZone', 'No hosted zone found');
    if (method === 'POST') {
      const why = batch(String(body));
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
