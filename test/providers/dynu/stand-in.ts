import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export type Stored = { id: number; nodeName: string; recordType: string; ttl: number; state: boolean } & {
  [field: string]: unknown;
};

const ZONE = { id: 100373707, name: 'contract.example' };
/** The fields of each type, in the order of its rdata; names get their dot there, texts their quotes. */
const FIELDS: Record<string, string[]> = {
  A: ['ipv4Address'],
  AAAA: ['ipv6Address'],
  CNAME: ['host'],
  MX: ['priority', 'host'],
  NS: ['host'],
  PTR: ['host'],
  SRV: ['priority', 'weight', 'port', 'host'],
  TXT: ['textData'],
};

/** What the API does: traffic of 2025; refusals as lexicon (2025) and issues of acme.sh (2020 to 2025) tell them. */
export async function startDynu(): Promise<StandIn & { records: Stored[]; most: { records: number } }> {
  const records: Stored[] = [];
  const most = { records: 1000 };
  let ids = 13690777;
  const no = (statusCode: number, type: string, message: string): Answer => ({
    status: statusCode,
    body: { statusCode, type, message },
  });
  const refused = (message: string) => no(501, 'Argument Exception', message);
  const keys = ({ recordType }: Stored) => FIELDS[recordType] ?? [];
  const content = (record: Stored) => {
    const word = (key: string) =>
      key === 'host' ? `${record.host}.` : key === 'textData' ? JSON.stringify(record.textData) : record[key];
    const name = record.nodeName ? `${record.nodeName}.${ZONE.name}` : ZONE.name;
    return `${name}. ${record.ttl} IN ${record.recordType} ${keys(record).map(word).join(' ')}`;
  };
  const shown = (record: Stored) => ({
    ...{ content: content(record), domainId: ZONE.id, domainName: ZONE.name, updatedOn: '2025-05-06T18:36:10.813' },
    hostname: record.nodeName ? `${record.nodeName}.${ZONE.name}` : ZONE.name,
    ...record,
  });
  const standIn = await startStandIn(({ method, path, headers, body }) => {
    if (headers['api-key'] !== 'a-key') return no(401, 'Authentication Exception', 'Invalid API key.');
    if (path === '/dns') {
      const domains = [{ ...ZONE, unicodeName: ZONE.name, state: 'Complete', ttl: 60, ipv4Address: null }];
      return { body: { statusCode: 200, domains } };
    }
    const [, , zone, , id] = path.split('/');
    const found = records.find((record) => String(record.id) === id);
    if (zone !== String(ZONE.id) || (id && !found)) return refused('Invalid.');
    if (method === 'GET') {
      return {
        body: found ? { statusCode: 200, ...shown(found) } : { statusCode: 200, dnsRecords: records.map(shown) },
      };
    }
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as Stored), 1);
      return { body: { statusCode: 200 } };
    }
    // what is left out of an update falls back to a default as well
    const made = { ttl: 60, state: false, ...(body as object), id: found?.id ?? ids++ } as Stored;
    if (!FIELDS[made.recordType] || keys(made).some((key) => made[key] === undefined)) return refused('Invalid.');
    if (/\.$/.test(`${made.host ?? ''}`)) return refused('Invalid host.');
    if (found && (found.nodeName !== made.nodeName || found.recordType !== made.recordType)) return refused('Invalid.');
    const beside = records.filter((other) => other.nodeName === made.nodeName && other.id !== made.id);
    const twin = beside.find(
      (other) => other.recordType === made.recordType && keys(made).every((key) => other[key] === made[key]),
    );
    if (twin && !found && twin.ttl === made.ttl) return { body: { statusCode: 200, ...shown(twin) } };
    if (twin) return refused('Record already exists.');
    const cname = made.recordType === 'CNAME' || beside.some((other) => other.recordType === 'CNAME');
    if (beside.length && cname) return refused('A CNAME is alone.');
    if (!found && records.length >= most.records) return no(503, 'Quota Exception', 'Limit of records is reached.');
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    return { body: { statusCode: 200, ...shown(made) } };
  });
  return Object.assign(standIn, { records, most });
}
