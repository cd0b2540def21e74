import type { Asked, Difference } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';
import { bodyOf, withBody } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
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
];

/** Hosts of a list of Namecheap in the form for comparing. */
const hostsIn = (asked: Asked): string[][] =>
  ((bodyOf(asked).hosts as string[] | undefined) ?? []).map((one) => JSON.parse(one) as string[]);

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const namecheapOk = (result: string): Answer => ({
  headers: { 'content-type': 'text/xml' },
  body: `<?xml version="1.0"?><ApiResponse Status="OK"><Errors /><CommandResponse>${result}</CommandResponse></ApiResponse>`,
});
