import { createHmac } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

type StoredValue = Record<string, unknown> & { disableFlag?: boolean };
export interface StoredSet {
  [more: string]: unknown;
  id: number;
  name: string;
  type: string;
  ttl: number;
  roundRobin: StoredValue[];
}

export const KEYS = { api_key: 'a-key', secret_key: 'a-secret-of-the-tests' };
const ZONE = { id: 4242, name: 'contract.example' };
const ADDRESS = { value: 'string' };
const TARGET = { value: 'string' };
/** what a value of each type is made of (vendor's Terraform provider, samples of octoDNS) */
const VALUES: Record<string, Record<string, string>> = {
  ...{ A: ADDRESS, AAAA: ADDRESS, ANAME: TARGET, CNAME: TARGET, NS: TARGET, PTR: TARGET, TXT: { value: 'string' } },
  MX: { value: 'string', level: 'number' },
  SRV: { value: 'string', priority: 'number', weight: 'number', port: 'number' },
  CAA: { flag: 'number', tag: 'string', data: 'string', caaProviderId: 'number' },
};
/** what a set has besides, where nothing else is said (recorded 2018) */
const DEFAULTS = { recordOption: 'roundRobin', noAnswer: false, note: '', gtdRegion: 1, geolocation: null };
const OWN = { parentId: ZONE.id, parent: 'domain', source: 'Domain' };

/** Texts are answered in quotes, their strings without a blank between them (recorded 2018, samples of octoDNS). */
function quoted(text: unknown): string {
  const given = String(text);
  return given.startsWith('"') ? given.replaceAll('" "', '""') : `"${given}"`;
}

/**
 * What the API does: traffic of 2018, samples of lego and octoDNS, the documentation of the vendor's Terraform
 * provider. An update takes the place of all that can be set.
 */
export async function startConstellix() {
  const state = {
    sets: [] as StoredSet[],
    zones: [{ id: 77, name: 'other.example' }, ZONE] as { id: number; name: string }[],
  };
  let ids = 92008;
  const no = (status: number, ...errors: string[]): Answer => ({ status, body: { errors } });
  const shown = (set: StoredSet): object => {
    const { type, roundRobin } = set;
    const bare = /^A(AAA)?$/.test(type) ? roundRobin.map(({ value }) => value) : roundRobin;
    const value = type === 'CNAME' ? set.host : bare;
    return { ...set, recordType: type.toLowerCase(), modifiedTs: Date.now(), value };
  };
  const wrong = ({ id, type, name, ttl, roundRobin }: StoredSet): string | null => {
    const form = VALUES[type];
    if (!form) return `Invalid record type ${type}`;
    if (!Number.isInteger(ttl) || ttl < 0 || ttl > 2147483647) return 'TTL must be in between 0 and 2147483647';
    if (!Array.isArray(roundRobin) || !roundRobin.some((one) => !one.disableFlag))
      return 'At least one roundRobin object should be active';
    for (const one of roundRobin) {
      const odd = Object.entries(form).find(([part, kind]) => typeof one[part] !== kind);
      if (odd) return `${odd[0]} of ${type} is invalid`;
      const long = String(one.value)
        .split(/(?<!\\)" ?"/)
        .some((text) => text.replace(/\\(\d{3}|.)/g, 'x').replace(/^"|"$/g, '').length > 255);
      if (type === 'TXT' && long) return 'a string is longer than 255 characters';
    }
    const texts = roundRobin.map(({ disableFlag: _off, ...one }) => JSON.stringify(one));
    if (new Set(texts).size < texts.length) return 'Duplicate values';
    const beside = state.sets.filter((set) => set.name === name && set.type !== type && set.id !== id);
    return beside.some((set) => set.type === 'CNAME' || type === 'CNAME') || (type === 'CNAME' && texts.length > 1)
      ? 'a CNAME stands alone'
      : null;
  };
  const standIn: StandIn = await startStandIn(({ method, path, headers, body }) => {
    const [key, hmac, time = ''] = String(headers['x-cns-security-token']).split(':');
    const own = createHmac('sha1', KEYS.secret_key).update(time).digest('base64');
    if (key !== KEYS.api_key || hmac !== own || Math.abs(Date.now() - Number(time)) > 60_000)
      return no(401, 'Unable to authenticate token');
    const [, , zone, , given = '', id] = path.split('/');
    if (!zone) return { body: state.zones };
    if (zone !== String(ZONE.id)) return no(404, 'Requested domain was not found');
    if (!given) return { body: state.sets.map(shown) };
    const type = given.toUpperCase();
    const found = state.sets.find((set) => String(set.id) === id && set.type === type);
    if (id && !found) return no(404, 'Requested record was not found');
    if (method === 'DELETE') {
      state.sets = state.sets.filter((set) => set !== found);
      return { body: { success: 'Record  deleted successfully' } };
    }
    const { value: _value, modifiedTs: _time, ...sent } = body as StoredSet;
    const made: StoredSet = { ...DEFAULTS, ...sent, ...OWN, type, id: found?.id ?? ids++ };
    if (type === 'CNAME') made.roundRobin = [{ value: made.host ?? '', disableFlag: false }];
    const why = wrong(made);
    if (why) return no(400, why);
    const twin = (set: StoredSet) => set.name === made.name && set.type === type && set.gtdRegion === made.gtdRegion;
    if (state.sets.some((set) => set !== found && twin(set)))
      return no(
        400,
        `"${type}" record with name "${made.name}" in GTD Region "Default" of domain "${ZONE.name}" already exists`,
      );
    if (type === 'TXT') made.roundRobin = made.roundRobin.map((one) => ({ ...one, value: quoted(one.value) }));
    if (found && JSON.stringify(Object.entries(found).sort()) === JSON.stringify(Object.entries(made).sort()))
      return no(400, 'no changes to save');
    if (!found) state.sets.push(made);
    else state.sets[state.sets.indexOf(found)] = made;
    return { body: found ? { success: 'Record  updated successfully' } : [shown(made)] };
  });
  return Object.assign(standIn, { state });
}
