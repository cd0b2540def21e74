import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import type { StoredRecord } from '../../cache/record-cache.js';
import { doorOf } from '../../changes/change-sets.js';
import { bareName } from '../../dns/names.js';
import { assertMay } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { AppError, errors } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { say } from '../../platform/common/words/field-text.js';
import { RrsetsService, type Wish } from '../../records/rrsets/rrsets.service.js';
import { DoorNames, type Place } from '../kit/door-names.service.js';
import { type Addresses, addressesOf, moved } from './addresses.js';
import type { HostsInput } from './dyndns2.dto.js';
import { wordOf } from './dyndns2.protocol.js';

const MOST_HOSTS = 20;
/** A host as all spellings of it are. */
const bareHost = (host: string): string => bareName(host.trim());

/** One host of a request: what it shall hold, and what became of that. */
interface Asked extends Place {
  name: string;
  wishes: Wish[];
  /** its addresses afterwards */
  addresses: string[];
  changed: boolean;
  failure: unknown;
}

@Injectable()
export class Dyndns2Service {
  constructor(
    private readonly names: DoorNames,
    private readonly rrsets: RrsetsService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Gives hosts other addresses. @param user who may be the host, where the request names none
   * @returns a line for each host, in their order; or one for all of them
   */
  async update(me: Caller, input: HostsInput, user: string): Promise<string> {
    const hosts = (input.hostname || (user.includes('.') ? user : '')).split(',').map(bareHost);
    const words = say('must be full names: at most {max}, with commas between', { max: MOST_HOSTS });
    if (hosts.length > MOST_HOSTS) throw errors.field('hostname', words, 'length', { max: MOST_HOSTS });
    if (hosts.some((host) => !host.includes('.'))) throw errors.field('hostname', words);
    if (input.offline?.toLowerCase() === 'yes')
      throw errors.field('offline', 'is not taken: no host is taken out of DNS here');
    const addresses = addressesOf([input.myip, input.myipv6, input.ip6lanprefix], me.ip);
    const asked = new Map<string, Asked | unknown>();
    for (const host of new Set(hosts)) asked.set(host, await this.askedOf(me, host, addresses));
    const found = [...asked.values()].filter((one) => isAsked(one));
    const changing = found.filter(({ wishes, failure }) => wishes.length && !failure);
    for (const id of new Set(changing.map(({ domain }) => domain.id)))
      await this.write(
        me,
        changing.filter(({ domain }) => domain.id === id),
      );
    // what is as it shall be leaves nothing in the log
    if (!changing.length) this.audit.notNeeded(me);
    const lines: string[] = [];
    for (const host of hosts) lines.push(await this.lineOf(me, host, asked.get(host)));
    return lines.join('\n');
  }

  /** What is to be done for a host: nothing where the cache says that its addresses are those. */
  private async askedOf(me: Caller, name: string, { v4, v6, prefix }: Addresses): Promise<Asked | unknown> {
    try {
      const place = await this.names.of(me, name, 'hostname');
      const { domain, host } = place;
      const wanted: [type: string, choose: Wish['choose']][] = [];
      if (v4) wanted.push(['A', () => [v4]]);
      if (v6) wanted.push(['AAAA', () => [v6]]);
      else if (prefix) wanted.push(['AAAA', (values) => [...new Set(values.map((value) => moved(value, prefix)))]]);
      const keys = wanted.map(([type]) => ({ host, type, line: 'default' }));
      const before = await this.rrsets.records(domain, keys);
      const one: Asked = { ...place, name, wishes: [], addresses: [], changed: false, failure: null };
      for (const [i, [, choose]] of wanted.entries()) {
        const rows = before[i] as StoredRecord[];
        const values = rows.map(({ value }) => value);
        const after = choose(values);
        one.addresses.push(...after);
        // what is in doubt may become the old address yet
        const isSettled = rows.every(({ pending }) => !pending);
        if (!isSettled || !same(values, after)) one.wishes.push({ key: keys[i] as Wish['key'], choose });
        // no engine judges what is not written
        else for (const row of rows) assertMay(domain.access, domain.id, 'read', row);
      }
      // nothing to move to the network
      return one.addresses.length ? one : errors.notFound('record');
    } catch (error) {
      // what no host is to blame for ends the request before any is written
      if (!(error instanceof AppError)) throw error;
      return error;
    }
  }

  /** Writes hosts of one domain in one list. */
  private async write(me: Caller, asked: readonly Asked[]): Promise<void> {
    const [{ domain }] = asked as [Asked];
    const wishes = asked.flatMap((one) => one.wishes);
    // of what waits for an approval the newest addresses of these hosts do
    const subject = `dyndns2 ${sha256(asked.map(({ host }) => host).join(' ')).slice(0, 32)}`;
    const failures = await this.rrsets.replaceEach(me, domain, wishes, { door: doorOf(me), comment: '', subject }).then(
      (end) => end.failures,
      (error: unknown) => wishes.map(() => error),
    );
    for (const one of asked) {
      one.failure = one.wishes.map((wish) => failures[wishes.indexOf(wish)]).find((failure) => failure) ?? null;
      one.changed = !one.failure;
    }
  }

  private async lineOf(me: Caller, name: string, asked: Asked | unknown): Promise<string> {
    const failure = isAsked(asked) ? asked.failure : asked;
    if (isAsked(asked) && !failure) return `${asked.changed ? 'good' : 'nochg'} ${asked.addresses.join(',')}`;
    await this.refused(me, name, failure, isAsked(asked) ? asked.domain : null);
    return wordOf(failure);
  }

  /** A host that got no other address is in the log, as a request that was refused is. */
  private async refused(me: Caller, name: string, error: unknown, domain: OpenDomain | null): Promise<void> {
    if (!(error instanceof AppError)) throw error;
    const target = { type: 'record', id: null, name: name.slice(0, 253) };
    const entry = { action: 'record.update', domain, target, result: 'failed', error: error.message } as const;
    await this.audit.append(me, entry);
  }
}

const isAsked = (one: Asked | unknown): one is Asked => typeof one === 'object' && one !== null && 'wishes' in one;

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value) => b.includes(value));
