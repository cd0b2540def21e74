import { Injectable } from '@nestjs/common';
import { type Principal, Role } from '../access/access.js';
import { DomainsService } from '../domains/domains.service.js';
import { errors } from '../platform/common/errors.js';
import { say } from '../platform/common/words/field-text.js';
import type { TokenRule } from './rules/token-rules.js';
import type { RuleInput } from './token-rule.dto.js';

/** Rules without the fields that were left out, or are null, as they are stored and shown. */
export const plainRules = (rules: RuleInput[] | null | undefined): TokenRule[] | null =>
  rules ? JSON.parse(JSON.stringify(rules, (_key, value) => value ?? undefined)) : null;

/** @throws AppError 400001 for a list of no rules */
export function assertSomeRules(rules: readonly unknown[] | null | undefined): void {
  if (rules?.length !== 0) return;
  throw errors.field('rules', 'must not be empty: it would allow nothing; leave it out', 'length', { min: 1 });
}

/** @throws AppError 400001 naming `end_time` where a window ends before it begins */
export function assertWindow(start: string | null, end: string | null): void {
  if (start && end && start >= end) throw errors.field('end_time', 'must be later than start_time', 'conflict');
}

/** The ids of domains that rules name. */
export const domainsIn = (rules: readonly TokenRule[] | null): number[] => [
  ...new Set(rules?.flatMap((rule) => rule.domains ?? [])),
];

/** What the creation of a token asks about domains, and so does what widens one. */
@Injectable()
export class TokenChecks {
  constructor(private readonly domains: DomainsService) {}

  /** @throws AppError 400001 naming the domains that the creator may not read */
  async assertGrantable(me: Principal, ids: number[], path: string): Promise<void> {
    if (!ids.length) return;
    const mine = await this.domains.readableIds(me, ids);
    const foreign = ids.filter((id) => !mine.has(id));
    if (foreign.length) {
      const ids = foreign.slice(0, 10).join(', ');
      const words =
        me.role >= Role.Admin
          ? say('no domain has the id {ids}', { ids })
          : say('you have no access to the domain {ids}', { ids });
      throw errors.field(path, words);
    }
  }

  /** Whether all of these domains are there. */
  async allExist(ids: number[]): Promise<boolean> {
    return !ids.length || (await this.domains.existing(ids)).size === ids.length;
  }
}
