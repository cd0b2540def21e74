import type { AuditRules } from './audit-rules.dto.js';
import type { NotificationsView } from './channels.dto.js';
import { channelView, type StoredChannel, shownSecret } from './channels.js';
import { isConfirmed } from './confirmation.js';
import { type DocumentName, type Documents, notBindingSupers, type Row } from './documents.js';
import type { DoorsSettings } from './doors.dto.js';
import type { OauthView } from './oauth-settings.dto.js';
import type { GeneralView, SecurityView, SmtpView } from './settings.dto.js';

/** The answers of the routes, by section. */
export interface Views {
  general: GeneralView;
  security: SecurityView;
  smtp: SmtpView;
  oauth: OauthView;
  notifications: NotificationsView;
  'audit-rules': AuditRules;
  doors: DoorsSettings;
}

/**
 * A section as answers and the audit log show it: without secrets, with what waits for a super administrator.
 * @param former its state before, for the audit log, which shows which secrets changed
 */
export function viewOf<N extends DocumentName>(
  name: N,
  value: Documents[N],
  row: Row | undefined,
  former?: Documents[N],
): Views[N] {
  if (name === 'notifications') {
    const { channels } = value as Documents['notifications'];
    const before = (former as Documents['notifications'] | undefined)?.channels;
    const known = (channel: StoredChannel) =>
      before?.find(({ id, type }) => id === channel.id && type === channel.type);
    return { channels: channels.map((channel) => channelView(channel, known(channel))) } as Views[N];
  }
  if (name === 'audit-rules' || name === 'doors') return value as unknown as Views[N];
  const waiting = name === 'security' ? notBindingSupers(row) : (row?.waiting ?? []);
  return { ...shown(name, value, row, former), confirmed: waiting.length === 0, waiting } as unknown as Views[N];
}

function shown(
  name: DocumentName,
  value: Documents[DocumentName],
  row: Row | undefined,
  former?: Documents[DocumentName],
): object {
  if (name === 'smtp') {
    const { password, ...smtp } = value as Documents['smtp'];
    return { ...smtp, ...shownSecret('password', password, (former as Documents['smtp'] | undefined)?.password) };
  }
  if (name !== 'oauth') return value;
  const { enabled, providers } = value as Documents['oauth'];
  const before = (former as Documents['oauth'] | undefined)?.providers;
  return {
    enabled,
    providers: providers.map(({ client_secret, ...provider }) => ({
      ...provider,
      ...shownSecret('client_secret', client_secret, before?.find(({ key }) => key === provider.key)?.client_secret),
      confirmed: isConfirmed(row, provider.key),
    })),
  };
}
