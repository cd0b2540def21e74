import { isDeepStrictEqual } from 'node:util';
import { type Asked, type Course, type Difference, elements, readBody } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';
import * as aliyun from '../aliyun/replay.js';
import * as azure from '../azure/replay.js';
import * as cloudflare from '../cloudflare/replay.js';
import * as cloudns from '../cloudns/replay.js';
import * as desec from '../desec/replay.js';
import * as dnspod from '../dnspod/replay.js';
import * as gandi from '../gandi/replay.js';
import * as hetzner from '../hetzner/replay.js';
import * as huaweicloud from '../huaweicloud/replay.js';
import * as infomaniak from '../infomaniak/replay.js';
import * as inwx from '../inwx/replay.js';
import * as ionos from '../ionos/replay.js';
import * as namesilo from '../namesilo/replay.js';
import * as netcup from '../netcup/replay.js';
import * as ovh from '../ovh/replay.js';
import * as porkbun from '../porkbun/replay.js';
import * as scaleway from '../scaleway/replay.js';
import * as transip from '../transip/replay.js';
import * as vultr from '../vultr/replay.js';

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
/** A refusal of what was sent before in the same words. */
const refuseTwice =
  (path: RegExp, refusal: Answer) =>
  (asked: Asked, { asked: all }: Course) =>
    path.test(asked.path) && asked.method !== 'GET' && all.slice(0, -1).some((one) => isDeepStrictEqual(one, asked))
      ? refusal
      : undefined;

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
  {
    what: 'a creation that the steps ask for twice is sent twice',
    reason:
      'the recorded client looks before it writes, and sends nothing the second time; adapters may write, and look when they are refused: unless a kind says otherwise the answer is that of the first time',
    again: ({ scenario }) => {
      const wishes = (scenario.steps ?? []).flatMap(({ op, type, host, value }) =>
        op === 'create' ? [JSON.stringify([type, host, value])] : [],
      );
      return new Set(wishes).size < wishes.length;
    },
  },
];

