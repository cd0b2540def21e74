import { scopesAllow, scopesReadAll } from '../../access/scopes.js';
import type { Actor } from '../../audit/audit.service.js';
import { judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import type { RecordState } from '../../tokens/rules/token-rules.js';
import type { ChangeSet } from './change-set.entity.js';

/** The columns of a change set that say who asked for it. */
export const WHO = 'actor_type, user_id, username, token_id, token_name, request_id, door_key';

type Who = Pick<
  ChangeSet,
  'actor_type' | 'user_id' | 'username' | 'token_id' | 'token_name' | 'request_id' | 'door_key'
>;

/** Who asked for a list, for the audit log of what is done for them later. It has no rights: these were judged. */
export function actorOf(set: Who): Actor {
  if (set.user_id === null || set.username === null) return 'system';
  const token = { allowedDomains: null, allowedServices: [], rules: [] };
  return {
    ip: '',
    userAgent: '',
    requestId: set.request_id,
    ...(set.door_key && { door: set.door_key }),
    principal: {
      kind: set.actor_type === 'token' ? 'token' : 'user',
      userId: set.user_id,
      username: set.username,
      role: 0,
      sessionId: null,
      lacksSecondFactor: false,
      ratePerMinute: 0,
      token: set.token_id === null ? null : { id: set.token_id, name: set.token_name ?? '', ...token },
    },
  };
}

/** Whether the scopes of a request allow reading a record; without `row`: reading any. Some tokens may only write. */
export const readsRecords = (actor: Actor, row?: RecordState): boolean =>
  actor === 'system' || !actor.principal?.token || scopesAllow(actor.principal.token.allowedServices, 'read', row);

/** Whether a request may see every record of a domain. If not, `mayRead` decides for each record. */
export const readsAll = (actor: Actor, { access }: OpenDomain): boolean =>
  !access.rules &&
  (actor === 'system' || !actor.principal?.token || scopesReadAll(actor.principal.token.allowedServices));

/** Whether a request may see a record of a domain: the one rule for every response that a stored record influences. */
export const mayRead =
  (actor: Actor, { id, access }: OpenDomain) =>
  (row: RecordState): boolean =>
    readsRecords(actor, row) && judgeRecord(access, id, 'read', row).allowed;
