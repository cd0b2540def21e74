import { type AppError, errors } from '../platform/common/errors.js';
import { globAdmits } from '../platform/common/patterns.js';
import { judgeByRules } from '../tokens/rules/compiled-rules.js';
import { type Action, DELEGATING, type RecordState, type TokenRule } from '../tokens/rules/token-rules.js';

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
export type Source = 'token' | 'creator' | 'scope' | 'window' | 'network';

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
  const whole = action === 'read' ? access.level >= READ : access.level >= WRITE;
  // types that delegate names are for those who may write the whole domain
  const delegates = DELEGATING.has(state.type);
  const under = action !== 'read' && !delegates && access.hosts.some((glob) => globAdmits(glob, state.host));
  if (!whole && !under) {
    const reason = access.hosts.length
      ? `Writing is limited to ${access.hosts.join(', ')}${delegates ? `, without ${state.type}` : ''}`
      : `No ${action === 'read' ? 'read' : 'write'} permission on this domain`;
    return { allowed: false, reason, rule: null, source: 'creator' };
  }
  if (!access.rules)
    return { allowed: true, reason: 'The permission on the domain allows it', rule: null, source: 'creator' };
  // a record that may not be read can be neither changed nor deleted: the answer would reveal that it exists
  if (action === 'update' || action === 'delete') {
    const read = judgeRecord(access, domainId, 'read', state);
    if (!read.allowed) return read;
  }
  const { allowed, rule, untried } = judgeByRules(access.rules, domainId, action, state);
  const what = `${action} ${state.type} at ${state.host}`;
  const reason =
    rule === null
      ? `No rule of the token allows: ${what}`
      : `Rule ${rule} of the token ${allowed ? 'allows' : 'denies'}: ${what}`;
  const cost =
    untried === undefined
      ? ''
      : `; rule ${untried} cannot be tried within the bounds of a decision, so it allows nothing`;
  return { allowed, reason: reason + cost, rule, source: 'token' };
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
