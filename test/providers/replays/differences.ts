import { type Asked, type Difference, elements, readBody } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

/**
 * Every difference between the recorded traffic and what our adapters send that is accepted, by kind, with its reason.
 * What is not said here has to be equal: method, path, query and body of each request, every recorded write, ids,
 * lists. `EVERYWHERE` is for all kinds.
 */

type Body = Record<string, unknown>;
const bodyOf = (asked: Asked): Body => (asked.body ?? {}) as Body;
const withBody = (asked: Asked, change: (body: Body) => Body): Asked =>
  typeof asked.body === 'object' && asked.body !== null ? { ...asked, body: change(asked.body as Body) } : asked;
const withoutQuery = (asked: Asked): Asked => (asked.method === 'GET' ? { ...asked, query: {} } : asked);
const unquoted = (value: unknown) => (typeof value === 'string' ? value.replace(/^"(.*)"$/, '$1') : value);

export const EVERYWHERE: readonly Difference[] = [
  {
    what: 'fields of a body that are null are left out',
    reason: 'the recording client sends each of its options, and null for those that it was not given',
    normal: (asked) =>
      withBody(asked, (body) =>
        Array.isArray(body) ? body : Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
      ),
  },
  {
    what: 'a body that is an empty object is none',
    reason: 'the recording client sends one with each GET and DELETE',
    normal: (asked) => (JSON.stringify(asked.body) === '{}' ? { ...asked, body: undefined } : asked),
  },
];

