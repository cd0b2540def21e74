import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';
import { refusedSignature } from '../tencentcloud/stand-in.js';

export interface TeoRecord {
  ZoneId: string;
  RecordId: string;
  Name: string;
  Type: string;
  Location: string;
  Content: string;
  TTL: number;
  Weight: number;
  Priority: number;
  Status: string;
}
type Filter = { Name: string; Values: string[]; Fuzzy?: boolean };

/** Tencent EdgeOne by its official model: HTTP 200 for all, the error inside. */
export async function startEdgeone() {
  const records: TeoRecord[] = [];
  // NS at the apex are refused (official model); the contract, which tries them, asks for a vendor that takes them
  const rules = { page: 1000, apexNs: true };
  const sites = [
    { ZoneId: 'zone-1', ZoneName: 'other.example', Type: 'full' },
    { ZoneId: 'zone-2', ZoneName: 'contract.example', Type: 'full' },
    { ZoneId: 'zone-3', ZoneName: 'accelerated.example', Type: 'partial' },
  ];
  let ids = 1;
  const ok = (body: object): Answer => ({ body: { Response: { ...body, RequestId: 'r' } } });
  const no = (Code: string, Message = `${Code}!`): Answer => ok({ Error: { Code, Message } });
  const refusal = (r: TeoRecord): string | null => {
    const routed = /^(A|AAAA|CNAME)$/.test(r.Type);
    if (!r.Content || /\.$/.test(r.Content))
      return r.Type === 'TXT' && r.Content ? null : 'InvalidParameter.InvalidContent';
    if (!rules.apexNs && r.Type === 'NS' && r.Name === 'contract.example') return 'InvalidParameter.RootNs';
    if (!routed && (r.Location !== 'Default' || r.Weight !== -1)) return 'InvalidParameter.NotRouted';
    if (r.Weight < -1 || r.Weight > 100 || r.TTL < 60 || r.TTL > 86400) return 'InvalidParameterValue';
    if (r.Priority < 0 || r.Priority > 50) return 'InvalidParameterValue.Priority';
    const beside = records.filter((o) => o.Name === r.Name && o.Location === r.Location && o.RecordId !== r.RecordId);
    if (beside.some((o) => o.Type === r.Type && o.Content === r.Content && o.Priority === r.Priority)) {
      return 'InvalidParameterValue.ConflictWithRecord';
    }
    const clash = beside.some((o) => (o.Type === 'CNAME') !== (r.Type === 'CNAME') || r.Type === 'CNAME');
    return clash ? 'InvalidParameterValue.ConflictWithRecord' : null;
  };
  const defaults = { Location: 'Default', TTL: 300, Weight: -1, Priority: 0 };

  const answer = (request: Received): Answer => {
    const refused = refusedSignature(request, 'teo');
    if (refused) return no(refused, 'The provided credentials could not be validated.');
    if (request.headers['x-tc-version'] !== '2022-09-01') return no('NoSuchVersion');
    const b = request.body as Record<string, unknown>;
    const action = request.headers['x-tc-action'];
    const filters = (b.Filters ?? []) as Filter[];
    const hits = (fields: Record<string, string>) =>
      filters.every(({ Name, Values, Fuzzy }) =>
        Values.some((v) => (Fuzzy ? fields[Name]?.includes(v) : fields[Name] === v)),
      );
    const page = <T>(all: T[], usual: number, limit: number) => {
      const at = Number(b.Offset ?? 0);
      return all.slice(at, at + Math.min(Number(b.Limit ?? usual), limit, rules.page));
    };
    if (action === 'DescribeZones') {
      const all = sites.filter((s) => hits({ 'zone-type': s.Type, 'zone-name': s.ZoneName, 'zone-id': s.ZoneId }));
      return ok({ TotalCount: all.length, Zones: page(all, 20, 100) });
    }
    const site = sites.find((s) => s.ZoneId === b.ZoneId);
    if (!site) return no('ResourceUnavailable.ZoneNotFound', '站点不存在或不属于该账号。');
    const mine = records.filter((r) => r.ZoneId === site.ZoneId);
    const known = (list: unknown) => ((list ?? []) as string[]).map((id) => mine.find((r) => r.RecordId === id));
    switch (action) {
      case 'DescribeDnsRecords': {
        const all = mine.filter((r) => hits({ id: r.RecordId, name: r.Name, type: r.Type, content: r.Content }));
        return ok({ TotalCount: all.length, DnsRecords: page(all, 20, 1000) });
      }
      case 'CreateDnsRecord': {
        const RecordId = `record-${ids++}`;
        const made = { ...defaults, ...b, ZoneId: site.ZoneId, RecordId, Status: 'enable' } as unknown as TeoRecord;
        const why = refusal(made);
        if (why) return no(why);
        records.push(made);
        return ok({ RecordId });
      }
      case 'ModifyDnsRecords': {
        const [change] = b.DnsRecords as TeoRecord[];
        const [found] = known([change?.RecordId]);
        // what is said of a record that is gone is not documented
        if (!change || !found) return no('InvalidParameterValue');
        const { ZoneId, Status } = found;
        const made = { ...defaults, ...change, ZoneId, Status };
        const why = refusal(made);
        if (why) return no(why);
        records[records.indexOf(found)] = made;
        return ok({});
      }
      case 'ModifyDnsRecordsStatus': {
        const [on, off] = [known(b.RecordsToEnable), known(b.RecordsToDisable)];
        if ([...on, ...off].includes(undefined) || on.length + off.length === 0) return no('InvalidParameterValue');
        for (const r of on) if (r) r.Status = 'enable';
        for (const r of off) if (r) r.Status = 'disable';
        return ok({});
      }
      case 'DeleteDnsRecords': {
        const gone = known(b.RecordIds);
        if (gone.includes(undefined)) return no('ResourceNotFound');
        for (const r of gone) if (r) records.splice(records.indexOf(r), 1);
        return ok({});
      }
      default:
        return no('InvalidAction');
    }
  };
  const standIn: StandIn = await startStandIn(answer);
  return Object.assign(standIn, { records, rules });
}
