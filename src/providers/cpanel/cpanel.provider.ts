import { fullName, relativeName } from '../../dns/names.js';
import { quoteBytes, tokens } from '../../dns/text.js';
import { errorHooks, needed, neededList, ProviderError } from '../kit/http/errors.js';
import { serializePerZone } from '../kit/records/serialize-per-zone.js';
import { fromRrsets, type RrsetVerbs } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetMember } from '../kit/rrsets/record-set.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import { textStrings } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** One entry of a zone file (API reference 2026): parts of rdata apart, texts without quotes, all in base64. */
type Line = { line_index: number; type: string; record_type?: string; ttl?: number } & {
  dname_b64?: string;
  data_b64?: string[];
};
/** The same with its name and its parts as texts. */
type Read = Line & { name?: string; data?: string[] };
type Answer<T> = { status?: number; errors?: string[] | null; data?: T } | null | undefined;
type Domains = { main_domain?: string; addon_domains?: string[]; parked_domains?: string[] };
type Edit = { add: object[]; edit: object[]; remove: number[] };

/** What `$TTL` of cPanel's own templates says, for lines without one. */
const DEFAULT_TTL = 14400;
/** @throws TypeError where there is no text */
const bytesOf = (base64: string | undefined): Buffer => Buffer.from(base64 as string, 'base64');

export const connect: Connect = ({ url = '', endpoint, username, token }, context) => {
  const http = context.http.extend({
    baseUrl: `${(endpoint || url).replace(/\/+$/, '')}/execute`,
    headers: { authorization: `cpanel ${username}:${token}` },
    // in the words of cPanel (samples of lego, clients of 2026); both come with HTTP 200
    ...errorHooks(
      (body) => {
        const { status, errors } = (body ?? {}) as NonNullable<Answer<unknown>>;
        const words = errors?.length ? errors : ['cPanel does not say what is wrong'];
        return status === 0 && words.map((message) => ({ message: `${message}` }));
      },
      { changed: [/does not match the DNS zone.s serial/], not_found: [/do not control a DNS zone/] },
    ),
  });
  const domains = async (): Promise<Domains> =>
    needed((await http.get<Answer<Domains>>('/DomainInfo/list_domains'))?.data, 'domains');
  const linesOf = async ({ id: zone }: RemoteZone): Promise<Line[]> => {
    const answer = await http.get<Answer<Line[]>>('/DNS/parse_zone', { query: { zone } });
    return neededList(answer?.data, 'lines').filter((line) => line?.type !== 'comment' && line?.type !== 'control');
  };

  /** For one list of changes: its write holds the serial of what was read. */
  function once(): RrsetVerbs {
    let lines: Line[] = [];
    return {
      async readSets(zone, keys) {
        lines = await linesOf(zone);
        return setsAt(keys, await setsOf(lines, zone), zone.name);
      },
      async replaceSets(zone, sets) {
        const edit: Edit = { add: [], edit: [], remove: [] };
        for (const set of sets) editOf(edit, lines, zone, set);
        const form = formOf(edit, { zone: zone.id, serial: serialOf(lines) });
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        try {
          await http.post('/DNS/mass_edit_zone', { text: `${form}`, headers });
          return true;
        } catch (error) {
          if (error instanceof ProviderError && error.kind === 'changed') return false;
          throw error;
        }
      },
    };
  }

  return {
    check: async () => void (await domains()),
    // subdomains are in the zones of their domains
    async listZones() {
      const { main_domain, addon_domains, parked_domains } = await domains();
      const names = [needed(main_domain, 'main domain'), addon_domains ?? [], parked_domains ?? []].flat();
      return [...new Set(names)].map((name) => zoneOf(name));
    },
    listRecords: async (zone) => recordsIn(await setsOf(await linesOf(zone), zone), zone.name),
    // of two that write at once the slower one would only have to read again
    apply: serializePerZone((zone, changes, options) => fromRrsets(once())(zone, changes, options)),
  };
};

/** Names in a zone file are absolute with a final dot, else relative. */
const nameOf = ({ dname_b64 }: Line, zone: string): string => {
  const name = `${bytesOf(dname_b64)}`;
  return name.endsWith('.') ? name : fullName(name || '@', zone);
};

function rdataOf({ record_type: type = '', data_b64: data }: Line, zone: string): string {
  const data_b64 = neededList(data, 'data');
  if (type === 'TXT') return data_b64.map((part) => quoteBytes(bytesOf(part))).join(' ');
  const [flags, tag, ...rest] = data_b64.map((part) => `${bytesOf(part)}`);
  if (type === 'CAA') return `${flags} ${tag} ${quoteBytes(Buffer.from(rest.join(' ').replace(/^"(.*)"$/, '$1')))}`;
  return absoluteRdata(type, [flags, tag, ...rest].filter((part) => part !== undefined).join(' '), zone);
}

/** A line with its name and data decoded, as far as they can be: a line that is not understood is shown by them. */
function legible(line: Line, zone: string): Read {
  if (typeof line !== 'object' || line === null) return line;
  const read: Read = { ...line };
  try {
    read.name = nameOf(line, zone);
    read.data = neededList(line.data_b64, 'data').map((part) => `${bytesOf(part)}`);
  } catch {
    // a part is missing, or of another form
  }
  return read;
}

const setsOf = (lines: readonly Line[], { name: zone }: RemoteZone): Promise<PlainSet[]> =>
  plainSets(
    lines.map((line) => legible(line, zone)),
    (line) => ({
      ...{ name: needed(line.name, 'name'), type: needed(line.record_type, 'type'), ttl: line.ttl ?? DEFAULT_TTL },
      // a line has nothing of its own besides its place
      values: [{ rdata: rdataOf(line, zone), raw: line, own: {} }],
    }),
  );

function formOf({ add, edit, remove }: Edit, begin: Record<string, string>): URLSearchParams {
  const form = new URLSearchParams(begin);
  for (const one of add) form.append('add', JSON.stringify(one));
  for (const one of edit) form.append('edit', JSON.stringify(one));
  for (const one of remove) form.append('remove', `${one}`);
  return form;
}

function serialOf(lines: readonly Line[]): string {
  const soa = lines.find((line) => line?.record_type === 'SOA');
  return `${bytesOf(needed(soa?.data_b64?.[2], 'serial'))}`;
}

/** What makes a set of lines what it shall be: lines that stay are not touched, and every other one of it goes. */
function editOf(edit: Edit, lines: readonly Line[], zone: RemoteZone, set: RecordSet): void {
  const toApi = ({ rdata, ttl = set.ttl }: SetMember): object => ({
    ...{ dname: `${fullName(set.host, zone.name)}.`, ttl, record_type: set.type },
    data: set.type === 'TXT' ? textStrings(rdata) : (tokens(rdata) ?? []).map(({ text }) => text),
  });
  const kept = new Set<number | undefined>();
  for (const member of set.members) {
    const line = member.raw as Line | undefined;
    kept.add(line?.line_index);
    const isTtl = (line?.ttl ?? DEFAULT_TTL) === (member.ttl ?? set.ttl);
    const stays = line && isTtl && rdataOf(line, zone.name) === member.rdata;
    if (!line) edit.add.push(toApi(member));
    else if (!stays) edit.edit.push({ line_index: line.line_index, ...toApi(member) });
  }
  const isOfSet = (line: Line) =>
    line?.record_type === set.type && relativeName(nameOf(line, zone.name), zone.name) === set.host;
  for (const line of lines) if (isOfSet(line) && !kept.has(line.line_index)) edit.remove.push(line.line_index);
}
