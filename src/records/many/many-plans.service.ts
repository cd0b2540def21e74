import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { scopesReadAll } from '../../access/scopes.js';
import type { ShownRecord } from '../../cache/dns-records.repository.js';
import { type Edit, Places, update } from '../../changes/edits/edit.js';
import { RecordPatch, recordView } from '../../changes/edits/record.dto.js';
import { changesOf } from '../../changes/edits/record-rules.js';
import type { Wish } from '../../changes/plans/plan-builder.service.js';
import { refusal } from '../../domains/access-rights.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { type AppError, errors, fieldErrorsOf } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { say } from '../../platform/common/words/field-text.js';
import { BatchService } from '../batch/batch.service.js';
import type { PlanGroupView } from '../plans/group.dto.js';
import { type Asked, PlanGroups } from '../plans/groups.service.js';
import { MAX_LIST } from '../plans/plan.dto.js';
import { RecordSearch } from '../search/search.service.js';
import {
  type DomainChanges,
  MAX_DOMAINS,
  type ManyPlansInput,
  type RecordsSet,
  type RecordsWhere,
} from './many.dto.js';

/** What is asked of many domains, as plans of each. */
@Injectable()
export class ManyPlans {
  constructor(
    private readonly groups: PlanGroups,
    private readonly policy: DomainPolicy,
    private readonly places: Places,
    private readonly batches: BatchService,
    private readonly search: RecordSearch,
  ) {}

  /** @throws AppError 400001, 403001, 404001; where no domain can be planned, that of the first */
  async create(me: Caller, { domains, where, set, comment = '' }: ManyPlansInput): Promise<PlanGroupView> {
    if (domains && (where || set))
      throw errors.field(
        where ? 'where' : 'set',
        say('does not go together with {field}', { field: 'domains' }),
        'conflict',
      );
    if (domains) return this.groups.create(me, await this.listed(me, domains), comment, within);
    if (!where) throw errors.field('domains', 'or where must be given', 'required');
    if (!set) throw errors.field('set', 'must be given with where', 'required');
    if (!Object.values(set).some((value) => (value ?? null) !== null))
      throw errors.field('set', 'must name at least one field', 'required');
    return this.groups.create(me, await this.matched(me, where, set), comment, null);
  }

  /** Lists of changes; the caller may write to each domain. */
  private async listed(me: Caller, domains: readonly DomainChanges[]): Promise<Asked[]> {
    const count = domains.reduce((sum, { changes }) => sum + changes.length, 0);
    if (count > MAX_LIST)
      throw errors.field('domains', say('are more than {max} in one plan: {count}', { max: MAX_LIST, count }));
    const asked: Asked[] = [];
    const known = new Set<number>();
    for (const [i, { domain_id: id, changes }] of domains.entries()) {
      if (known.has(id)) throw errors.field(`domains.${i}.domain_id`, 'is there twice', 'duplicate');
      known.add(id);
      const domain = await this.policy.open(signedIn(me), id, 'records');
      const wish = async (zone: { domain: OpenDomain }): Promise<Wish> => {
        const place = await this.places.of(zone.domain);
        return { edits: await this.batches.editsOf(place, changes), warnings: [], unchanged: 0 };
      };
      asked.push({ domain, wish });
    }
    return asked;
  }

  /** The domains with records that match, and what is to become of these as the provider has them when it is read. */
  private async matched(me: Caller, where: RecordsWhere, set: RecordsSet): Promise<Asked[]> {
    // matches reveal the content of records
    const { token } = signedIn(me);
    if (token && !scopesReadAll(token.allowedServices))
      throw errors.forbidden('scope_missing', { scope: 'records:read' }, { required: 'records:read' });
    const { domain_ids: ids, ...query } = where;
    if (!Object.values(query).some((value) => value !== undefined))
      throw errors.field('where', 'must name a host, type or value', 'required');
    const most = (words: string, max: number, count: number) => {
      if (count > max) throw errors.field(words, say('are more than {max} in one plan: {count}', { max, count }));
    };
    const find = (among: readonly number[] | undefined) =>
      this.search.matching(signedIn(me), query, among, MAX_LIST + 1);
    const found = await find(ids);
    most('where', MAX_LIST, found.length);
    const domains = new Set(found.map(({ domain_id }) => domain_id));
    most('where.domain_ids', MAX_DOMAINS, domains.size);
    const asked: Asked[] = [];
    for (const id of domains) {
      const domain = await this.policy.open(signedIn(me), id, 'read');
      const verdict = this.policy.judgeDomain(signedIn(me), id, domain, 'records');
      const error = verdict.allowed ? undefined : refusal(verdict, `domain:${id}:write`);
      asked.push({ domain, error, wish: async (zone) => this.wishOf(zone.domain, await find([id]), set) });
    }
    return asked;
  }

  private async wishOf(domain: OpenDomain, rows: readonly ShownRecord[], set: RecordsSet): Promise<Wish> {
    const place = await this.places.of(domain);
    const edits: Edit[] = [];
    const warnings: string[] = [];
    let unchanged = 0;
    for (const row of rows) {
      if (due()) await turn();
      const { id, type, host } = row;
      if (!changesOf(set, recordView(row, domain)).size) unchanged++;
      else if (type === 'SOA' || row.read_only) warnings.push(`${type} ${host} is read-only, and stays as it is`);
      else edits.push(update(place, id, Object.assign(new RecordPatch(), set)));
    }
    return { edits, warnings, unchanged, together: true };
  }
}

/** What is wrong with the changes of one domain, within the whole; of a single change its fields alone are named. */
function within(error: AppError, i: number): AppError {
  return errors.validation(fieldErrorsOf(error).map((one) => ({ ...one, path: `domains.${i}.${one.path}` })));
}
