import { createHash, createHmac } from 'node:crypto';
import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';

export interface EsaRecord {
  RecordId: number;
  RecordName: string;
  RecordType: string;
  Ttl: number;
  Data: Record<string, string | number>;
  Proxied: boolean;
  BizName?: string;
  Comment?: string;
  RecordSourceType?: string;
}

export const KEY = { id: 'LTAI-stand-in', secret: 'a-secret-of-the-stand-in' };

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** The code that a request is refused with whose signature is none, by the steps of the documentation of ACS3. */
function refused({ method, path, query, headers, body }: Received): string | null {
  const parts = /^ACS3-HMAC-SHA256 Credential=([^,]*),SignedHeaders=([^,]*),Signature=(\w+)$/.exec(
    headers.authorization ?? '',
  );
  if (!parts) return 'IncompleteSignature';
  const [, id, signed = '', signature] = parts;
  if (id !== KEY.id) return 'InvalidAccessKeyId.NotFound';
  const names = signed.split(';');
  const own = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-acs-'));
  if (own.some((name) => !names.includes(name))) return 'IncompleteSignature';
  const payload = sha256(body === undefined ? '' : JSON.stringify(body));
  if (headers['x-acs-content-sha256'] !== payload) return 'SignatureDoesNotMatch';
  const asked = Object.keys(query)
    .sort()
    .map((name) => `${encoded(name)}=${encoded(query[name] ?? '')}`);
  const lines = names.map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, asked.join('&'), lines.join(''), signed, payload].join('\n');
  const wanted = createHmac('sha256', KEY.secret)
    .update(`ACS3-HMAC-SHA256\n${sha256(canonical)}`)
    .digest('hex');
  return wanted === signature ? null : 'SignatureDoesNotMatch';
}

/** Fields of `Data` that a type has to have (official model). */
const NEEDED: Record<string, string[]> = {
  ...{ 'A/AAAA': ['Value'], CNAME: ['Value'], NS: ['Value'], TXT: ['Value'], MX: ['Priority', 'Value'] },
  ...{
    SRV: ['Priority', 'Weight', 'Port', 'Value'],
    CAA: ['Flag', 'Tag', 'Value'],
    URI: ['Priority', 'Weight', 'Value'],
  },
  TLSA: ['Usage', 'Selector', 'MatchingType', 'Certificate'],
  SSHFP: ['Algorithm', 'Type', 'Fingerprint'],
};

/**
 * Alibaba Cloud ESA by its official model: what is asked is in the query, `Data` as the text of a document. The codes
 * of most refusals are not documented: those here are made up.
 */
