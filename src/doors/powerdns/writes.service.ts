import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { AccountsService } from '../../accounts/accounts.service.js';
import { ProviderConnections } from '../../accounts/provider-connections.js';
import { AuditService } from '../../audit/audit.service.js';
import { Places } from '../../changes/edits/edit.js';
import { zoneName } from '../../dns/names.js';
import { DEFAULT_TTL } from '../../dns/record.js';
import { DomainChanges } from '../../domains/domain-changes.service.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { errors } from '../../platform/common/errors.js';
import { say } from '../../platform/common/words/field-text.js';
import { RrsetsService } from '../../records/rrsets/rrsets.service.js';
import { DomainDeletion } from '../../trash/domain-deletion.service.js';
import { canonicalName, changesOf, isWord, objectOf, type SetChange, wishesOf } from './changes.js';
import { serialOf } from './zone-views.js';
import { PowerdnsZones } from './zones.service.js';

type Body = Record<string, unknown>;

/** seconds, of the NS records of a zone whose client names none, as PowerDNS has it */
const NS_TTL = 3600;
/** names of accounts that a message tells */
const MOST_NAMED = 20;
/** kinds of zones that are written; of others the records come from elsewhere */
const KINDS = ['Native', 'Master'];
/** What a zone has, and keeps. */
const FIXED: Record<string, unknown> = {
  masters: [],
  catalog: '',
  dnssec: false,
  nsec3param: '',
  nsec3narrow: false,
  presigned: false,
};

