import { fullName, toAscii } from '../../dns/names.js';
import { txtFromPresentation, txtPresentation } from '../../dns/text.js';
import { attributesOf, listIn, listOf, numbered } from '../kit/http/body.js';
import { cutShort, errorHooks, ProviderError, type VendorError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import type { RecordSet } from '../kit/rrsets/record-set.js';
import { fromZone } from '../kit/zone/whole-zone.js';
import type { Connect, RemoteZone } from '../provider.js';

/** Attributes (recorded 2020), among others that go back as they came: texts not quoted, a preference always. */
type Host = Record<'Name' | 'Type' | 'Address' | 'MXPref' | 'TTL', string> & { IsDDNSEnabled?: string };
type Hosts = { '@EmailType'?: string; '@IsUsingOurDNS'?: string; host?: object | object[] };
type Domain = { '@Name': string; '@IsOurDNS'?: string };
type Domains = { DomainGetListResult?: object | ''; Paging?: { TotalItems?: string } };
type Answer<T> = { ApiResponse?: { '@Status': string; Errors?: object; CommandResponse?: T } };
const errorsOf = (body: unknown): VendorError[] => {
  const list = listIn((body as Answer<unknown> | undefined)?.ApiResponse?.Errors, 'Error') ?? [];
  return list.map(({ '@Number': code, '#text': message }) => ({ code, message }));
};
// error numbers (Namecheap's documentation of global parameters and of each method; 2030166 recorded 2020)
const KINDS = {
  auth: '1010101 1010102 1011102 1011105 1011150 1016103 1017101 1017103 1017105 1017150 1017411 1019103'.split(' '),
  not_found: ['2016166', '2019166', '2030166', '2030288'],
  unavailable: ['1050900', '3031510', '3050900', '5050169', '5050900'],
};

export const connect: Connect = ({ api_user, api_key, client_ip, username, force }, context) => {
  const http = context.http.extend({ answers: 'xml', ...errorHooks(errorsOf, KINDS, { 405: 'rate_limit' }) });
  const own = { ApiUser: api_user, ApiKey: api_key, UserName: username || api_user, ClientIp: client_ip };
  const call = async <T>(command: string, given: object, reads = true): Promise<T> => {
    const form = { ...own, Command: `namecheap.domains.${command}`, ...given };
    const answer = await http.post<Answer<T> | undefined>('', { form, reads, idempotent: true });
    const { '@Status': status, CommandResponse: result } = answer?.ApiResponse ?? {};
    if (status !== 'OK' || !result) throw cutShort('result');
    return result;
  };
  return {
    check: () => call('getList', { PageSize: 10 }),
    async listZones() {
      const domains = await allPages(getName, async ({ page: Page }) => {
        const { DomainGetListResult: list, Paging } = await call<Domains>('getList', { Page, PageSize: 100 });
        return { entries: listIn(list, 'Domain') as Domain[] | undefined, total: Number(Paging?.TotalItems) };
      });
      // of a domain with name servers elsewhere there is no zone here
      const ours = domains.filter((domain) => domain['@IsOurDNS'] !== 'false').map(getName);
      return ours.map((name) => ({ id: name, name: toAscii(name) }));
    },
    ...fromZone({
      async readZone(zone) {
        const answer = await call<{ DomainDNSGetHostsResult?: Hosts }>('dns.getHosts', nameOf(zone));
        const { '@EmailType': email, '@IsUsingOurDNS': ours, host, ...rest } = answer.DomainDNSGetHostsResult ?? {};
        if (ours === 'false') throw new ProviderError('not_found', `${zone.name} has its name servers elsewhere`);
        // hosts under another name (the documentation writes "Host") are no empty list
        if (!ours || Object.keys(rest).some((name) => !name.startsWith('@'))) throw cutShort('hosts');
        return { entries: listOf(host).map((one) => attributesOf(one) as Host), email };
      },
      plain({ Name, Type, Address, MXPref, TTL, ...more }, zone) {
        const rdata = Type === 'TXT' ? txtPresentation(Address) : Type === 'MX' ? `${MXPref} ${Address}` : Address;
        const { HostId: _id, IsActive: _active, IsDDNSEnabled: _dynamic, ...extra } = more;
        return { name: fullName(Name, zone.name), type: Type, ttl: Number(TTL), rdata, extra };
      },
      entry({ host: Name, type: Type, ttl }, { rdata, raw }): Host {
        const [MXPref = '', target = ''] = Type === 'MX' ? rdata.split(' ') : ['10', rdata];
        const Address = Type === 'TXT' ? (txtFromPresentation(rdata) ?? rdata) : target;
        return { ...(raw as Host | undefined), Name, Type, Address, MXPref, TTL: `${ttl}` };
      },
      writeZone(zone, { entries, email }, sets) {
        if (force !== 'true') assertStatic(entries);
        const hosts = numbered(entries, { Name: 'HostName', Type: 'RecordType' });
        return call('dns.setHosts', { ...nameOf(zone), EmailType: emailType(email, entries, sets), ...hosts }, false);
      },
    }),
  };
};

const getName = (domain: Domain): string => domain['@Name'];
/** What is registered is one label below a public suffix, of however many labels that is: `example`, `co.uk`. */
const nameOf = ({ id }: RemoteZone) => ({ SLD: id.replace(/\..*/, ''), TLD: id.replace(/^[^.]*\./, '') });

/** A write has no word for Dynamic DNS: it ends that of each host it names. @throws ProviderError */
function assertStatic(hosts: readonly Host[]): void {
  const names = hosts.filter(({ IsDDNSEnabled: dynamic }) => dynamic === 'true').map(({ Name }) => Name);
  if (!names.length) return;
  const words = `This write would end Dynamic DNS of ${[...new Set(names)].join(', ')}, since Namecheap takes all hosts at once`;
  throw new ProviderError('rejected', `${words}: give the account "force": "true" to write all the same`, false);
}

// Where the domain's mail goes, repeated with every write, or it changes. MX records are kept under "MX" only
// (go-namecheap 2017): one at the apex ends forwarding ("FWD"), and the last that goes leaves nothing ("NONE");
// mailboxes there (MXE, OX, GMAIL) are not ended here.
function emailType(now: string | undefined, hosts: readonly Host[], sets: readonly RecordSet[]): string | undefined {
  const mx = sets.filter(({ type, members }) => type === 'MX' && members.length);
  if (now === 'MX' && !hosts.some(({ Type }) => Type === 'MX')) return 'NONE';
  if (!mx.length || now === 'MX') return now;
  if (!now || now === 'NONE' || (now === 'FWD' && mx.some(({ host }) => host === '@'))) return 'MX';
  throw new ProviderError('rejected', `Its mail is handled by Namecheap (${now}): choose custom MX there first`);
}
