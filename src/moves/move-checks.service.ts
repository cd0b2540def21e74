import { Injectable } from '@nestjs/common';
import { RecordCache } from '../cache/record-cache.js';
import { fullName } from '../dns/names.js';
import { typeNumber } from '../dns/types.js';
import type { DomainRow } from '../domains/domain-policy.js';
import {
  type Delegation,
  DelegationFinder,
  rdataIn,
  type ZoneServer,
} from '../monitoring/delegation/finder.service.js';
import { type Look, Looks } from '../monitoring/delegation/looks.service.js';
import { NameServers } from '../monitoring/delegation/name-servers.service.js';
import { timeoutSignal } from '../platform/common/clock.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { SURVEY } from '../platform/dns-client/effort.js';
import { isOfProvider } from './carry-over.js';
import type { MoveCheck } from './move.dto.js';
import type { MoveRow } from './moves.repository.js';
import { MovesService } from './moves.service.js';

/** ms for all questions of one look */
const LIMIT_MS = 10_000;
/** record sets that both sets of name servers are asked for */
const MOST_SETS = 30;
/** of these, differences that a text names */
const NAMED = 10;

type Key = 'delegation' | 'name_servers' | 'answers';
const found = (key: Key, ok: boolean, text: string): MoveCheck => ({ key, ok, text });
const list = (names: readonly string[]) => names.join(', ') || 'none';

/** What name servers say of the two zones of a move, and the zone above of its delegation. */
@Injectable()
export class MoveChecks {
  private readonly pool = new FairPool('move looks');

  constructor(
    private readonly service: MovesService,
    private readonly cache: RecordCache,
    private readonly looks: Looks,
    private readonly finder: DelegationFinder,
    private readonly servers: NameServers,
  ) {}

  /** Asks now; none where a move has ended, or the other domain is gone. @throws AppError 429001 */
  async of(move: MoveRow, userId: number): Promise<MoveCheck[]> {
    if (!move.running || move.target_id === null) return [];
    return this.pool.run({ user: userId, target: move.domain_id }, () => this.ask(move));
  }

  private async ask(move: MoveRow): Promise<MoveCheck[]> {
    const { domain, other } = await this.service.sides(move);
    const over = timeoutSignal(LIMIT_MS);
    const look = await this.looks.begin(domain, SURVEY, over);
    try {
      const [now, of, others] = await Promise.all([
        this.finder.find(domain, look),
        this.finder.ofZone(domain, true, look),
        this.finder.ofZone(other, true, look),
      ]);
      const [from, to] = move.state === 'switched' ? [others, of] : [of, others];
      const words = `The old zone names ${list(from.names)}, the new one ${list(to.names)}`;
      return [
        delegation(now, move.state === 'switched' ? to : from),
        found('name_servers', Boolean(from.names.length && to.names.length), words),
        await this.answers(domain, from, to, look),
      ];
    } catch (error) {
      if (!over.aborted) throw error;
      return [found('answers', false, `The name servers did not answer within ${LIMIT_MS / 1000} s`)];
    }
  }

  /** Whether a server of each zone answers the same for some record sets of the domain. */
  private async answers(domain: DomainRow, from: Delegation, to: Delegation, look: Look): Promise<MoveCheck> {
    const [old, fresh] = [from, to].map(({ servers }) => servers.find(({ address }) => address));
    if (!old || !fresh) return found('answers', false, 'Not both zones have a name server with an address');
    const rows = (await this.cache.following(domain.id)).filter((row) => row.enabled && !isOfProvider(row));
    const sets = new Map(rows.map(({ host, type }) => [`${type} ${host}`, { host, type }]));
    const asked = [...sets].slice(0, MOST_SETS);
    const differing: string[] = [];
    await Promise.all(
      asked.map(async ([name, set]) => {
        const [a, b] = await Promise.all([old, fresh].map((server) => this.said(domain.name, server, set, look)));
        if (a !== b) differing.push(`${name} (${a} before, ${b} there)`);
      }),
    );
    const words = `${old.name} and ${fresh.name} answer the same for ${asked.length - differing.length} of ${asked.length} record sets`;
    const some = differing.toSorted().slice(0, NAMED).join('; ');
    return found('answers', !differing.length, some ? `${words}; not for ${some}` : words);
  }

  /** What a server answers for a record set, in one text. */
  private async said(
    zone: string,
    server: ZoneServer,
    { host, type }: { host: string; type: string },
    look: Look,
  ): Promise<string> {
    const name = fullName(host, zone);
    const number = typeNumber(type);
    const { reply, error } = await this.servers.one(zone, server, { name, type: number }, look);
    if (!reply) return error ?? 'no answer';
    const all = [...reply.sections[0], ...(reply.authoritative ? [] : reply.sections[1])];
    return list(rdataIn(all, name, number).toSorted());
  }
}

/** Whether the zone above names the servers that it should by now. */
function delegation({ found: by, parent, names, certain }: Delegation, wanted: Delegation): MoveCheck {
  if (by !== 'parent' || !certain)
    return found('delegation', false, 'The zone above could not be asked, or delegates nothing');
  const same = list(names) === list(wanted.names);
  const words = `${parent || 'The root'} names ${list(names)}`;
  return found('delegation', same, same ? words : `${words}; it should be ${list(wanted.names)}`);
}