export const DIFFERENCES: Readonly<Record<string, readonly Difference[]>> = {
  cloudflare: [
    {
      what: 'paging and filters of lists',
      reason:
        'whole zones are listed, by pages as large as the API allows; the recorded client asked for a name, in pages of 100',
      normal: withoutQuery,
    },
    {
      what: 'TXT is sent quoted',
      reason:
        'the API keeps it as it was sent, and only the quoted form holds texts over 255 bytes and blanks at the ends',
      normal: (asked) =>
        withBody(asked, (body) => ('content' in body ? { ...body, content: unquoted(body.content) } : body)),
    },
    {
      what: '`proxied` is always sent',
      reason: 'left out it is the default of the zone, which nobody chose',
      more: ['proxied'],
    },
    {
      what: 'PATCH of what changes in place of PUT of the whole record',
      reason: 'PUT takes away comments, tags and what else the service does not know',
      normal: (asked) => (asked.method === 'PUT' ? { ...asked, method: 'PATCH' } : asked),
      less: (asked) => asked.method === 'PATCH',
    },
  ],

  digitalocean: [
    {
      what: 'paging and filters of lists',
      reason: 'whole zones are listed, in pages of 200; the recorded client took the usual page',
      normal: withoutQuery,
    },
    {
      what: 'zones are listed, not asked for by name',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
      answer: ({ path }, { scenario }) => {
        if (path !== '/domains') return undefined;
        const bodies = scenario.interactions.map(
          ({ response }) => response.body as { domain?: object; domains?: object[] },
        );
        const domains = bodies.flatMap((body) => body?.domains ?? (body?.domain ? [body.domain] : []));
        return { body: { domains, meta: { total: domains.length } } };
      },
    },
    {
      what: 'the TTL is sent',
      reason: 'who changes a record in the service says its TTL; the recorded client left it out',
      more: ['ttl'],
    },
    {
      what: 'PATCH of what changes in place of PUT of the whole record',
      reason: 'PUT sets what is left out back to its default',
      normal: (asked) => (asked.method === 'PUT' ? { ...asked, method: 'PATCH' } : asked),
      less: (asked) => asked.method === 'PATCH',
    },
    {
      what: 'a record that exists is asked for again',
      reason:
        'the recorded client looks before it writes; the adapter writes, and looks when it is refused: the recording has no refusal',
      answer: (asked, { scenario }) =>
        twinAnswer(
          asked,
          scenario.interactions.map((i) => i.request.body as Body),
        ),
    },
  ],

  namecheap: [
    {
      what: 'parameters go in the body, without those that say who asks',
      reason: 'a key in a query is written down by proxies; the recording has masked who asked',
      normal: (asked) => {
        const all = { ...asked.query, ...bodyOf(asked) };
        const own = ['ApiUser', 'ApiKey', 'UserName', 'ClientIp', 'ClientIP'];
        return {
          ...asked,
          path: '',
          query: {},
          body: Object.fromEntries(Object.entries(all).filter(([key]) => !own.includes(key))),
        };
      },
    },
    {
      what: 'the zones are listed (`getList`), not asked for by name (`getInfo`)',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
      answer: (asked, { scenario }) => {
        if (bodyOf(asked).Command !== 'namecheap.domains.getList') return undefined;
        const names = scenario.interactions.flatMap(({ response }) => {
          const [, name, ours] =
            /<DomainGetInfoResult[^>]* DomainName="([^"]+)"[\s\S]*IsUsingOurDNS="(\w+)"/.exec(`${response.body}`) ?? [];
          return name ? [`<Domain Name="${name}" IsOurDNS="${ours}" />`] : [];
        });
        return namecheapOk(
          `<DomainGetListResult>${names.join('')}</DomainGetListResult><Paging><TotalItems>${names.length}</TotalItems></Paging>`,
        );
      },
    },
    {
      what: 'a list of hosts is compared as a set, without the ids of hosts',
      reason:
        'the recorded client puts new hosts first or last; ids are given anew with each write and mean nothing to it',
      normal: (asked) => {
        const body = bodyOf(asked);
        if (body.Command !== 'namecheap.domains.dns.setHosts') return asked;
        const numbers = Object.keys(body).flatMap((key) => /^HostName(\d+)$/.exec(key)?.[1] ?? []);
        const FIELDS = ['HostName', 'RecordType', 'Address', 'MXPref', 'TTL', 'AssociatedAppTitle', 'FriendlyName'];
        const hosts = numbers.map((n) => JSON.stringify(FIELDS.map((field) => body[`${field}${n}`] || '')));
        return {
          ...asked,
          body: { Command: body.Command, SLD: body.SLD, TLD: body.TLD, EmailType: body.EmailType, hosts: hosts.sort() },
        };
      },
    },
    {
      what: 'the type of mail is repeated with each write',
      reason: 'without it Namecheap takes mail forwarding away',
      normal: (asked) =>
        withBody(asked, (body) => {
          const { EmailType: _type, ...rest } = body;
          return rest;
        }),
    },
    {
      what: 'a host that is there is not written again',
      reason: 'the recorded client adds it a second time, and Namecheap keeps it once (recorded)',
      unsent: (asked) => {
        const places = hostsIn(asked).map(([name, type, address]) => `${name} ${type} ${address?.replace(/\.$/, '')}`);
        return new Set(places).size < places.length;
      },
    },
    {
      what: 'several deletions are one write',
      reason: 'the list is written as a whole: the recorded client wrote it once for each',
      unsent: (asked, { asked: all }) => {
        const left = JSON.stringify(hostsIn(asked));
        return all.some((own) => {
          const hosts = hostsIn(own).map((host) => JSON.stringify(host));
          return hosts.length > 0 && hosts.length < hostsIn(asked).length && hosts.every((host) => left.includes(host));
        });
      },
    },
    {
      what: 'a change of a value is one write, and takes the place of the old value',
      reason:
        'the recorded client deleted one host, not the one that was asked for, since its account held the new value already, and added another',
      unsent: (_asked, { scenario }) => (scenario.steps ?? []).some((step) => step.op === 'update'),
      answer: (asked, { scenario }) => {
        const updates = (scenario.steps ?? []).some((step) => step.op === 'update');
        const writes = bodyOf(asked).Command === 'namecheap.domains.dns.setHosts';
        return updates && writes ? namecheapOk('<DomainDNSSetHostsResult IsSuccess="true" />') : undefined;
      },
    },
    {
      what: 'what was written is read back',
      reason:
        'Namecheap says yes and leaves out what does not please it; where the recording has no reading after a write, it is made of what was sent',
      answer: (asked, { asked: all }) => {
        if (bodyOf(asked).Command !== 'namecheap.domains.dns.getHosts') return undefined;
        const written = all.findLast((one) => bodyOf(one).Command === 'namecheap.domains.dns.setHosts');
        if (!written) return undefined;
        const printed = hostsIn(written).map(([name, type, address, pref, ttl, title, friendly], i) => {
          const values = {
            HostId: `${i}`,
            Name: name,
            Type: type,
            Address: address,
            MXPref: pref,
            TTL: ttl,
            AssociatedAppTitle: title,
            FriendlyName: friendly,
          };
          return `<host ${Object.entries(values)
            .map(([key, value]) => `${key}="${escaped(`${value}`)}"`)
            .join(' ')} />`;
        });
        return namecheapOk(
          `<DomainDNSGetHostsResult EmailType="FWD" IsUsingOurDNS="true">${printed.join('')}</DomainDNSGetHostsResult>`,
        );
      },
    },
  ],

  route53: [
    {
      what: 'the list of zones is asked for as `hostedzone`, not `hostedzonesbyname`',
      reason:
        'both list all zones; only the first pages by one marker. The answer is the recorded one under the other name',
      answer: (asked, { scenario }) => {
        if (asked.path !== '/2013-04-01/hostedzone') return undefined;
        const found = scenario.interactions.find(({ request }) => request.url.includes('hostedzonesbyname'));
        return (
          found && {
            body: `${found.response.body}`.replaceAll('ListHostedZonesByNameResponse', 'ListHostedZonesResponse'),
          }
        );
      },
    },
    {
      what: 'paging of lists, and the name at which they begin',
      reason: 'few sets are read one by one, from their name on; the recorded client read the whole zone each time',
      normal: withoutQuery,
    },
    {
      what: 'a comment on each change',
      reason: 'it has no meaning, and is the name of the recorded client',
      normal: (asked) => changeBatch(asked, ({ Comment: _comment, ...batch }) => batch),
    },
    {
      what: 'targets are absolute',
      reason: 'Route 53 takes both; a name with its final dot is the same whatever the zone',
      normal: (asked) =>
        changeBatch(asked, (batch) => ({
          ...batch,
          Changes: {
            Change: elements((batch.Changes as Body | undefined)?.Change).map((change) => {
              const set = change.ResourceRecordSet as Body;
              if (set?.Type !== 'CNAME') return change;
              const values = elements((set.ResourceRecords as Body)?.ResourceRecord);
              const ResourceRecord = values.map(({ Value }) => ({ Value: `${Value}`.replace(/\.?$/, '.') }));
              return { ...change, ResourceRecordSet: { ...set, ResourceRecords: { ResourceRecord } } };
            }),
          },
        })),
    },
    {
      what: 'UPSERT in place of CREATE',
      reason: 'a set is written as a whole, and repeating that is harmless when an answer was lost',
      normal: (asked) =>
        changeBatch(asked, (batch) => ({
          ...batch,
          Changes: elements((batch.Changes as Body | undefined)?.Change).map((change) => ({
            ...change,
            Action: change.Action === 'CREATE' ? 'UPSERT' : change.Action,
          })),
        })),
    },
    {
      what: 'a record that changes its name moves there',
      reason: 'the recorded client wrote the old name again; the adapter deletes the old set and writes the new one',
      unsent: (asked, { scenario, zone }) =>
        renames(scenario.steps ?? [], zone).some(
          ({ from }) =>
            JSON.stringify(asked.body ?? '').includes(`"${from}"`) &&
            !JSON.stringify(asked.body).includes('"challengetoken"'),
        ),
      answer: (asked, { scenario, zone }) => {
        const moved =
          asked.method === 'POST' &&
          renames(scenario.steps ?? [], zone).some(({ from, to }) => {
            const words = JSON.stringify(asked.body);
            return words.includes(`"${from}"`) && words.includes(`"${to}"`) && words.includes('"DELETE"');
          });
        return moved ? ROUTE53_PENDING : undefined;
      },
    },
    {
      what: 'a value that is there is not written again',
      reason: 'creating what exists is a success; Route 53 refuses the same value twice in a set (recorded)',
      unsent: (asked) =>
        changesOf(asked).some((change) => {
          const values = elements(((change.ResourceRecordSet as Body)?.ResourceRecords as Body)?.ResourceRecord).map(
            (r) => r.Value,
          );
          return new Set(values).size < values.length;
        }),
    },
  ],

  powerdns: [
    {
      what: 'the list of zones is asked for, not a zone by name',
      reason: 'the service shows all zones of a server; the list is made of the recorded answers for single zones',
      answer: (asked, { scenario }) => {
        if (!/\/servers\/[^/]+\/zones$/.test(asked.path)) return undefined;
        const zones = scenario.interactions.flatMap(({ request, response }) => {
          const { id, name } = (response.status < 300 ? (response.body ?? {}) : {}) as { id?: string; name?: string };
          return request.method === 'GET' && name ? [{ id: id ?? name, name: name.replace(/\.?$/, '.') }] : [];
        });
        return { body: [...new Map(zones.map((zone) => [zone.id, zone])).values()] };
      },
    },
    {
      what: 'the version of the server is asked for, and names are searched',
      reason: 'large zones are not read whole for one name; a server that cannot tell is read whole, as recorded',
      answer: (asked) =>
        /\/servers\/[^/]+$/.test(asked.path) || asked.path.endsWith('/search-data')
          ? { status: 404, body: { error: 'Not Found' } }
          : undefined,
    },
    { what: 'filters of a zone', reason: 'they only make the answer shorter', normal: withoutQuery },
    {
      what: 'secondaries are not told by hand',
      reason: 'the server does so by itself when its zone is a primary one',
      unsent: (asked) => asked.method === 'PUT' && asked.path.endsWith('/notify'),
    },
  ],
};

