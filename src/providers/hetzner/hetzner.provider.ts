import { fullName } from '../../dns/names.js';
import { asProviderError, cutShort, errorHooks, needed, ProviderError, type VendorError } from '../kit/http/errors.js';
import { allPages, byId } from '../kit/http/pages.js';
import { pollUntilDone } from '../kit/http/poll-until-done.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { fewOrAll, type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import { filled, type RecordSet, type SetMember } from '../kit/rrsets/record-set.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import { zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has them (OpenAPI 2026; recorded 2026): names relative, `@` at the apex; without a TTL, the zone's. */
type ApiSet = { id: string; name: string; type: string; ttl: number | null; records: ApiValue[] };
type ApiValue = { value: string; comment?: string };
type ApiZone = { id: number; name: string; mode: string; ttl: number };
type Action = { action?: { id: number; status: string; error: VendorError | null } } | undefined;
type List<T> = { [key: string]: T[] | undefined } & { meta?: { pagination?: Record<string, number | null> } };

// codes by Hetzner's documentation; with the last ones another action is at the zone, and nothing was done yet
const AUTH = ['unauthorized', 'forbidden', 'token_readonly'];
const KINDS = { auth: AUTH, rejected: ['protected'], rate_limit: ['rate_limit_exceeded', 'locked', 'conflict'] };

export const connect: Connect = ({ api_token }, context) => {
  const errorsOf = (body: unknown) => (body as { error?: VendorError } | null)?.error;
  const headers = { authorization: `Bearer ${api_token}` };
  const http = context.http.extend({ headers, ...errorHooks(errorsOf, KINDS) });
  const list = <T extends { id: string | number }>(path: string, key: string, per_page: number, query = {}) =>
    allPages<T>(byId, async ({ page }) => {
      const answer = await http.get<List<T> | undefined>(path, { query: { ...query, page, per_page } });
      const { next_page: next = '', total_entries: total = Number.NaN } = answer?.meta?.pagination ?? {};
      return { entries: answer?.[key], next, ...(total === null ? {} : { total }) };
    });
  const zones = async (query = {}): Promise<RemoteZone[]> => {
    const all = await list<ApiZone>('/zones', 'zones', 50, query);
    // those of the mode "secondary" have no record sets here
    return all.flatMap(({ id, name, mode }) => (mode === 'secondary' ? [] : zoneOf(name, id)));
  };
  const sets = async (zone: RemoteZone, query = {}): Promise<PlainSet[]> => {
    const all = await list<ApiSet>(`${pathOf(zone)}/rrsets`, 'rrsets', 100, query);
    const read = async () => (await http.get<{ zone?: ApiZone } | undefined>(pathOf(zone)))?.zone?.ttl;
    const usual = all.some((set) => set.ttl === null) ? needed(await read(), 'TTL of the zone') : Number.NaN;
    return plainSets(all, ({ name, type, ttl, records, ...set }) => {
      const of = ({ value, ...own }: ApiValue) => ({
        ...{ rdata: absoluteRdata(type, value, zone.name), raw: { value, ...filled(own) }, own, extra: own },
      });
      return { name: fullName(name, zone.name), type, ttl: ttl ?? usual, values: records.map(of), extra: bare(set) };
    });
  };
  /** Every write is an action, which is at work for seconds after its answer (recorded 2026). */
  const act = async (path: string, json: object): Promise<void> => {
    const running = (job: Action) => job?.action?.status === 'running';
    const look = (job: Action) => http.get<Action>(`/zones/actions/${job?.action?.id}`);
    const action = (await pollUntilDone(await http.post<Action>(path, { json }), running, look))?.action;
    if (action?.error) throw new ProviderError('rejected', `${action.error.message} (code ${action.error.code})`, true);
    if (action?.status !== 'success') throw cutShort('action that is carried out');
  };
  return {
    check: async () => void (await http.get('/zones', { query: { per_page: 1 } })),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ name })),
    ...fromSets(sets, {
      readSets: fewOrAll(3, (zone, { host: name, type }) => sets(zone, { name, type }), sets),
      async replaceSet(zone, set, was) {
        for (const [i, [path, json]] of stepsOf(set, was).entries()) {
          const failure = await act(`${pathOf(zone)}/rrsets${path}`, json).then(() => null, asProviderError);
          // what was to be changed went meanwhile: it is read once more
          if (i === 0 && failure?.kind === 'not_found' && !failure.mayHaveApplied) return false;
          if (failure) throw failure.applied(failure.mayHaveApplied || i > 0);
        }
        return true;
      },
    }),
  };
};

const pathOf = (zone: RemoteZone): string => `/zones/${encodeURIComponent(zone.id)}`;
const bare = (set: object) => ({ ...set, id: undefined, zone: undefined, protection: undefined }); // Hetzner's own

/** The actions that make a set what it shall be. Comments stay, and what others add where no value changes. */
function stepsOf({ host, type, ttl, members, extra }: RecordSet, was: RecordSet): [path: string, json: object][] {
  const to = (verb: string) => `/${encodeURIComponent(host)}/${type}/actions/${verb}`;
  const without = (all: SetMember[], others: SetMember[]) =>
    all.filter((member) => others.every(({ remoteId }) => remoteId !== member.remoteId));
  const record = ({ rdata, raw }: SetMember) => ({ ...(raw as ApiValue | undefined), value: rdata });
  const added = without(members, was.members).map(record);
  const gone = without(was.members, members).map(({ raw }) => ({ value: (raw as ApiValue).value }));
  const anew = extra && { ...extra, name: host, type };
  if (!was.members.length) return [[anew ? '' : to('add_records'), { ...anew, ttl, records: added }]];
  const verb = added.length ? (gone.length ? 'set_records' : 'add_records') : 'remove_records';
  const records = verb === 'set_records' ? members.map(record) : [...added, ...gone];
  const steps: [string, object][] = members.length && ttl !== was.ttl ? [[to('change_ttl'), { ttl }]] : [];
  return records.length ? [...steps, [to(verb), { records }]] : steps;
}
