import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface NetcupRecord {
  id: string;
  hostname: string;
  type: string;
  priority: string;
  destination: string;
  deleterecord?: boolean;
}
interface World {
  records: NetcupRecord[];
  sessions: string[];
  logins: number;
  ttl: string;
  keeps: (records: NetcupRecord[]) => NetcupRecord[];
}

const PATH = '/run/webservice/servers/endpoint.php';

/** netcup's API as its traffic of 2019 and samples have it: every answer has a status of 200, NS is ignored. */
export async function startNetcup(): Promise<StandIn & { world: World; endpoint: string }> {
  const world: World = { records: [], sessions: [], logins: 0, ttl: '86400', keeps: (records) => records };
  let ids = 405_422;
  const standIn = await startStandIn(({ method, path, query, body }): Answer => {
    const { action, param = {} } = body as { action: string; param?: Record<string, unknown> };
    const answer = (
      status: string,
      statuscode: number,
      short: string,
      long: string,
      responsedata: unknown,
    ): Answer => ({
      body: {
        serverrequestid: 'x',
        clientrequestid: '',
        action,
        status,
        statuscode,
        shortmessage: short,
        longmessage: long,
        responsedata,
      },
    });
    const ok = (responsedata: unknown) => answer('success', 2000, 'Done', 'All is well.', responsedata);
    const no = (code: number, short: string, long: string) => answer('error', code, short, long, '');
    if (method !== 'POST' || path !== PATH || !('JSON' in query)) return { status: 404 };
    if (param.customernumber !== '12345' || param.apikey !== 'a-key')
      return no(4013, 'Validation Error.', 'The API key is not valid.');
    if (action === 'login') {
      if (param.apipassword !== 'a-password') return no(5020, 'Login failed', 'The API password is wrong.');
      world.sessions = [`session-${++world.logins}`];
      return ok({ apisessionid: world.sessions[0] });
    }
    if (!world.sessions.includes(String(param.apisessionid)))
      return no(4001, 'Validation Error.', 'The session id is not in a valid format.');
    if (action === 'listallDomains') return no(5040, 'Not allowed', 'Only resellers can list domains.');
    if (param.domainname !== 'contract.example')
      return no(5031, 'Getting DNS zone failed', 'Can not get DNS records for zone.  Domain not found.');
    if (action === 'infoDnsZone') return ok({ name: 'contract.example', ttl: world.ttl, serial: '2019042071' });
    const listed = () => world.records.map((r) => ({ ...r, deleterecord: false, state: 'unknown' }));
    if (action === 'infoDnsRecords')
      return world.records.length
        ? ok({ dnsrecords: listed() })
        : no(5029, 'Getting DNS records failed', 'There are no records.');
    const { dnsrecords } = param.dnsrecordset as { dnsrecords: NetcupRecord[] };
    let next = [...world.records];
    for (const { id, hostname, type, priority, destination, deleterecord } of dnsrecords) {
      if (id && !next.some((r) => r.id === id)) return no(4013, 'Validation Error.', `There is no record ${id}.`);
      const old = next.find((r) => r.id === id);
      next = next.filter((r) => r.id !== id);
      if (deleterecord || type === 'NS') continue;
      if (!destination || (old && old.type !== type))
        return no(4013, 'Validation Error.', 'A value is missing, or of another type.');
      if (/^(CNAME|MX)$/.test(type) && /[^.]\.$/.test(destination))
        return no(4013, 'Validation Error.', 'A final dot.');
      const beside = next.filter((r) => r.hostname === hostname);
      if (type === 'CNAME' ? beside.length : beside.some((r) => r.type === 'CNAME'))
        return no(4013, 'Validation Error.', `CNAME ${hostname} cannot stand beside others.`);
      next.push({ id: id ?? String(ids++), hostname, type, priority, destination });
    }
    world.records = world.keeps(next);
    return ok({ dnsrecords: listed() });
  });
  return Object.assign(standIn, { world, endpoint: `${standIn.url}${PATH}?JSON` });
}