export const DIFFERENCES: Readonly<Record<string, readonly Difference[]>> = {
  aliyun: [
    {
      what: 'who asks, GET in place of POST, paging, the line and the zone of writes',
      reason:
        'credentials, times and signatures are masked; lists come by the largest pages; the default line is said; what has an id needs no zone',
      normal: aliyun.parameters,
    },
    {
      what: 'zones are listed (`DescribeDomains`), not asked for by name (`DescribeDomainInfo`)',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
      answer: aliyun.zones,
    },
    {
      what: 'the whole zone is listed, not a name',
      reason:
        'the service shows all records; the list is made of the recorded ones, each of which has a part of the zone',
      answer: aliyun.records,
    },
    {
      what: 'a recorded page is a whole list',
      reason: 'the recorded client took pages of 20 and read no second one; the adapter asks for 500',
      fitted: aliyun.firstPage,
    },
    {
      what: 'a record that exists is asked for again',
      reason:
        'the recorded client looks before it writes; the adapter writes, and looks when it is refused: the recording has no refusal',
      answer: aliyun.unneeded,
    },
  ],

  azure: [
    {
      what: 'who asks for a token, and the case of `dnsZones` and of the group in paths',
      reason: 'credentials are masked; names of resources are the same in any case',
      normal: azure.bare,
    },
    {
      what: 'the whole zone is listed, and single sets are read',
      reason:
        'the recorded client listed all sets of a type each time; the answers are made of the sets in those lists',
      answer: azure.sets,
    },
    {
      what: 'the zone is asked for where a set is not found',
      reason: 'the same answer says that either is gone; the zone is that of the recorded list',
      answer: azure.zone,
    },
    {
      what: 'a set that changes is written once',
      reason: 'the recorded client deleted it first, so that it was gone for a while',
      unsent: azure.rewritten,
    },
  ],

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
    {
      what: 'several changes are one call',
      reason: 'the batch is carried out whole or not at all; it is younger than the recorded client',
      parts: cloudflare.singly,
      joined: cloudflare.together,
    },
  ],

  cloudns: [
    {
      what: 'parameters go in the body, without those that say who asks, filters, and what is empty',
      reason:
        'a password in a query is written down by proxies; whole zones are listed; the recorded client sent placeholders for priority, weight and port',
      normal: cloudns.parameters,
    },
    {
      what: 'zones are listed, not asked for by name (`get-zone-info`)',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
      answer: cloudns.zones,
    },
  ],

  desec: [
    {
      what: 'sets are written by PUT of a list, whole, with targets that are absolute',
      reason:
        'deSEC carries such a list out whole or not at all; the recorded client wrote set by set, by POST, PATCH or DELETE, and appended the zone to each target',
      normal: desec.writes,
      parts: desec.eachSet,
    },
    {
      what: 'zones are listed, not asked for by name',
      reason: 'the service shows all zones of an account; the list is made of those that the recorded client found',
      answer: desec.zones,
    },
    {
      what: 'the whole zone is listed',
      reason: 'the recorded client asked for names or types; the answer is made of the sets that were answered',
      answer: desec.sets,
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

  dnspod: [
    {
      what: 'who asks, paging, the zone by its name, the line by its id, the final dot of targets; TTL and state are said',
      reason:
        'tokens are masked; both names of a zone and of a line are documented; a name with its final dot is the same whatever the zone; what is left out becomes the default',
      normal: dnspod.parameters,
    },
    {
      what: 'zones are listed (`Domain.List`), not asked for by name (`Domain.Info`)',
      reason:
        'the service shows all zones of an account; the list is made of the recorded answers for single zones, or of the refusal',
      answer: dnspod.zones,
    },
  ],

  gandi: [
    {
      what: 'PUT in place of POST, quoted texts, targets with their final dot, the TTL of an update',
      reason:
        'PUT is taken whether the set is there or not; Gandi answers texts quoted and takes both; without its dot a target is one of the zone; a PUT without a TTL sets the default one',
      normal: gandi.writes,
    },
    {
      what: 'zones are listed, not asked for by name',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
      answer: gandi.zones,
    },
    {
      what: 'the whole zone is listed, and a set is read before it is written',
      reason: 'the recorded client read single sets, and not all that it wrote; the answers are made of those sets',
      answer: gandi.sets,
    },
    {
      what: 'a record that changes its name moves there',
      reason: 'the recorded client wrote the new name into the set of the old one, where it has no meaning',
      unsent: gandi.isRenaming,
      answer: gandi.moved,
    },
  ],

  hetzner: [
    {
      what: 'paging, the TTL of further records, targets with their final dot, and the last records of a set one by one',
      reason:
        'lists come by the largest pages; a set has one TTL, which its first record brings; without its dot a target is one of the zone; a set without records is removed (recorded)',
      normal: hetzner.sets,
    },
    {
      what: 'zones are listed, not asked for by name; the whole zone is listed',
      reason: 'the service shows all of an account; the answers are made of the recorded zones and sets',
      answer: hetzner.reads,
    },
    {
      what: 'a recorded page is a whole list',
      reason: 'the recorded client took pages of 25 and read no second one; the adapter asks for 100',
      fitted: hetzner.onePage,
    },
    {
      what: 'a record that changes its name moves there',
      reason: 'the recorded client looked for the new name, found no set of it, and wrote nothing',
      answer: hetzner.moved,
    },
  ],

  huaweicloud: [
    {
      what: 'version 2.1, paging and filters, names and targets with their final dot, the default line',
      reason:
        'lines are of version 2.1 alone; whole zones are listed, by the largest pages; a name with its final dot is the same everywhere; the line is said',
      normal: huaweicloud.sets,
    },
    {
      what: 'the zone is read before each write',
      reason: 'a set is written as a whole; the answer is made of the sets that were answered until then',
      answer: huaweicloud.list,
    },
    {
      what: 'creations that the recorded account refused are carried out',
      reason: 'the account still had those sets of an earlier time; what is asked for is compared all the same',
      fitted: huaweicloud.asInNewAccount,
    },
    {
      what: 'a second value comes to its set, and a record that changes its name moves there',
      reason:
        'the recorded client created the set a second time, and was refused; it wrote the new name into the old set, and the answer shows the old one',
      unsent: huaweicloud.mistaken,
      answer: huaweicloud.mended,
    },
  ],

  infomaniak: [
    {
      what: 'version 2 of the API for records, quoted texts, paging and filters; an update without the name that stays',
      reason:
        'what version 1 writes does not reach the name servers any more (certbot-dns-infomaniak, issue 48); answers are those of version 1 in the form of version 2',
      normal: infomaniak.version2,
      fitted: infomaniak.answers,
    },
    {
      what: 'a record that changes its name is made anew',
      reason: 'an update of version 2 has no name',
      unsent: infomaniak.isRenaming,
      answer: infomaniak.moved,
    },
  ],

  inwx: [
    {
      what: 'JSON-RPC in place of XML-RPC',
      reason: 'INWX speaks both, with the same calls: what was recorded is read as JSON',
      restored: inwx.asJson,
    },
    {
      what: 'a session in place of a user and password in each call, and a list of all domains',
      reason: 'a password is sent once; the service shows all zones: their list is made of the recorded single answers',
      normal: inwx.flat,
      answer: inwx.account,
    },
    {
      what: 'whole zones are read, and of an update what changes is sent',
      reason: 'the recorded client read one name and repeated what it knew; INWX keeps what is left out (recorded)',
      less: ({ body }) => /info$|updateRecord$/.test(String((body as Body).method)),
    },
    {
      what: 'what exists is looked for',
      reason:
        'the recorded client took the refusal (2302) for done; the adapter needs the id: the record is as it was sent',
      answer: inwx.existing,
    },
    {
      what: 'a record that is as it shall become is not updated',
      reason: 'the recorded client updated all records of the name, one of which had the value already',
      unsent: inwx.changesNothing,
    },
  ],

  ionos: [
    {
      what: 'whole zones are read',
      reason: 'the recorded client read one name and type',
      less: ({ method }) => method === 'GET',
    },
    {
      what: 'a look at the name before a record is made, and none is made twice',
      reason:
        'of an identical record IONOS makes a new one and drops the old one (recorded); answered is what was recorded',
      answer: ionos.look,
    },
    {
      what: 'a change is one PUT',
      reason:
        'it keeps the id; the recorded client took the record away and made it again, which takes longer to be seen',
      parts: ionos.remade,
      fitted: ionos.single,
    },
    {
      what: 'what is there is not made, and what is as it shall become not taken away',
      reason: 'the recorded client made a duplicate, and replaced all records of the name by one',
      unsent: ionos.unneeded,
    },
  ],

  luadns: [
    {
      what: 'lists are asked for in pages',
      reason: 'pages are documented since, with the length of the list; the recorded client took what it was given',
      normal: withoutQuery,
    },
    {
      what: 'a record is read before it is replaced',
      reason: 'what is not changed stays as the vendor has it; the answer is the record as it was listed',
      answer: ({ method, path }, course) => {
        const found = method === 'GET' ? recordIn(course, /\/records\/(\d+)$/.exec(path)?.[1]) : undefined;
        return found && { body: found };
      },
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

  namesilo: [
    {
      what: 'the key',
      reason: 'it was taken out of the recording',
      normal: ({ query: { key: _key, ...query }, ...asked }) => ({ ...asked, query }),
    },
    {
      what: 'domains are listed, not asked for by name',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single ones',
      answer: namesilo.domains,
    },
  ],

  netcup: [
    {
      what: 'who calls',
      reason: 'it was taken out of the recording',
      normal: netcup.withoutCaller,
    },
    {
      what: 'parameters',
      reason: 'they were taken out of the recording: what an update sent is what its answer has changed',
      restored: netcup.withParameters,
    },
    {
      what: 'domains are listed, not asked for by name',
      reason: 'the list is made of the recorded answers for single ones',
      answer: netcup.domains,
    },
  ],

  ovh: [
    {
      what: 'paths without a slash at the end',
      reason: 'both are the same',
      normal: ({ path, ...asked }) => ({ ...asked, path: path.replace(/\/$/, '') }),
    },
    {
      what: 'whole zones are read, and looked for is a name without its type for TXT',
      reason: 'the recorded client read one name and type; SPF, DKIM and DMARC are types of their own there',
      less: ({ method }) => method === 'GET',
    },
    {
      what: 'texts are quoted, targets absolute',
      reason: 'the recorded client left both to chance; without its dot a target is below the zone (recorded: answers)',
      normal: ovh.whole,
    },
    {
      what: 'an update repeats the TTL that the record has',
      reason: 'left out it would be that of the zone',
      normal: ovh.withoutKnownTtl,
    },
  ],

  porkbun: [
    {
      what: 'keys, and numbers as texts',
      reason: 'keys were taken out of the recording; Porkbun answers numbers as texts and takes both',
      normal: porkbun.withoutKeys,
    },
    {
      what: 'domains are listed; the recorded client pinged, and read the records of its domain',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single ones',
      answer: porkbun.domains,
    },
    {
      what: 'a record that exists is asked for again',
      reason: 'the recorded client looks before it writes; the adapter writes, and looks when it is refused',
      answer: refuseTwice(/^\/dns\/create\//, {
        status: 400,
        body: { status: 'ERROR', message: 'Create error: We were unable to create the DNS record.' },
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

  scaleway: [
    {
      what: 'names are relative, targets have their final dot, texts their quotes',
      reason:
        'the recorded client left out the dot after the zone of some names and after targets, which made them names below the zone; quotes are added by Scaleway (recorded)',
      restored: scaleway.meant,
    },
    {
      what: 'larger pages, deletions in another order, and a look at one name',
      reason: 'fewer calls; a list of changes is carried out as one',
      normal: scaleway.plain,
      more: ['page_size', 'name', 'type'],
    },
    {
      what: 'a record that exists is asked for again',
      reason: 'the recorded client looks before it writes; the adapter writes, and looks when it is refused',
      answer: refuseTwice(/\/records$/, { status: 409, body: { message: 'record already exists' } }),
    },
    {
      what: 'the answer is short, no zone is made, and remarks are repeated',
      reason:
        'a record of a zone that is gone would make a new zone; a record that is set takes the place of the old one',
      normal: scaleway.withoutOptions,
    },
    {
      what: 'zones are listed',
      reason: 'the recorded client only reads the records of its zone; the list is made of those answers',
      answer: scaleway.zones,
    },
  ],

  transip: [
    {
      what: 'the login',
      reason: 'it was taken out of the recording; nonce and label are for one use',
      normal: (asked) => (asked.path === '/auth' ? { ...asked, body: undefined } : asked),
    },
    {
      what: 'domains are listed, not asked for by name',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single ones',
      answer: transip.domains,
    },
    {
      what: 'the zone is written whole',
      reason:
        'only so several changes are one; the recorded client took and gave entries one by one: what a write changes is compared with these',
      parts: transip.byEntry,
    },
    {
      what: 'what was written is read back',
      reason:
        'TransIP says yes and leaves out what does not please it; where the recording has no reading after a write, it is made of the last one and what was written since',
      answer: transip.asWritten,
    },
    {
      what: 'an entry that moves to another name is made there',
      reason: 'the recorded client made it again where it was',
      restored: transip.moved,
    },
  ],

  vultr: [
    {
      what: 'larger pages',
      reason: 'fewer calls; the recorded client took the usual page',
      normal: vultr.unpaged,
    },
    {
      what: 'of an update what changes is sent',
      reason: 'PATCH keeps what is left out (recorded); the recorded client repeated what it knew',
      less: ({ method }) => method === 'PATCH',
    },
    {
      what: 'a record that exists is asked for again',
      reason: 'the recorded client looks before it writes; the adapter writes, and looks when it is refused',
      answer: refuseTwice(/\/records$/, { status: 400, body: { error: 'Duplicate records', status: 400 } }),
    },
  ],

  vercel: [
    {
      what: 'pages of lists',
      reason:
        'the recorded client read the first page, of 20, alone; the page after it, which is asked for until nothing is older, was not recorded',
      normal: withoutQuery,
    },
    {
      what: 'the zones are listed, not asked for by name',
      reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
      answer: ({ path }, { scenario }) => {
        if (path !== '/v5/domains') return undefined;
        const bodies = scenario.interactions.map(({ response }) => response.body as { domain?: object } | undefined);
        const domains = bodies.flatMap((body) => body?.domain ?? []);
        return { body: { domains, pagination: { count: domains.length, next: null, prev: null } } };
      },
    },
    {
      what: 'the TTL is sent',
      reason: 'who makes a record in the service says its TTL; the recorded client left it out',
      more: ['ttl'],
    },
    {
      what: 'PATCH of what changes in place of a new record and the deletion of the old one',
      reason: 'a record that is changed is never absent, and keeps its id and its comment',
      unsent: (asked, { scenario }) =>
        (scenario.steps ?? []).some(
          ({ op, host, value }) =>
            op === 'update' &&
            (asked.method === 'DELETE' || (bodyOf(asked).name === host && bodyOf(asked).value === value)),
        ),
      answer: ({ method, path }, { scenario }) => {
        const updates = (scenario.steps ?? []).some((step) => step.op === 'update');
        return updates && method === 'PATCH' ? { body: { id: path.split('/').at(-1), type: 'record' } } : undefined;
      },
    },
    {
      what: 'a record that is created once more gets the TTL that is wished with it',
      reason: 'the recorded client, which names no TTL, found it there and did nothing',
      answer: ({ method, path, body }, { asked }) =>
        method === 'PATCH' && Object.keys(body as Body).join() === 'ttl' && asked.some((one) => one.method === 'POST')
          ? { body: { id: path.split('/').at(-1), type: 'record' } }
          : undefined,
    },
    {
      what: 'a record that exists is asked for again',
      reason:
        'the recorded client looks before it writes; the adapter writes, and looks when it is refused: the recording has no refusal',
      answer: (asked, { asked: all }) => {
        if (asked.method !== 'POST') return undefined;
        const same = all.filter((one) => one.method === 'POST' && JSON.stringify(one) === JSON.stringify(asked));
        const error = { code: 'conflict', message: 'A record with that name already exists' };
        return same.length > 1 ? { status: 409, body: { error } } : undefined;
      },
    },
  ],

  yandexcloud: [
    {
      what: 'whole lists, by pages as large as the API allows',
      reason: 'the recorded client asked for a name and a type where it could',
      normal: (asked) => (asked.path.endsWith(':listRecordSets') ? withoutQuery(asked) : asked),
    },
    {
      what: 'the zones are listed, not asked for by id',
      reason: 'the service shows all zones of a folder; the list is made of the recorded answers for single zones',
      answer: ({ path }, { scenario }) => {
        if (path !== '/zones') return undefined;
        const bodies = scenario.interactions.map(({ response }) => response.body as { id?: string; zone?: string });
        const zones = bodies.filter(({ zone }) => zone);
        return { body: { dnsZones: [...new Map(zones.map((zone) => [zone.id, zone])).values()] } };
      },
    },
    {
      what: '`updateRecordSets` in place of `upsertRecordSets`',
      reason:
        'it refuses what is not as it was read, so that nothing is lost that others write meanwhile; names and targets are absolute, texts quoted: the recorded client wrote some names that Yandex took for relative ones',
      normal: (asked) => {
        if (!/:up\w+RecordSets$/.test(asked.path)) return asked;
        const written = yandexSets(asked);
        const deleted = ((bodyOf(asked).deletions ?? []) as YandexSet[]).map(yandexSet);
        const path = asked.path.replace(/:.*/, ':updateRecordSets');
        return { ...asked, path, body: written.length ? { written } : { deleted } };
      },
    },
    {
      what: 'sets are read before a write and after it',
      reason: 'the recorded client read none before some writes; what was not recorded is made of what was written',
      answer: ({ path, query }, { asked: all }) => {
        const known = new Map(all.flatMap(yandexSets).map((set) => [`${set.name} ${set.type}`, set]));
        const shown = (set: YandexSet) => ({ ...set, name: `${set.name}.example.com.`, ttl: `${set.ttl}` });
        if (path.endsWith(':listRecordSets'))
          return known.size ? { body: { recordSets: [...known.values()].map(shown) } } : undefined;
        if (!path.endsWith(':getRecordSet')) return undefined;
        const set = known.get(`${yandexHost(`${query.name}`)} ${query.type}`);
        return set ? { body: shown(set) } : { status: 404, body: { code: 5, message: 'RecordSet not found' } };
      },
    },
    {
      what: 'a value that is there is not written again',
      reason: 'creating what exists is a success; the recorded answer has no change in it',
      unsent: (asked, { scenario }) =>
        scenario.interactions.filter(
          ({ request }) => JSON.stringify(yandexSets({ body: request.body })) === JSON.stringify(yandexSets(asked)),
        ).length > 1 && yandexSets(asked).length > 0,
    },
  ],

  regfish: [
    {
      what: 'the domain of the account is asked for, also where another one was looked for',
      reason: 'the API lists no domains: those that the account names are looked at, and nothing else',
      answer: ({ path }, { zone }) =>
        path === `/dns/${zone}/rr` ? { body: { success: true, response: [], code: 0 } } : undefined,
    },
    {
      what: 'a record is read before it is replaced',
      reason: 'what is not changed stays as the vendor has it; the answer is the record as it was listed',
      answer: ({ method, path }, course) => {
        const found = method === 'GET' ? recordIn(course, /\/rr\/(\d+)$/.exec(path)?.[1]) : undefined;
        return found && { body: { success: true, response: found, code: 0 } };
      },
    },
  ],
};

/** A record with this id, as it was answered last. */
function recordIn({ known }: Course, id: string | undefined): object | undefined {
  const all = known.flatMap(({ response }) => {
    const body = response.body as { response?: unknown } | unknown[] | null;
    return [Array.isArray(body) ? body : (body?.response ?? body)].flat() as ({ id?: unknown } | null)[];
  });
  return all.findLast((one) => id !== undefined && String(one?.id) === id) ?? undefined;
}

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

interface YandexSet {
  name: string;
  type: string;
  ttl: string | number;
  data: string[];
}
const yandexHost = (name: string): string => name.replace(/(\.example\.com)?\.?$/, '');
/** A set for comparing: its name relative to the recorded zone, values without quotes and final dots. */
const yandexSet = ({ name, type, ttl, data }: YandexSet): YandexSet => ({
  ...{ name: yandexHost(name), type, ttl: Number(ttl) },
  data: data.map((one) => `${unquoted(one)}`.replace(/\.$/, '')),
});
/** What a change writes, as recorded, as sent, or in the form for comparing. */
const yandexSets = (asked: Pick<Asked, 'body'>): YandexSet[] => {
  const {
    replacements,
    additions = replacements,
    written = additions,
  } = (asked.body ?? {}) as Record<string, YandexSet[] | undefined>;
  return (written ?? []).map(yandexSet);
};
