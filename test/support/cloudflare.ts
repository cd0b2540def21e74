import { randomUUID } from 'node:crypto';
import { type CloudflareTunnels, cloudflareTunnels, OWNER } from '../providers/cloudflare/tunnels-stand-in.js';
import { type Answer, type Received, type StandIn, startStandIn } from './vendor.js';

/** A record as stored by Cloudflare. */
export interface Kept {
  id: string;
  name: string;
  type: string;
  content: string;
  data?: object;
  ttl: number;
  priority?: number;
  proxied?: boolean;
}

/** Injects faults into a request: `apply` carries it out and returns the answer, which may or may not be sent. */
export type CloudflareFault = (request: Received, apply: () => Answer) => Answer | Promise<Answer>;

/** A stateful Cloudflare stand-in: zones by name (also their ids), each with its records. */
export interface Cloudflare extends StandIn {
  zones: Map<string, Kept[]>;
  fault: CloudflareFault | null;
  /** Accounts and their tunnels. */
  tunnels: CloudflareTunnels;
}

const ok = (result: unknown, more: object = {}): Answer => ({ body: { success: true, errors: [], result, ...more } });
const fail = (status: number, code: number, message: string): Answer => ({
  status,
  body: { success: false, errors: [{ code, message }], result: null },
});
const page = (list: unknown[]): Answer =>
  ok(list, { result_info: { page: 1, per_page: 1000, count: list.length, total_count: list.length } });

function carryOut({ zones, tunnels }: Pick<Cloudflare, 'zones' | 'tunnels'>, request: Received): Answer {
  const { method, path, query, body } = request;
  if (path.startsWith('/accounts')) return tunnels.answer(request);
  const [, , zone, part, id] = path.split('/');
  const about = (name: string) => ({
    id: name,
    name,
    account: { id: tunnels.zoneOwner.get(name) ?? OWNER, name: 'Ada' },
  });
  if (!zone) return page([...zones.keys()].filter((name) => !query.name || name === query.name).map(about));
  const records = zones.get(zone);
  if (!records) return fail(404, 7003, 'no such zone');
  if (!part) return ok(about(zone));
  const { type, name } = query;
  if (method === 'GET' && !id)
    return page(records.filter((r) => (!type || r.type === type) && (!name || r.name === name)));
  if (method === 'POST' && id === 'batch') return batch(records, body as Record<string, Kept[]>);
  return single(records, method, id, body);
}

/** Deletes, patches, puts, posts, each in order and atomic (documentation of 2024). */
function batch(records: Kept[], lists: Record<string, Kept[]>): Answer {
  const before = [...records];
  const result: Record<string, unknown[]> = {};
  for (const [list, method] of Object.entries({ deletes: 'DELETE', patches: 'PATCH', puts: 'PUT', posts: 'POST' })) {
    for (const { id, ...sent } of lists[list] ?? []) {
      const answer = single(records, method, list === 'posts' ? undefined : id, sent);
      if ((answer.status ?? 200) >= 400) {
        records.splice(0, records.length, ...before);
        return answer;
      }
      result[list] = [...(result[list] ?? []), (answer.body as { result: unknown }).result];
    }
  }
  return ok(result);
}

function single(records: Kept[], method: string, id: string | undefined, body: unknown): Answer {
  const at = records.findIndex((r) => r.id === id);
  if (id && at < 0) return fail(404, 81044, 'Record does not exist.');
  if (method === 'GET') return ok(records[at]);
  if (method === 'DELETE') return ok({ id: records.splice(at, 1)[0]?.id });
  const kept = method === 'PATCH' ? records[at] : { id: id ?? randomUUID() };
  const record = { ...kept, ...(body as object) } as Kept;
  // structured data is also returned as text
  if (record.data && !/SRV|CAA|URI/.test(record.type)) record.content = Object.values(record.data).join(' ');
  const words = ({ name, type, content, data }: Kept) => JSON.stringify([name, type, content, data]);
  const same = (r: Kept) => words(r) === words(record);
  if (records.some((r) => r.id !== record.id && same(r)))
    return fail(400, 81058, 'An identical record already exists.');
  records.splice(id ? at : records.length, id ? 1 : 0, record);
  return ok(record);
}

/** Starts it with these zones, empty. */
export async function startCloudflare(...names: string[]): Promise<Cloudflare> {
  const zones: Cloudflare['zones'] = new Map(names.map((name) => [name, []]));
  const cloudflare: Cloudflare = Object.assign(await startStandIn(), {
    zones,
    fault: null,
    tunnels: cloudflareTunnels(),
  });
  cloudflare.handler = (request) => {
    const apply = () => carryOut(cloudflare, request);
    return cloudflare.fault ? cloudflare.fault(request, apply) : apply();
  };
  return cloudflare;
}
