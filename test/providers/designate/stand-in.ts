import { randomUUID } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredSet {
  id: string;
  name: string;
  type: string;
  ttl: number | null;
  records: string[];
  description: string | null;
  action: string;
  status: string;
}

export const ZONE = { id: '2150b1bf-dee2-4221-9d85-11f7886fb15f', name: 'contract.example.' };
const TYPES = 'A AAAA CAA CNAME MX NAPTR NS PTR SPF SRV SSHFP TXT'.split(' ');
const NAMES = 'CNAME MX NS PTR SRV'.split(' ');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What Keystone and Designate do (references and source 2024): tokens with a catalogue, markers, parts of sets. */
export async function startDesignate() {
  const make = (more: Partial<StoredSet>): StoredSet => ({
    ...{ id: randomUUID(), name: ZONE.name, type: 'NS', ttl: null, records: ['ns1.example.org.'], description: null },
    ...{ action: 'NONE', status: 'ACTIVE' },
    ...more,
  });
  const sets = [
    make({ type: 'SOA', records: ['ns1.example.org. admin.contract.example. 1 3600 600 86400 3600'] }),
    make({}),
  ];
  const zones = [
    { ...ZONE, type: 'PRIMARY', ttl: 3600, action: 'NONE', status: 'ACTIVE' },
    { id: randomUUID(), name: 'copy.example.', type: 'SECONDARY', ttl: 3600, action: 'NONE', status: 'ACTIVE' },
    { id: randomUUID(), name: 'going.example.', type: 'PRIMARY', ttl: 3600, action: 'DELETE', status: 'PENDING' },
  ];
  const most = { page: 1000 };
  const cloud = { tokens: new Set<string>(), seconds: 3600, path: '/dns', regions: ['one', 'two'] };
  const no = (code: number, type: string, message: string, errors?: object): Answer => ({
    ...{ status: code, body: { code, type, message, request_id: 'req-1', ...(errors && { errors }) } },
  });
  const unknown: Answer = {
    status: 401,
    body: {
      error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' },
    },
  };

  function tokenFor({ identity, scope }: Sent['auth']): Answer {
    const { application_credential: app, password: { user } = {} } = identity;
    const known = identity.methods[0] === 'password' ? user : app;
    const right = app
      ? app.id === 'an-id' && app.secret === 'a-secret'
      : user?.name === 'ada' && user.password === 'a-password';
    // without a scope there is no catalogue
    if (!known || !right || (user && (user.domain.name !== 'Default' || scope?.project.name !== 'dns'))) return unknown;
    const token = `token-${randomUUID()}`;
    cloud.tokens.add(token);
    const endpoints = cloud.regions.flatMap((region) =>
      ['internal', 'public'].map((kind) => ({
        interface: kind,
        region,
        url: `${standIn.url}${cloud.path}/${region}/${kind}`,
      })),
    );
    const catalog = [
      { type: 'compute', endpoints: [] },
      { type: 'dns', endpoints },
    ];
    const expires_at = new Date(Date.now() + cloud.seconds * 1000).toISOString();
    return { status: 201, headers: { 'x-subject-token': token }, body: { token: { expires_at, catalog } } };
  }

  function wrong({ type, name, ttl, records, id }: StoredSet): Answer | null {
    const bad = (path: string, message: string) =>
      no(400, 'invalid_object', 'Provided object does not match schema', { errors: [{ path: [path], message }] });
    if (!TYPES.includes(type)) return bad('type', `'${type}' is not a supported type`);
    if (!name.endsWith(ZONE.name)) return no(400, 'invalid_recordset_location', 'RecordSet is not in the zone');
    if (ttl !== null && (!Number.isInteger(ttl) || ttl < 1)) return bad('ttl', 'is not in the range');
    if (!Array.isArray(records) || !records.length) return bad('records', 'is required');
    if (NAMES.includes(type) && records.some((text) => !text.endsWith('.'))) return bad('records', 'is not an FQDN');
    if (type === 'TXT' && records.some((text) => !/^("(\\.|[^"\\]){0,1020}"( |$))+$/.test(text)))
      return bad('records', 'TXT has to be quoted');
    const beside = sets.filter((set) => set.name === name && set.id !== id);
    if (beside.some((set) => set.type === type)) return no(409, 'duplicate_recordset', 'Duplicate RecordSet');
    const clash = type === 'CNAME' ? beside.length > 0 || records.length > 1 : beside.some((s) => s.type === 'CNAME');
    return clash ? no(400, 'invalid_recordset_location', 'CNAME recordsets may not share a name') : null;
  }

  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (path === '/identity/v3/auth/tokens') return tokenFor((body as Sent).auth);
    if (!cloud.tokens.has(`${headers['x-auth-token']}`)) return unknown;
    const [, base, rest = ''] = /^(\/.+?)\/v2(\/.*)$/.exec(path) ?? [];
    if (base !== `${cloud.path}/one/public`) return no(404, 'not_found', 'no such service');
    const listed = (key: string, all: { id: string }[]): Answer => {
      const size = Math.min(most.page, Number(query.limit ?? 20));
      const at = query.marker ? all.findIndex(({ id }) => id === query.marker) + 1 : 0;
      if (query.marker && !at) return no(400, 'marker_not_found', 'Marker not found');
      const some = all.slice(at, at + size);
      const marker = at + size < all.length ? some.at(-1)?.id : undefined;
      const self = `${standIn.url}${path}`;
      const links = { self, ...(marker && { next: `${self}?limit=${size}&marker=${marker}` }) };
      return { body: { [key]: some, links, metadata: { total_count: all.length } } };
    };
    const [, , zoneId, what, id] = rest.split('/').map(decodeURIComponent);
    if (!zoneId)
      return listed(
        'zones',
        zones.filter(({ name }) => !query.name || name === query.name),
      );
    if (!UUID.test(zoneId)) return no(400, 'invalid_uuid', `Invalid UUID zone_id: ${zoneId}`);
    if (zoneId !== ZONE.id) return no(404, 'zone_not_found', 'Could not find Zone');
    if (!what) return { body: zones[0] };
    const now = sets.find((set) => set.id === id);
    if (id && !now) return no(404, 'recordset_not_found', 'Could not find RecordSet');
    if (method === 'GET') return listed('recordsets', sets);
    if (now && now.name === ZONE.name && now.type === 'NS')
      return no(400, 'bad_request', 'Updating a root zone NS record is not allowed');
    if (method === 'DELETE') {
      sets.splice(sets.indexOf(now as StoredSet), 1);
      return { status: 202, body: { ...now, action: 'DELETE', status: 'PENDING' } };
    }
    const given = body as Partial<StoredSet>;
    if (now && (given.name || given.type)) return no(400, 'invalid_object', 'name and type are immutable');
    const set = make({ ...now, ...given, action: now ? 'UPDATE' : 'CREATE', status: 'PENDING' });
    const why = wrong(set);
    if (why) return why;
    sets.splice(now ? sets.indexOf(now) : sets.length, now ? 1 : 0, { ...set, records: [...new Set(set.records)] });
    return { status: 202, body: set };
  });
  return Object.assign(standIn, { sets, zones, most, cloud, make });
}

interface Sent {
  auth: {
    identity: {
      methods: string[];
      application_credential?: { id: string; secret: string };
      password?: { user?: { name: string; password: string; domain: { name: string } } };
    };
    scope?: { project: { name: string } };
  };
}
