import { fullName } from '../../dns/names.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { NotBegun, neededList } from '../kit/http/errors.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import type { SetMember } from '../kit/rrsets/record-set.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (OpenAPI 2026, samples of lego): names relative, `@` at the apex; rdata as in zone files. */
type ApiRecord = { content: string; is_disabled?: boolean };
type ApiSet = { name: string; type: string; ttl: number; records: ApiRecord[] };
type Domain = { domain: string | null; status?: string };
type Failure = { message?: string; errors?: object } | null;

const wordsOf = (body: unknown): string | undefined => {
  const { message, errors } = (body as Failure) ?? {};
  return [message ?? [], errors ? JSON.stringify(errors) : []].flat().join(': ') || undefined;
};

export const connect: Connect = ({ api_token }, context) => {
  const http = context.http.extend({
    headers: { authorization: `Bearer ${api_token}` },
    errorMessage: wordsOf,
    // a domain of somebody else, or of none, is HTTP 403 "[DNS:4002] Customer does not own …" (clients of 2026)
    errorKind: (_status, body) => (/DNS:4002/.test(wordsOf(body) ?? '') ? 'not_found' : undefined),
  });
  const domains = () => http.get<Domain[]>('/api/domains/v1/portfolio');
  const sets = async (zone: RemoteZone): Promise<PlainSet[]> =>
    plainSets(await http.get<ApiSet[]>(pathOf(zone)), (set) => plain(set, zone.name));

  return {
    check: async () => void (await domains()),
    // one that is bought and has no name yet is none
    listZones: async () =>
      neededList(await domains(), 'domains').flatMap(({ domain, status }) =>
        domain && !/^(requested|pending_setup|failed|deleted)$/.test(status ?? '') ? zoneOf(domain) : [],
      ),
    ...fromSets(sets, {
      async replaceSet(zone, { host: name, type, ttl, members, raw }) {
        // a write has no place for the state, and would switch them on (OpenAPI 2026)
        if (members.some(({ enabled }) => !enabled))
          throw new NotBegun('rejected', `A value of ${type} ${name} is disabled there: change it in hPanel`);
        if (members.length) {
          const records = members.map((member) => toApi(type, member));
          const set = { ...(raw as object | undefined), name, type, ttl, records };
          await http.put(pathOf(zone), { json: { overwrite: true, zone: [set] } });
        } else await http.delete(pathOf(zone), { json: { filters: [{ name, type }] } });
        return true;
      },
    }),
  };
};

const pathOf = ({ id }: RemoteZone): string => `/api/dns/v1/zones/${encodeURIComponent(id)}`;

/** A text is kept as it was sent, with quotes or without (listed so in 2026). */
const rdataOf = (type: string, content: string): string =>
  type === 'TXT' ? txtPresentation(txtFromInput(content)) : content;

function plain({ name, type, ttl, records, ...extra }: ApiSet, zone: string): PlainSet {
  const values = records.map((raw) => {
    const { content, is_disabled: off, ...more } = raw;
    return { rdata: rdataOf(type, content), enabled: !off, raw, extra: more };
  });
  // a write has no place for that state
  const readOnly = values.every(({ enabled }) => enabled) ? undefined : 'It has values that are switched off';
  return { name: fullName(name || '@', zone), type, ttl, values, extra, readOnly };
}

/** What does not change goes back as it was read; of a value that does, what was read is the old one. */
function toApi(type: string, { rdata, raw }: SetMember): ApiRecord {
  const { is_disabled: _state, ...kept } = (raw ?? {}) as Partial<ApiRecord>;
  const { content = rdata } = kept;
  return { ...kept, content: rdataOf(type, content) === rdata ? content : rdata };
}
