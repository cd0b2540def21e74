import { Injectable } from '@nestjs/common';
import { makerOf } from '../access/maker.js';
import type { Connection } from '../accounts/provider-connections.js';
import type { Actor } from '../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { groupByHost } from '../dns/group-by-host.js';
import { hostName } from '../dns/names.js';
import { judgeRecord } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import { InvalidRecord } from '../platform/common/errors.js';
import { due, turn } from '../platform/common/turns.js';
import type { SetKey } from '../providers/kit/rrsets/record-set.js';
import type { Action } from '../tokens/rules/token-rules.js';
import type { Edit, EditOfRow } from './edits/edit.js';
import { isIdle, type Net, type Planned, WorkingCopy } from './edits/working-copy.js';
import { mayRead } from './history/who.js';
import { assertStorable } from './results.js';

/** A list of edits; or the names that it touches, and what it is once their rows are known. */
export type Edits =
  | readonly Edit[]
  | {
      hosts: string[];
      /** sets that are read at the provider before */
      sets?: readonly SetKey[];
      /** @param foreign those of the rows that the cache learned of by that reading */
      of: (rows: readonly StoredRecord[], foreign: readonly StoredRecord[]) => Edit[] | Promise<Edit[]>;
    };

/** A list of edits, its caller, and what the provider of its zone can hold. */
interface Request {
  actor: Actor;
  domain: OpenDomain;
  edits: Edits;
  connection: Pick<Connection, 'definition'>;
  /**
   * its edits of rows are judged together, see `WorkingCopy.await`; `if-fitting`: unless one of them does not fit so
   */
  together?: boolean | 'if-fitting';
}

/** The names that a list touches, with the rows there where it took these to know them. */
export interface Names {
  hosts: string[];
  rows: readonly StoredRecord[] | null;
}

/** What a list of edits comes to. */
export interface Plan {
  /** each edit, judged against what those before it have made */
  planned: Planned[];
  /** what is to be done, one entry a record; what comes out as it went in is left out */
  nets: Net[];
  /** records in doubt that come out as they went in: they are there only if their last change does not come late */
  standing: StoredRecord[];
  /** what no edit names and the provider changes with it: the TTLs of other records of a set */
  moved: () => Iterable<{ before: StoredRecord; after: StoredRecord }>;
}

/** Folds edits over the rows of the names that they touch. Nothing here takes a lock, writes or calls a provider. */
@Injectable()
export class Planner {
  constructor(
    private readonly cache: RecordCache,
    private readonly facts: ZoneFacts,
  ) {}

  /**
   * What a list would do, judged by the cache as it is now.
   * @returns with the rows of all names that it touches
   * @throws AppError 400001, 404001
   */
  async preview(
    actor: Actor,
    domain: OpenDomain,
    edits: Edits,
    together = false,
  ): Promise<Plan & { rows: readonly StoredRecord[] }> {
    const request = { actor, domain, edits, connection: await this.facts.connection(domain), together };
    const { hosts, rows: known } = await this.names(request);
    let rows = known ?? (await this.cache.those(domain.id, 'host', hosts));
    for (let names = new Set(hosts); ; ) {
      const plan = await this.plan(request, rows, [], names);
      if ('planned' in plan) return { ...plan, rows };
      names = new Set([...names, ...plan.hosts]);
      rows = await this.cache.those(domain.id, 'host', [...names]);
    }
  }

  /**
   * The names that a list touches, as far as they are known. What does not exist or may not be done has none.
   * @param more names that it touches beside those that its edits name
   */
  async names({ domain, edits }: Pick<Request, 'domain' | 'edits'>, more: Iterable<string> = []): Promise<Names> {
    if ('hosts' in edits) return { hosts: [...new Set([...edits.hosts, ...more])], rows: null };
    const { hosts: named, ofRows, renamed } = await namedBy(edits, domain.name);
    const hosts = new Set([...named, ...more]);
    if (!ofRows.length) return { hosts: [...hosts], rows: null };
    const ids = [...new Set(ofRows.map(({ id }) => id))];
    const rows = await this.cache.around(domain.id, [...new Set([...hosts, ...renamed.values()])], ids);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const may = (action: Action, row: StoredRecord) => judgeRecord(domain.access, domain.id, action, row).allowed;
    for (const edit of ofRows) {
      if (due()) await turn();
      const row = byId.get(edit.id);
      // what rules hide is as what does not exist: it waits for nobody, and nobody waits for it
      if (!row || !may('read', row)) continue;
      hosts.add(row.host);
      const host = renamed.get(edit);
      if (host !== undefined && may('update', row)) hosts.add(host);
    }
    return { hosts: [...hosts], rows: rows.filter(({ host }) => hosts.has(host)) };
  }

