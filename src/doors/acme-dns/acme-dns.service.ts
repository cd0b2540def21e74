import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Caller, signedIn, type ZoneRequest } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { Proofs } from '../../auth/guard/proofs.js';
import { fullName } from '../../dns/names.js';
import { assertMay } from '../../domains/access-rights.js';
import { DomainsService } from '../../domains/domains.service.js';
import { inCidrs, parseCidr } from '../../platform/common/cidr.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { isLiteral, literalHost } from '../../platform/common/patterns.js';
import { Db } from '../../platform/database/db.js';
import { SettingsService } from '../../settings/settings.service.js';
import { ApiTokensRepository } from '../../tokens/api-tokens.repository.js';
import type { TokenRule } from '../../tokens/rules/token-rules.js';
import { Challenges } from '../kit/challenges.service.js';
import { DoorNames } from '../kit/door-names.service.js';
import type { Registered, RegistrationInput, TextInput } from './acme-dns.dto.js';
import { AcmeRegistrationsRepository } from './acme-registrations.repository.js';
import type { AcmeRegistration } from './registration.entity.js';

const MAX_PER_TOKEN = 1000;
/** texts that stay at a name: a certificate of a zone and its wildcard has two challenges at one */
const KEPT = 2;
const LABEL = '_acme-challenge';

@Injectable()
export class AcmeDnsService implements OnModuleInit {
  /** by which registration a request came in */
  private readonly proven = new WeakMap<Caller, AcmeRegistration>();

  constructor(
    private readonly db: Db,
    private readonly registrations: AcmeRegistrationsRepository,
    private readonly tokens: ApiTokensRepository,
    private readonly domains: DomainsService,
    private readonly names: DoorNames,
    private readonly challenges: Challenges,
    private readonly proofs: Proofs,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  onModuleInit(): void {
    this.proofs.register('acme-dns', (request) => this.tokenOf(request));
  }

  /** A new registration of the caller's token. Only this answer has its key. @throws AppError 400001, 403001, 409001 */
  async register(me: Caller, { fulldomain, allowfrom }: RegistrationInput): Promise<Registered> {
    const named = fulldomain ?? (await this.onlyName(me));
    const { domain, host } = await this.names.of(me, challengeName(named), 'fulldomain');
    const { default_ttl: ttl } = await this.settings.read('general');
    for (const action of ['create', 'delete'] as const)
      assertMay(domain.access, domain.id, action, { host, type: 'TXT', value: SAMPLE, ttl });
    const tokenId = signedIn(me).token?.id as number;
    const key = randomBytes(30).toString('base64url');
    const row = {
      token_id: tokenId,
      username: randomUUID(),
      key_hash: sha256(key),
      subdomain: randomUUID(),
      fulldomain: fullName(host, domain.name),
      allow_from: allowfrom ?? [],
      created_at: now(),
    };
    await this.db.transaction(async (manager) => {
      // one after the other, and none for a token that is being deleted
      if (!(await this.tokens.lock(tokenId, manager))) throw errors.unauthenticated('api_token_invalid');
      if ((await this.registrations.count(tokenId, manager)) >= MAX_PER_TOKEN)
        throw errors.conflict('too_many_registrations', { max: MAX_PER_TOKEN });
      await this.registrations.insert(row, manager);
      const { username, subdomain, allow_from } = row;
      await this.audit.write(manager, me, {
        action: 'door.register',
        domain,
        target: { type: 'door', id: null, name: row.fulldomain },
        after: { username, subdomain, fulldomain: row.fulldomain, allow_from },
      });
    });
    const { username, subdomain } = row;
    return { username, password: key, fulldomain: row.fulldomain, subdomain, allowfrom: row.allow_from };
  }

  /** Puts a text at the name of the registration that the request came by. @throws AppError 401001, 403001, … */
  async update(me: Caller, { subdomain, txt }: TextInput): Promise<{ txt: string }> {
    const own = this.proven.get(me);
    if (own?.subdomain !== subdomain) throw errors.unauthenticated('api_token_invalid');
    await this.challenges.add(me, await this.names.of(me, own.fulldomain, 'fulldomain'), txt, KEPT);
    return { txt };
  }

  /** The token of the registration whose name and key a request carries; null: there is none, or not from there. */
  private async tokenOf(request: ZoneRequest): Promise<number | null> {
    const [username, key] = [request.get('x-api-user'), request.get('x-api-key')];
    const row = username && key ? await this.registrations.of(username) : null;
    if (!row || row.key_hash !== sha256(key as string)) return null;
    const { ip } = request.caller;
    if (row.allow_from.length && !inCidrs(ip, row.allow_from.map(parseCidr))) return null;
    this.proven.set(request.caller, row);
    return row.token_id;
  }

  /** The one name that the rules of the caller's token allow. @throws AppError 400001 where that is not one */
  private async onlyName(me: Caller): Promise<string> {
    const principal = signedIn(me);
    const hosts = [...new Set(principal.token?.rules?.flatMap(hostsOf))];
    const [host = '**'] = hosts;
    const { total, list } = await this.domains.list(principal, { page: 1, limit: 2 });
    const [domain] = list;
    if (hosts.length === 1 && isLiteral(host) && total === 1 && domain) return fullName(literalHost(host), domain.name);
    throw errors.field('fulldomain', 'must be given: the rules of the token do not allow just one name', 'required');
  }
}

/** What a text looks like, where rules are asked before there is any; those that come are judged, too. */
const SAMPLE = '0123456789012345678901234567890123456789012';

/** The globs of hosts at which a rule allows to put a text. */
const hostsOf = ({ effect, types, actions, hosts }: TokenRule): string[] =>
  effect === 'allow' && (types?.includes('TXT') ?? true) && (actions?.includes('create') ?? true)
    ? (hosts ?? ['**'])
    : [];

/** Where an ACME server looks for the challenges of a name, or the name itself where it is such a place. */
const challengeName = (name: string): string =>
  name.toLowerCase().startsWith(`${LABEL}.`) ? name : `${LABEL}.${name.replace(/^\*\./, '')}`;
