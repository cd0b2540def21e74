import { type AppError, errors } from '../platform/common/errors.js';
import { globAdmits } from '../platform/common/patterns.js';
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
  if (denial !== null) return { allowed: false, reason: denial, rule: null, source: 'creator' };
  if (!access.rules)
    return { allowed: true, reason: 'The permission on the domain allows it', rule: null, source: 'creator' };
  // a record that may not be read can be neither changed nor deleted: the answer would reveal that it exists
  if (action === 'update' || action === 'delete') {
    const read = judgeRecord(access, domainId, 'read', state);
    if (!read.allowed) return read;
  }
  const verdict = judgeByRules(access.rules, domainId, action, state);
  const reason = reasonOf(verdict, `${action} ${state.type} at ${state.host}`);
  return { allowed: verdict.allowed, reason, rule: verdict.rule, source: 'token' };
}

/** Why the permission on the domain does not allow it; null: it does. */
function denialOf({ level, hosts }: DomainAccess, action: Action, { type, host }: RecordState): string | null {
  if (level >= (action === 'read' ? READ : WRITE)) return null;
  // types that delegate names are for those who may write the whole domain
  const delegates = DELEGATING.has(type);
  if (action !== 'read' && !delegates && hosts.some((glob) => globAdmits(glob, host))) return null;
  if (hosts.length) return `Writing is limited to ${hosts.join(', ')}${delegates ? `, without ${type}` : ''}`;
  return `No ${action === 'read' ? 'read' : 'write'} permission on this domain`;
}

function reasonOf({ allowed, rule, untried }: RuleVerdict, what: string): string {
  const reason =
    rule === null
      ? `No rule of the token allows: ${what}`
      : `Rule ${rule} of the token ${allowed ? 'allows' : 'denies'}: ${what}`;
  if (untried === undefined) return reason;
  return `${reason}; rule ${untried} cannot be tried within the bounds of a decision, so it allows nothing`;
}

/** The right that a refusal names in `data.required`: `record:create:TXT:_acme-challenge`. */
export const rightOf = (action: Action, { type, host }: RecordState): string => `record:${action}:${type}:${host}`;

/** @throws AppError 403001 naming the missing right */
export function assertMay(access: DomainAccess, domainId: number, action: Action, state: RecordState): void {
  const verdict = judgeRecord(access, domainId, action, state);
  if (!verdict.allowed) throw refusal(verdict, rightOf(action, state));
}

export const refusal = ({ reason, rule }: Pick<Verdict, 'reason' | 'rule'>, required: string): AppError =>
  errors.forbidden(reason, { required, ...(rule === null ? {} : { rule }) });