  /**
   * @param foreign those of the rows that the cache learned of for this very list
   * @param hosts the names whose rows these are
   * @param positions where the edits stood in a list of which they are what is left
   * @returns the plan; or other names that the list touches, too, where one edit stands on another one
   * @throws AppError 400001
   */
  async plan(
    request: Request,
    rows: readonly StoredRecord[],
    foreign: readonly StoredRecord[],
    hosts: ReadonlySet<string>,
    positions?: readonly number[],
  ): Promise<Plan | { hosts: string[] }> {
    const { copy, planned } = await this.folded(request, rows, foreign, positions);
    assertStorable(planned);
    const others = planned.flatMap(({ after }) => (after && !hosts.has(after.host) ? [after.host] : []));
    if (others.length) return { hosts: others };
    const nets: Net[] = [];
    const standing: StoredRecord[] = [];
    for (const net of copy.nets()) {
      if (due()) await turn();
      if (!isIdle(net)) nets.push(net);
      else if (net.before?.pending) standing.push(net.before);
    }
    return { planned, nets, standing, moved: () => copy.movedAlong() };
  }

  /** The edits of a list, judged one after the other. */
  private async folded(
    request: Request,
    rows: readonly StoredRecord[],
    foreign: readonly StoredRecord[],
    positions?: readonly number[],
  ): Promise<{ copy: WorkingCopy; planned: Planned[] }> {
    const { actor, domain, edits, connection, together = false } = request;
    const named = !('hosts' in edits);
    const maker = actor === 'system' ? undefined : makerOf(actor);
    const copy = new WorkingCopy(connection.definition, domain, rows, mayRead(actor, domain), named, maker);
    const list = 'hosts' in edits ? await edits.of(rows, foreign) : edits;
    if (together) copy.await(list);
    const planned: Planned[] = [];
    for (const edit of list) {
      planned.push(copy.plan(edit, positions?.[planned.length] ?? planned.length));
      if (due()) await turn();
    }
    if (together === 'if-fitting' && planned.some(({ error }) => error))
      return this.folded({ ...request, together: false }, rows, foreign, positions);
    return { copy, planned };
  }
}

/** What a list says of names by itself: those of its records, its edits of rows, and how these name them anew. */
async function namedBy(edits: readonly Edit[], zone: string) {
  const hosts: string[] = [];
  const ofRows: EditOfRow[] = [];
  const renamed = new Map<EditOfRow, string>();
  for (const edit of edits) {
    if (due()) await turn();
    if ('record' in edit) hosts.push(edit.record.host);
    if (!('id' in edit)) continue;
    ofRows.push(edit);
    const host = renamedTo(edit, zone);
    if (host !== null) renamed.set(edit, host);
  }
  return { hosts, ofRows, renamed };
}

/** The name that an update gives its record; null: it keeps its own, or the name fits none. */
function renamedTo(edit: EditOfRow, zone: string): string | null {
  if (edit.op !== 'update' || (edit.patch.host ?? null) === null) return null;
  try {
    return hostName(edit.patch.host as string, zone);
  } catch (error) {
    if (error instanceof InvalidRecord) return null;
    throw error;
  }
}

/** Deletions first, so that what replaces a record does not meet it. */
const ORDER = { delete: 0, update: 1, create: 2 };
const rank = ({ change }: Net): number => (change ? ORDER[change.op] : 3);

/**
 * A list in pieces of about `size` that are carried out and committed one after the other. What touches one name stays
 * together, and with it what a rename ties to that name, so that no name is left half changed between two pieces; a
 * piece is only larger where one such group is.
 */
export function chunksOf(nets: readonly Net[], size: number): Net[][] {
  const chunks: Net[][] = [];
  let chunk: Net[] = [];
  const hosts = ({ before, after }: Net) => [before?.host, after?.host].filter((host) => host !== undefined);
  for (const group of groupByHost(nets, hosts)) {
    if (chunk.length && chunk.length + group.length > size) {
      chunks.push(chunk);
      chunk = [];
    }
    chunk.push(...group);
  }
  if (chunk.length) chunks.push(chunk);
  return chunks.map((list) => inOrder(list.toSorted((a, b) => rank(a) - rank(b))));
}

/** Of updates those first that make room for others of them. */
function inOrder(nets: readonly Net[]): Net[] {
  const contentOf = ({ host, type, line, value }: StoredRecord) => JSON.stringify([host, type, line, value]);
  const holders = new Map(nets.flatMap((net) => (net.before && net.after ? [[contentOf(net.before), net]] : [])));
  const ordered = new Set<Net>();
  const waiting = new Set<Net>();
  const add = (net: Net) => {
    const path = [net];
    for (let last = net; ; ) {
      waiting.add(last);
      const holder = last.before && last.after ? holders.get(contentOf(last.after)) : undefined;
      // a ring has to be broken somewhere
      if (!holder || waiting.has(holder)) break;
      path.push(holder);
      last = holder;
    }
    for (const one of path.reverse()) ordered.add(one);
  };
  for (const net of nets) if (!waiting.has(net)) add(net);
  return [...ordered];
}