export async function startAliesa() {
  const sites = [
    { SiteId: 1_234_567_890_121, SiteName: 'other.example', AccessType: 'NS' },
    { SiteId: 1_234_567_890_122, SiteName: 'contract.example', AccessType: 'NS' },
    { SiteId: 1_234_567_890_123, SiteName: 'accelerated.example', AccessType: 'CNAME' },
  ];
  const records: EsaRecord[] = [];
  const rules = { page: 500, silent: false };
  const nonces = new Set<string>();
  let ids = 3_210_934_850_000;
  const no = (Code: string, Message = `${Code}!`, status = 400): Answer => ({
    status,
    body: { RequestId: 'R', HostId: 'esa.cn-hangzhou.aliyuncs.com', Code, Message },
  });
  const ok = (body: object): Answer => ({ body: { RequestId: 'R', ...body } });
  const wrong = (r: EsaRecord): string | null => {
    const fields = NEEDED[r.RecordType];
    if (!fields) return 'InvalidParameter.Type';
    if (Object.keys(r.Data).sort().join() !== fields.toSorted().join()) return 'InvalidParameter.Data';
    if (r.Data.Value === '' || (/^(?!TXT)/.test(r.RecordType) && /\.$/.test(String(r.Data.Value))))
      return 'InvalidParameter.Value';
    if (r.Ttl !== 1 && !(r.Ttl >= 30 && r.Ttl <= 86400)) return 'InvalidParameter.Ttl';
    if ((r.Comment?.length ?? 0) > 100) return 'InvalidParameter.Comment';
    if (r.Proxied && !/^(A\/AAAA|CNAME)$/.test(r.RecordType)) return 'InvalidParameter.Proxied';
    if (r.Proxied && !/^(web|api|image_video)$/.test(r.BizName ?? '')) return 'InvalidParameter.BizName';
    const beside = records.filter((o) => o.RecordName === r.RecordName && o.RecordId !== r.RecordId);
    const same = (o: EsaRecord) => o.RecordType === r.RecordType && JSON.stringify(o.Data) === JSON.stringify(r.Data);
    if (beside.some(same)) return 'Record.Duplicate';
    return beside.some((o) => o.RecordType === 'CNAME' || r.RecordType === 'CNAME') ? 'Record.Conflict' : null;
  };
  const page = <T>(query: Record<string, string>, name: string, all: T[]): Answer => {
    const asked = Number(query.PageSize ?? 500);
    if (asked > 500) return no('InvalidParameter.PageSize');
    const PageSize = Math.min(asked, rules.page);
    const PageNumber = Number(query.PageNumber ?? 1);
    const part = all.slice((PageNumber - 1) * PageSize, PageNumber * PageSize);
    return ok({ PageNumber, PageSize, TotalCount: all.length, [name]: part });
  };
  const answer = (request: Received): Answer => {
    const { method, query, headers } = request;
    const code = refused(request);
    if (code)
      return no(
        code,
        'Specified signature is not matched with our calculation.',
        code.includes('NotFound') ? 404 : 400,
      );
    const nonce = String(headers['x-acs-signature-nonce']);
    if (nonces.has(nonce)) return no('SignatureNonceUsed');
    nonces.add(nonce);
    if (headers['x-acs-version'] !== '2024-09-10') return no('InvalidVersion');
    const action = String(headers['x-acs-action']);
    if ((method === 'GET') !== /^(List|Get)/.test(action)) return no('UnsupportedHTTPMethod', action, 405);
    const site = sites.find(({ SiteId }) => String(SiteId) === query.SiteId);
    const found = records.find(({ RecordId }) => String(RecordId) === query.RecordId);
    switch (action) {
      case 'ListSites': {
        const hit = (s: (typeof sites)[number]) =>
          (query.AccessType ?? s.AccessType) === s.AccessType && (query.SiteName ?? s.SiteName) === s.SiteName;
        return page(query, 'Sites', sites.filter(hit));
      }
      case 'ListRecords': {
        if (!site && rules.silent) return page(query, 'Records', []);
        if (!site) return no('Site.Missing', 'The website is not there.');
        const held = site.SiteName === 'contract.example' ? records.toReversed() : [];
        const hit = (r: EsaRecord) =>
          (query.RecordName ?? r.RecordName) === r.RecordName && (query.Type ?? r.RecordType) === r.RecordType;
        return page(query, 'Records', held.filter(hit));
      }
      case 'CreateRecord': {
        if (site?.SiteName !== 'contract.example') return no('Site.Missing', 'The website is not there.');
        const { RecordName = '', Type = '', Data = '{}', Ttl, Proxied, BizName, Comment } = query;
        const made: EsaRecord = {
          ...{ RecordId: ids++, RecordName, RecordType: Type, Ttl: Number(Ttl), Data: JSON.parse(Data) },
          ...{ Proxied: Proxied === 'true', BizName, Comment, ...(Type === 'CNAME' && { RecordSourceType: 'Domain' }) },
        };
        const why = wrong(made);
        if (why) return no(why);
        records.push(made);
        return ok({ RecordId: made.RecordId });
      }
      case 'UpdateRecord': {
        if (!found) return no('Record.Missing');
        const { Data = '{}', Ttl, Proxied, BizName, Comment } = query;
        const made: EsaRecord = {
          ...found,
          ...{ Data: JSON.parse(Data) },
          ...(Ttl !== undefined && { Ttl: Number(Ttl) }),
          ...(Proxied !== undefined && { Proxied: Proxied === 'true' }),
          ...(BizName !== undefined && { BizName }),
          ...(Comment !== undefined && { Comment }),
        };
        const why = wrong(made);
        if (why) return no(why);
        records[records.indexOf(found)] = made;
        return ok({});
      }
      case 'DeleteRecord': {
        if (!found) return no('Record.Missing');
        records.splice(records.indexOf(found), 1);
        return ok({});
      }
      default:
        return no('InvalidAction.NotFound', action, 404);
    }
  };
  return Object.assign((await startStandIn(answer)) as StandIn, { records, sites, rules });
}