/** Hosts of a list of Namecheap in the form for comparing. */
const hostsIn = (asked: Asked): string[][] =>
  ((bodyOf(asked).hosts as string[] | undefined) ?? []).map((one) => JSON.parse(one) as string[]);
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const namecheapOk = (result: string): Answer => ({
  headers: { 'content-type': 'text/xml' },
  body: `<?xml version="1.0"?><ApiResponse Status="OK"><Errors /><CommandResponse>${result}</CommandResponse></ApiResponse>`,
});

const ROUTE53_PENDING: Answer = {
  headers: { 'content-type': 'text/xml' },
  body: '<?xml version="1.0"?><ChangeResourceRecordSetsResponse><ChangeInfo><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>',
};
const batchOf = (asked: Asked): Body | undefined =>
  (bodyOf(asked).ChangeResourceRecordSetsRequest as { ChangeBatch?: Body } | undefined)?.ChangeBatch;
const changesOf = (asked: Asked): Body[] => {
  const changes = batchOf(asked)?.Changes;
  return Array.isArray(changes) ? (changes as Body[]) : elements((changes as Body | undefined)?.Change);
};
function changeBatch(asked: Asked, change: (batch: Body) => Body): Asked {
  const batch = batchOf(asked);
  return batch ? { ...asked, body: { ChangeResourceRecordSetsRequest: { ChangeBatch: change(batch) } } } : asked;
}
const renames = (steps: readonly { op: string; from?: string; host?: string }[], zone: string) =>
  steps.flatMap(({ op, from, host }) =>
    op === 'update' && from && from !== host ? [{ from: `${from}.${zone}.`, to: `${host}.${zone}.` }] : [],
  );

/** A refusal of what was written before in the same words. */
function twinAnswer(asked: Asked, sent: readonly (Body | undefined)[]): Answer | undefined {
  if (asked.method !== 'POST') return undefined;
  const body = readBody(asked.body) as Body;
  const same = sent.some((one) => one && one.type === body.type && one.name === body.name && one.data === body.data);
  return same ? { status: 422, body: { id: 'unprocessable_entity', message: 'Record already exists.' } } : undefined;
}
