import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Connection } from '../accounts/provider-connections.js';
import type { Actor } from '../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { assertMay, judgeRecord } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import { AppError } from '../platform/common/errors.js';
import { log } from '../platform/common/logger.js';
import { due, turn } from '../platform/common/turns.js';
import type { SetKey } from '../providers/kit/rrsets/record-set.js';
import type { Edit } from './edits/edit.js';
import { mergedRecord } from './edits/record-rules.js';
import { isIdle, type Net, type Planned, WorkingCopy } from './edits/working-copy.js';
import { mayRead } from './in-doubt/who.js';
import { assertStorable } from './results.js';

/** edits that are judged before everybody else has a turn */
const TURN = 100;

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
}

/** What a list of edits comes to. */
export interface Plan {
  /** each edit, judged against what those before it have made */
  planned: Planned[];
  /** what is to be done, one entry a record; what comes out as it went in is left out */
  nets: Net[];
}

/** Folds edits over the rows of the names that they touch. Nothing here takes a lock, writes or calls a provider. */
@Injectable()
export class Planner {
  constructor(
    private readonly cache: RecordCache,
    private readonly facts: ZoneFacts,
  ) {}

  /** What a list would do, judged by the cache as it is now. @throws AppError 400001, 404001 */
  async preview(actor: Actor, domain: OpenDomain, edits: Edits): Promise<Plan> {
    const request = { actor, domain, edits, connection: await this.facts.connection(domain) };
    const hosts = new Set(await this.hosts(request));
    for (;;) {
      const rows = await this.cache.those(domain.id, 'host', [...hosts]);
      const plan = await this.plan(request, rows, [], hosts);
      if ('planned' in plan) return plan;
      for (const host of plan.hosts) hosts.add(host);
    }
  }

  /** The names that a list touches, as far as they are known. What does not exist or may not be done has none. */
  async hosts({ domain, edits, connection, actor }: Request): Promise<string[]> {
    if ('hosts' in edits) return edits.hosts;
    const hosts = new Set<string>();
    const ids = edits.flatMap((edit) => ('id' in edit ? [edit.id] : []));
    const rows = new Map((await this.cache.those(domain.id, 'id', ids)).map((row) => [row.id, row]));
    for (const [i, edit] of edits.entries()) {
      if (i % TURN === TURN - 1) await nextTurn();
      if ('misfit' in edit) continue;
      if ('record' in edit) {
        hosts.add(edit.record.host);
        continue;
      }
      const row = rows.get(edit.id);
      // what rules hide is as what does not exist: it waits for nobody, and nobody waits for it
      if (!row || !judgeRecord(domain.access, domain.id, 'read', row).allowed) continue;
      hosts.add(row.host);
      if (edit.op !== 'update' || (edit.patch.host ?? row.host) === row.host) continue;
      try {
        // before anything is said about it: what does not fit a record tells what it holds
        assertMay(domain.access, domain.id, 'update', row);
        hosts.add(mergedRecord(connection.definition, domain.name, row, edit.patch).host);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        log().debug({ actor: actor === 'system' ? actor : actor.requestId }, error.message);
      }
    }
    return [...hosts];
  }

  /**
   * @param foreign those of the rows that the cache learned of for this very list
   * @param hosts the names whose rows these are
   * @param positions where the edits stood in a list of which they are what is left
   * @returns the plan; or other names that the list touches, too, where one edit stands on another one
   * @throws AppError 400001
   */
  async plan(
    { actor, domain, edits, connection }: Request,
    rows: readonly StoredRecord[],
    foreign: readonly StoredRecord[],
    hosts: ReadonlySet<string>,
    positions?: readonly number[],
  ): Promise<Plan | { hosts: string[] }> {
    const named = !('hosts' in edits);
    const copy = new WorkingCopy(connection.definition, domain, rows, mayRead(actor, domain), named);
    const planned: Planned[] = [];
    for (const edit of 'hosts' in edits ? await edits.of(rows, foreign) : edits) {
      planned.push(copy.plan(edit, positions?.[planned.length] ?? planned.length));
      if (planned.length % TURN === 0) await nextTurn();
    }
    assertStorable(planned);
    const others = planned.flatMap(({ after }) => (after && !hosts.has(after.host) ? [after.host] : []));
    if (others.length) return { hosts: others };
    const nets: Net[] = [];
    for (const net of copy.nets()) {
      if (due()) await turn();
      if (!isIdle(net)) nets.push(net);
    }
    return { planned, nets };
  }
}