/** Writes of a PowerDNS client: each goes the way of the API's own routes. */
@Injectable()
export class PowerdnsWrites {
  constructor(
    private readonly zones: PowerdnsZones,
    private readonly domains: DomainsService,
    private readonly policy: DomainPolicy,
    private readonly changes: DomainChanges,
    private readonly deletion: DomainDeletion,
    private readonly accounts: AccountsService,
    private readonly connections: ProviderConnections,
    private readonly places: Places,
    private readonly rrsets: RrsetsService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Changes the sets that a request names, all of them or none.
   * @returns the serials before and after it @throws AppError 400001, 403001, 404001, 409001; ProviderError
   */
  async patch(me: Caller, id: string, body: unknown): Promise<{ before: number; after: number }> {
    const domain = await this.zones.open(me, id);
    const { rrsets } = objectOf(body ?? {}, 'body');
    await this.write(me, domain, await changesOf(await this.places.of(domain), rrsets));
    return { before: serialOf(domain), after: serialOf(await this.domains.reload(domain.id)) };
  }

  /**
   * Makes a zone at the provider of an account. One that is there already is added as it is, which is a conflict where
   * sets are sent along: whoever planned them has not seen those that it has.
   * @throws AppError 400001, 403001, 409001, 501001; ProviderError
   */
  async create(me: Caller, given: unknown): Promise<OpenDomain> {
    const body = objectOf(given ?? {}, 'body');
    const name = zoneName(canonicalName(body.name, 'name'));
    assertKept(body, true);
    if (body.zone) throw errors.field('zone', 'is not taken: send the records of the zone as rrsets');
    if (await this.zones.find(me, name)) throw errors.taken('name', 'domain_exists', { name });
    const account = await this.accountOf(me, body.account);
    const definition = this.connections.definition(account.provider);
    const sets = await changesOf({ definition, zone: name, defaultTtl: DEFAULT_TTL }, allSets(name, body), 'REPLACE');
    // records that no provider could hold are refused before the zone is made
    for (const { choose } of wishesOf(sets)) choose([]);
    const added = await this.changes.add(me, { name, account_id: account.id, create: true }, false);
    const { id } = added.domain;
    if (added.wasThere && sets.length) throw errors.taken('name', 'domain_exists', { name });
    const domain = await this.policy.open(signedIn(me), id, 'read');
    await this.write(me, domain, sets);
    return { ...(await this.domains.reload(id)), access: domain.access };
  }

  /** What a zone is stays as it is: a client that says so is right. @throws AppError 400001, 403001, 404001 */
  async update(me: Caller, id: string, given: unknown): Promise<void> {
    const found = await this.zones.open(me, id);
    const domain = await this.policy.open(signedIn(me), found.id, 'write');
    const body = objectOf(given ?? {}, 'body');
    assertKept(body, false);
    const account = body.account ?? '';
    if (account !== '' && account !== domain.account_name) throw kept('account', domain.account_name);
    if (body.rrsets !== undefined) throw errors.field('rrsets', 'is not taken here: send it with PATCH');
    this.audit.notNeeded(me);
  }

  /** Deletes a zone here, which nothing at its provider is. @throws AppError 403001, 404001, 409001 */
  async remove(me: Caller, id: string): Promise<void> {
    const found = await this.zones.open(me, id);
    const domain = await this.policy.open(signedIn(me), found.id, 'own');
    await this.deletion.remove(me, domain, false, {});
  }

  private async write(me: Caller, domain: OpenDomain, changes: readonly SetChange[]): Promise<void> {
    const wishes = wishesOf(changes);
    const changed = wishes.length > 0 && (await this.rrsets.putAll(me, domain, wishes));
    if (!changed) this.audit.notNeeded(me);
  }

  /** The account that `account` names; without a name the only one. @throws AppError 400001 */
  private async accountOf(me: Caller, name: unknown) {
    const usable = await this.accounts.usable(signedIn(me));
    const found = (name ?? '') === '' ? usable : usable.filter((one) => one.name === name || String(one.id) === name);
    const [account] = found;
    if (account && found.length === 1) return account;
    if (!usable.length)
      throw errors.field('account', 'cannot be used here: no account of a provider is open to you', 'conflict');
    // of one name the ids tell them apart
    const values = (found.length > 1 && name ? found.map(({ id }) => id) : usable.map((one) => one.name))
      .slice(0, MOST_NAMED)
      .join(', ');
    throw errors.field(
      'account',
      say('must name the account of a provider that shall have the zone: one of {values}', { values }),
      'choice',
      { values },
    );
  }
}

const kept = (path: string, value: string) =>
  errors.field(path, say('is {value} here, and cannot be changed by this API', { value }), 'read_only');

/** @throws AppError 400001 where a zone would have to be what none is here */
function assertKept(body: Body, isNew: boolean): void {
  const { kind } = body;
  if (kind === undefined && isNew) throw errors.field('kind', 'must be given', 'required');
  if (kind !== undefined && !KINDS.some((one) => isWord(kind, one)))
    throw errors.field('kind', say('must be one of {values}', { values: KINDS.join(', ') }), 'choice');
  for (const [path, value] of Object.entries(FIXED)) {
    const given = body[path] ?? value;
    if (JSON.stringify(given) !== JSON.stringify(value)) throw kept(path, JSON.stringify(value));
  }
}

/** The sets of a new zone, with its name servers. @throws AppError 400001 */
function allSets(name: string, { nameservers, rrsets }: Body): unknown {
  if (nameservers !== undefined && nameservers !== null && !Array.isArray(nameservers))
    throw errors.field('nameservers', 'must be a list');
  if (!nameservers?.length) return rrsets ?? [];
  const apex = `${name}.`;
  const records = (nameservers as unknown[]).map((one, i) => ({ content: canonicalName(one, `nameservers.${i}`) }));
  const isNs = (set: Body | null) => isWord(set?.type, 'NS') && isWord(set?.name, apex);
  if (Array.isArray(rrsets) && rrsets.some(isNs))
    throw errors.field('nameservers', 'goes with no NS records of the zone itself', 'conflict');
  if (rrsets !== undefined && rrsets !== null && !Array.isArray(rrsets)) return rrsets;
  return [...(rrsets ?? []), { name: apex, type: 'NS', ttl: NS_TTL, records }];
}
