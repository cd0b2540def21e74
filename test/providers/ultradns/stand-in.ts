import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface Stored {
  ownerName: string;
  rrtype: string;
  ttl?: number;
  rdata: string[];
  profile?: { '@context': string; [more: string]: unknown };
}

const ZONE = 'contract.example.';
const NUMBERS: Record<string, number> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  CAA: 257,
};

/** What the API does: traffic of 2020, samples and code of octoDNS (2021) for tokens, pages, pools and errors. */
export async function startUltradns(): Promise<
  StandIn & { sets: Stored[]; zones: string[]; most: { page: number }; tokens: { now: number } }
> {
  const soa = 'udns1.ultradns.net. hostmaster.contract.example. 2020042798 86400 86400 86400 86400';
  const sets: Stored[] = [
    { ownerName: ZONE, rrtype: 'NS (2)', ttl: 86400, rdata: ['udns1.ultradns.net.', 'udns2.ultradns.net.'] },
    { ownerName: ZONE, rrtype: 'SOA (6)', ttl: 86400, rdata: [soa] },
  ];
  const zones = ['a.example.', 'b.example.', ZONE];
  const most = { page: 1000 };
  const tokens = { now: 0 };
  const no = (status: number, errorCode: number, errorMessage: string): Answer => ({
    status,
    body: [{ errorCode, errorMessage }],
  });
  const wrong = (made: Stored, type: string): Answer | null => {
    if (!made.rdata?.length || made.rdata.includes('')) return no(400, 55001, 'rdata: may not be empty');
    if (/^(CNAME|MX|NS|PTR|SRV)$/.test(type) && made.rdata.some((text) => !text.endsWith('.')))
      return no(400, 53001, 'Invalid rdata');
    if (/^A(AAA)?$/.test(type) && made.rdata.length > 1 && !made.profile)
      return no(400, 55005, 'A pool needs its profile');
    const beside = sets.filter((set) => set.ownerName === made.ownerName && set.rrtype !== made.rrtype);
    const isAlias = type === 'CNAME' || beside.some(({ rrtype }) => rrtype.startsWith('CNAME'));
    return beside.length && isAlias ? no(400, 2112, 'CNAME with other records') : null;
  };
  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (path === '/v2/authorization/token') {
      const form = Object.fromEntries(new URLSearchParams(`${body}`));
      if (form.grant_type !== 'password' || form.username !== 'joe' || form.password !== 'secret') {
        const words = 'invalid_grant:Invalid username & password combination.';
        return {
          status: 401,
          body: { errorCode: 60001, errorMessage: words, error: 'invalid_grant', error_description: words },
        };
      }
      tokens.now++;
      return {
        body: {
          tokenType: 'Bearer',
          accessToken: `t${tokens.now}`,
          access_token: `t${tokens.now}`,
          expires_in: '3600',
        },
      };
    }
    if (headers.authorization !== `Bearer t${tokens.now}`)
      return no(401, 60001, 'invalid_grant:Token not found, expired or invalid.');
    if (path === '/v3/zones') {
      if (!zones.length) return no(404, 70002, 'Data not found.');
      const at = Number(query.cursor ?? 0);
      const size = Math.min(Number(query.limit ?? 100), most.page);
      const next = at + size < zones.length ? { next: `${at + size}` } : {};
      const some = zones
        .slice(at, at + size)
        .map((name) => ({ properties: { name, type: 'PRIMARY', status: 'ACTIVE' } }));
      return { body: { queryInfo: {}, cursorInfo: next, zones: some } };
    }
    const [, , , zone, , type = '', owner] = path.split('/').map(decodeURIComponent);
    if (zone !== ZONE) return no(404, 1801, 'Zone does not exist in the system.');
    if (method === 'GET') {
      const offset = Number(query.offset ?? 0);
      const rrSets = sets.slice(offset, offset + Math.min(Number(query.limit ?? 100), most.page));
      const resultInfo = { totalCount: sets.length, offset, returnedCount: rrSets.length };
      return { body: { zoneName: ZONE, rrSets, resultInfo } };
    }
    const at = sets.findIndex((set) => set.ownerName === owner && set.rrtype.startsWith(`${type} `));
    if (method !== 'POST' && at < 0)
      return no(404, 56001, 'Cannot find resource record data for the input zone, record type and owner combination.');
    if (method === 'DELETE') {
      sets.splice(at, 1);
      return { status: 204 };
    }
    if (method === 'POST' && at >= 0)
      return no(
        400,
        2111,
        `Resource Record of type ${NUMBERS[type]} with these attributes already exists in the system.`,
      );
    if (!NUMBERS[type]) return no(400, 53002, 'Invalid rrtype');
    const { ttl, rdata, profile } = body as Stored;
    const made = {
      ownerName: `${owner}`,
      rrtype: `${type} (${NUMBERS[type]})`,
      ttl,
      rdata,
      ...(profile && { profile }),
    } as Stored;
    const why = wrong(made, type);
    if (why) return why;
    sets.splice(at < 0 ? sets.length : at, at < 0 ? 0 : 1, made);
    return { status: method === 'POST' ? 201 : 200, body: { message: 'Successful' } };
  });
  return Object.assign(standIn, { sets, zones, most, tokens });
}
