import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { RecordCache, type StoredRecord } from '../../cache/record-cache.js';
import { hostmasterOf, zoneName } from '../../dns/names.js';
import { judgeRecord } from '../../domains/access-rights.js';
import { DomainPolicy, type DomainRow, type OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { errors, InvalidRecord } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { AllowedRecords } from '../../records/allowed-records.js';
import { RecordsService } from '../../records/records.service.js';
import { served } from '../../records/served.js';
import { listOf } from './answers.js';
import { contentOf, nameOf, setJson, setsOf } from './rrsets.js';
import { nameOfId, serialOf, zoneFrame, zoneItem } from './zone-views.js';

/** What of a zone is wanted. */
export interface Wish {
  /** false: without its sets */
  rrsets: boolean;
  /** of this name, and of this type; undefined: of all */
  host?: string | undefined;
  type?: string | undefined;
}

const SOA_TTL = 3600;

/** Zones of all providers, as one PowerDNS has them. */
@Injectable()
export class PowerdnsZones {
  constructor(
    private readonly domains: DomainsService,
    private readonly policy: DomainPolicy,
    private readonly records: RecordsService,
    private readonly readable: AllowedRecords,
    private readonly cache: RecordCache,
  ) {}

  /** The zone of an id, or a name. @throws AppError 404001 where none may be read, 409001 where several have it */
  async open(me: Caller, id: string): Promise<OpenDomain> {
    const domain = await this.find(me, id);
    if (!domain) throw errors.notFound('domain');
    return domain;
  }

  /** The same; null where there is none. Private zones have no public name. @throws AppError 409001 */
  async find(me: Caller, id: string): Promise<OpenDomain | null> {
    const name = canonical(nameOfId(id));
    if (name === null) return null;
    me.asked = { name, domain: null };
    const found = await this.policy.readable(signedIn(me), [name]);
    const [domain] = found;
    const ids = found.map((one) => one.id);
    if (found.length > 1) throw errors.conflict('domain_name_ambiguous', { name, ids: ids.join(', ') }, { ids });
    if (!domain) return null;
    me.asked.domain = { id: domain.id, name };
    return domain;
  }

  /** All zones that may be read, but those whose name several have: nobody could say which is meant. */
  list(me: Caller, signing: boolean): AsyncGenerator<string> {
    return listOf(itemsOf(this.domains.all(signedIn(me)), signing));
  }

  /** A zone with its sets, as far as they may be read. @param gone whether nobody waits for it any more */
  async *show(opened: OpenDomain, wish: Wish, gone: () => boolean): AsyncGenerator<string> {
    const domain = wish.rrsets ? await this.records.fresh(opened) : opened;
    const { head, tail } = zoneFrame(domain);
    yield head;
    if (wish.rrsets) {
      yield ',"rrsets":';
      yield* listOf(this.sets(domain, wish, gone));
    }
    yield `,${tail}`;
  }

  /** The records of a zone as lines of a zone file. */
  async *lines(opened: OpenDomain, gone: () => boolean): AsyncGenerator<string> {
    const domain = await this.records.fresh(opened);
    const line = (host: string, ttl: number, type: string, content: string) =>
      `${nameOf(host, domain.name)}\t${ttl}\tIN\t${type}\t${content}\n`;
    const soa = await this.soa(domain);
    if (soa) yield line('@', SOA_TTL, 'SOA', soa);
    for await (const set of setsOf(this.rows(domain, {}, gone))) {
      const shown = served(domain.provider, set).filter(({ enabled }) => enabled);
      yield shown.map((row) => line(row.host, row.ttl, row.type, contentOf(row))).join('');
    }
  }

  private async *sets(domain: OpenDomain, wish: Omit<Wish, 'rrsets'>, gone: () => boolean): AsyncGenerator<string> {
    const { host = '@', type = 'SOA' } = wish;
    const soa = host === '@' && type === 'SOA' ? await this.soa(domain) : null;
    const name = nameOf('@', domain.name);
    const records = [{ content: soa, disabled: false }];
    if (soa) yield JSON.stringify({ comments: [], name, records, ttl: SOA_TTL, type });
    for await (const set of setsOf(this.rows(domain, wish, gone))) {
      const [first, ...more] = served(domain.provider, set);
      if (first) yield setJson(domain.name, [first, ...more]);
    }
  }

  private rows(domain: OpenDomain, { host, type }: Omit<Wish, 'rrsets'>, gone: () => boolean) {
    const narrowed = [
      ['domain_id = ?', domain.id],
      ['host = ?', host],
      ['type = ?', type],
    ].filter(([, value]) => value !== undefined) as [string, string | number][];
    const where = narrowed.map(([sql]) => sql).join(' AND ');
    const values = narrowed.map(([, value]) => value);
    return this.readable.all(domain, { where, values, order: 'host ASC, id ASC' }, gone);
  }

  /** A SOA as clients look for one: the true one belongs to the provider. Null where none may be read. */
  private async soa(domain: OpenDomain): Promise<string | null> {
    const { access, id, name } = domain;
    const may = (row: Pick<StoredRecord, 'host' | 'type' | 'value' | 'ttl'>) =>
      judgeRecord(access, id, 'read', row).allowed;
    if (!may({ host: '@', type: 'SOA', value: '', ttl: SOA_TTL })) return null;
    const rows = await this.cache.those(id, 'host', ['@']);
    const server = rows.find((row) => row.type === 'NS' && may(row))?.value;
    const primary = server ? `${server}.` : 'a.misconfigured.dns.server.invalid.';
    return `${primary} ${hostmasterOf(name)} ${serialOf(domain)} 10800 3600 604800 3600`;
  }
}

/** A name of a zone in our form; null: it is none. */
function canonical(name: string): string | null {
  if (name.length > 1100) return null;
  try {
    return zoneName(name);
  } catch (error) {
    if (error instanceof InvalidRecord) return null;
    throw error;
  }
}

/** Zones in JSON, of those whose names stand in order. */
async function* itemsOf(pages: AsyncIterable<readonly DomainRow[]>, signing: boolean): AsyncGenerator<string> {
  let last: DomainRow | undefined;
  let isAlone = false;
  for await (const page of pages)
    for (const row of page.filter(({ apart }) => !apart)) {
      if (due()) await turn();
      const isSame = row.name === last?.name;
      if (last && isAlone && !isSame) yield JSON.stringify(zoneItem(last, signing));
      [last, isAlone] = [row, !isSame];
    }
  if (last && isAlone) yield JSON.stringify(zoneItem(last, signing));
}
