import assert from 'node:assert/strict';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A host as the API shows it (recorded 2020). */
export interface Stored {
  id: number;
  name: string;
  type: string;
  address: string;
  pref: string;
  ttl: string;
  title: string;
  /** Dynamic DNS, which ends with the next write */
  ddns?: boolean;
}
export interface World {
  /** of contract.co.uk */
  hosts: Stored[];
  email: string;
  /** names with what `IsOurDNS` says */
  domains: Record<string, boolean>;
  /** entries of a page at most, whatever is asked for */
  page: number;
  /** what it does with a list before it keeps it */
  keeps: (hosts: Stored[]) => Stored[];
}

const quoted = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replace(/[^\x20-\x7e]/gu, (c) => `&#x${c.codePointAt(0)?.toString(16)};`);
export const document = (status: string, errors: string, result: string): Answer => ({
  headers: { 'content-type': 'text/xml; charset=utf-8' },
  body: `<?xml version="1.0" encoding="utf-8"?>
<ApiResponse Status="${status}" xmlns="http://api.namecheap.com/xml.response">
  <Errors${errors ? `>${errors}</Errors>` : ' />'}
  <Warnings />
  <RequestedCommand>x</RequestedCommand>
  ${result}
  <Server>PHX01SBAPIEXT01</Server>
</ApiResponse>`,
});
export const ok = (result: string) => document('OK', '', `<CommandResponse>${result}</CommandResponse>`);
export const no = (code: string, words: string) => document('ERROR', `<Error Number="${code}">${words}</Error>`, '');
const printed = ({ id, name, type, address, pref, ttl, title, ddns = false }: Stored) =>
  `<host HostId="${id}" Name="${quoted(name)}" Type="${type}" Address="${quoted(address)}" MXPref="${pref}" TTL="${ttl}" AssociatedAppTitle="${title}" FriendlyName="" IsActive="true" IsDDNSEnabled="${ddns}" />`;

/** What the API does (its documentation, traffic of 2020, reports of clients): one list, ids anew with each write. */
export async function startNamecheap(): Promise<{ standIn: StandIn; world: World }> {
  let ids = 746354;
  const world: World = {
    hosts: [],
    email: 'NONE',
    domains: { 'contract.co.uk': true },
    page: 100,
    keeps: (hosts) => hosts,
  };

  /** A list of numbered fields; a word why it is refused. */
  function listOf(form: Map<string, string>): Stored[] | string {
    const list: Stored[] = [];
    for (let i = 1; form.has(`RecordType${i}`); i++) {
      const field = (name: string) => form.get(`${name}${i}`);
      const [name, type, address, ttl] = [field('HostName'), field('RecordType'), field('Address'), field('TTL')];
      if (!name || !type || address === undefined) return 'Parameter is missing';
      if (!/^(A|AAAA|ALIAS|CAA|CNAME|MX|MXE|NS|TXT|URL|URL301|FRAME)$/.test(type)) return `Invalid type ${type}`;
      if (!ttl || Number(ttl) < 60 || Number(ttl) > 60000) return 'TTL is out of range';
      const target = ['ALIAS', 'CNAME', 'MX', 'NS'].includes(type) ? address.replace(/\.?$/, '.') : address;
      const title = field('AssociatedAppTitle') ?? '';
      list.push({ id: ids++, name, type, address: target, pref: field('MXPref') ?? '10', ttl, title });
    }
    const clash = list.find((a) => a.type === 'CNAME' && list.some((b) => b !== a && b.name === a.name));
    return clash ? `CNAME ${clash.name} is in the way` : list;
  }

  const standIn = await startStandIn(({ method, path, headers, body }) => {
    assert.deepEqual([method, path], ['POST', '/xml.response']);
    assert.match(String(headers['content-type']), /^application\/x-www-form-urlencoded/);
    const form = new Map(new URLSearchParams(String(body)));
    const user = ['ApiUser', 'UserName', 'ClientIp'].map((name) => form.get(name));
    if (form.get('ApiKey') !== 'a-key') return no('1011102', 'API Key is invalid or API access has not been enabled');
    assert.deepEqual(user, ['ada', 'ada', '192.0.2.9']);
    const command = form.get('Command');
    if (command === 'namecheap.domains.getList') {
      const [page, size] = [Number(form.get('Page') ?? 1), Math.min(world.page, Number(form.get('PageSize') ?? 20))];
      const all = Object.entries(world.domains).map(
        ([name, ours], i) => `<Domain ID="${i}" Name="${name}" User="ada" IsExpired="false" IsOurDNS="${ours}" />`,
      );
      const some = all.slice((page - 1) * size, page * size).join('\n');
      return ok(
        `<DomainGetListResult>${some}</DomainGetListResult><Paging><TotalItems>${all.length}</TotalItems><CurrentPage>${page}</CurrentPage><PageSize>${size}</PageSize></Paging>`,
      );
    }
    const [sld, tld] = [form.get('SLD'), form.get('TLD')];
    if (sld !== 'contract' || tld !== 'co.uk') return no('2019166', 'Domain not found');
    const ours = world.domains['contract.co.uk'];
    if (command === 'namecheap.domains.dns.getHosts') {
      const open = `<DomainDNSGetHostsResult Domain="contract.co.uk" EmailType="${world.email}" IsUsingOurDNS="${ours}"`;
      const list = ours ? world.hosts.map(printed).join('\n') : '';
      return ok(list ? `${open}>\n${list}\n</DomainDNSGetHostsResult>` : `${open} />`);
    }
    if (command !== 'namecheap.domains.dns.setHosts') return no('1010104', 'Parameter Command is missing');
    if (!ours) return no('2030288', 'Cannot complete this command as this domain is not using proper DNS servers');
    const list = listOf(form);
    if (typeof list === 'string') return no('2050900', list);
    world.email = form.get('EmailType') ?? 'FWD';
    // under another type MX records are not kept, and nothing is said
    const kept = list.filter(({ type }) => type !== 'MX' || ['MX', 'OX', 'GMAIL'].includes(world.email));
    world.hosts = world.keeps(kept);
    return ok(
      '<DomainDNSSetHostsResult Domain="contract.co.uk" IsSuccess="true"><Warnings /></DomainDNSSetHostsResult>',
    );
  });
  return { standIn, world };
}
