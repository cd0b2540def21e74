import { type AppError, errors } from '../platform/common/errors.js';
import { globAdmits } from '../platform/common/patterns.js';
import { type Said, said, wordsOf } from '../platform/common/words/reasons.js';
import { judgeByRules } from '../tokens/rules/compiled-rules.js';
import {
  type Action,
  DELEGATING,
  type RecordState,
  type RuleVerdict,
  type TokenRule,
} from '../tokens/rules/token-rules.js';

export const READ = 1;
/** The level of access to a whole domain: 1 read, 2 write. */
export const WRITE = 2;

/** What somebody may do in one domain, as found out for one request. */
export interface DomainAccess {
  /** READ or WRITE, of the whole domain */
  level: number;
  /** globs of hosts under which a write is allowed beyond `level` */
  hosts: readonly string[];
  /** of a token; null: no rules */
  rules: readonly TokenRule[] | null;
}

/** What the service may do by itself in any domain; on whose behalf it does so is judged elsewhere. */
export const systemAccess: DomainAccess = { level: WRITE, hosts: [], rules: null };

/** Which of the limits decided: `creator` is the right of the person behind a token, or of the user. */
type Source = 'token' | 'creator' | 'scope' | 'window' | 'network';

/** An answer to "may they?", with its reason. */
export interface Verdict {
  allowed: boolean;
  reason: string;
  /** index of the token's rule that decided */
  rule: number | null;
  source: Source;
}

/** Whether one state of a record may be touched so: the one decision for every change and every reading of records. */
export function judgeRecord(access: DomainAccess, domainId: number, action: Action, state: RecordState): Verdict {
  const denial = denialOf(access, action, state);
  if (denial) return denied('creator', denial);
  if (!access.rules)
    return { allowed: true, reason: 'The permission on the domain allows it', rule: null, source: 'creator' };
  // a record that may not be read can be neither changed nor deleted: the answer would reveal that it exists
  if (action === 'update' || action === 'delete') {
    const read = judgeRecord(access, domainId, 'read', state);
    if (!read.allowed) return read;
  }
  const verdict = judgeByRules(access.rules, domainId, action, state);
  const touched = { action, type: state.type, host: state.host };
  if (!verdict.allowed && verdict.scope !== undefined) return denied('scope', said('no_scope_allows', touched));
  if (!verdict.allowed) return denied('token', ruleDenial(verdict, touched), verdict.rule);
  const what = `${action} ${state.type} at ${state.host}`;
  if (verdict.scope !== undefined)
    return { allowed: true, reason: `The scope ${verdict.scope} allows: ${what}`, rule: null, source: 'scope' };
  const words = `Rule ${verdict.rule} of the token allows: ${what}`;
  return { allowed: true, reason: words + untriedWords(verdict), rule: verdict.rule, source: 'token' };
}

/** Why the permission on the domain does not allow it; null: it does. */
function denialOf({ level, hosts }: DomainAccess, action: Action, { type, host }: RecordState): Said | null {
  if (level >= (action === 'read' ? READ : WRITE)) return null;
  // types that delegate names are for those who may write the whole domain
  const delegates = DELEGATING.has(type);
  if (action !== 'read' && !delegates && hosts.some((glob) => globAdmits(glob, host))) return null;
  if (!hosts.length) return said(action === 'read' ? 'no_read_permission' : 'no_write_permission');
  const limits = { hosts: hosts.join(', ') };
  return delegates ? said('writing_limited_without', { ...limits, type }) : said('writing_limited', limits);
}

const untriedWords = ({ untried }: RuleVerdict): string =>
  untried === undefined
    ? ''
    : `; rule ${untried} cannot be tried within the bounds of a decision, so it allows nothing`;

function ruleDenial({ rule, untried }: RuleVerdict, touched: { action: Action; type: string; host: string }): Said {
  if (rule === null)
    return untried === undefined
      ? said('no_rule_allows', touched)
      : said('no_rule_allows_untried', { ...touched, untried });
  return untried === undefined
    ? said('rule_denies', { ...touched, rule })
    : said('rule_denies_untried', { ...touched, rule, untried });
}

/** The reasons of verdicts that deny, for the errors made of them. */
const reasons = new WeakMap<object, Said>();

/** A verdict that denies, with its reason in English. */
export function denied(source: Source, why: Said, rule: number | null = null): Verdict {
  const verdict = { allowed: false, reason: wordsOf('en', why.reason, why.params), rule, source };
  reasons.set(verdict, why);
  return verdict;
}

/** The right that a refusal names in `data.required`: `record:create:TXT:_acme-challenge`. */
export const rightOf = (action: Action, { type, host }: RecordState): string => `record:${action}:${type}:${host}`;

/** @throws AppError 403001 naming the missing right */
export function assertMay(access: DomainAccess, domainId: number, action: Action, state: RecordState): void {
  const verdict = judgeRecord(access, domainId, action, state);
  if (!verdict.allowed) throw refusal(verdict, rightOf(action, state));
}

/** The error of a verdict that denies: 403001 naming the missing right. @param verdict as `denied` made it */
export const refusal = (verdict: Verdict, required: string): AppError =>
  errors.denied(reasons.get(verdict) ?? said('insufficient_permission'), {
    required,
    ...(verdict.rule === null ? {} : { rule: verdict.rule }),
  });
