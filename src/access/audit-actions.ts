/**
 * What the actions of the log are about: each is `<noun>.<verb>`. Part of the API: add to it, never change a meaning.
 */
export const AUDIT_NOUNS = [
  ...(['init', 'auth', 'oauth', 'passkey', 'profile', 'session', 'user', 'team', 'member', 'permission'] as const),
  ...(['token', 'account', 'domain', 'record', 'changes', 'failover', 'tunnel', 'settings'] as const),
  ...(['notification', 'audit', 'backup', 'job', 'system', 'door'] as const),
] as const;
export type AuditNoun = (typeof AUDIT_NOUNS)[number];

/** `<noun>.<verb>` */
export type AuditAction = `${AuditNoun}.${string}`;
