import type { AuditRules } from './audit-rules.dto.js';
import type { NotificationsView } from './channels.dto.js';
import { channelView } from './channels.js';
import { isConfirmed } from './confirmation.js';
import { type DocumentName, type Documents, notBindingSupers, type Row } from './documents.js';
import type { OauthView } from './oauth-settings.dto.js';
import type { GeneralView, SecurityView, SmtpView } from './settings.dto.js';

/** What the routes answer, section by section. */
export interface Views {
  general: GeneralView;
  security: SecurityView;
  smtp: SmtpView;
  oauth: OauthView;
  notifications: NotificationsView;
  'audit-rules': AuditRules;
}

/** A section as answers and the audit log show it: without secrets, with what waits for a super administrator. */
export function viewOf<N extends DocumentName>(name: N, value: Documents[N], row: Row | undefined): Views[N] {
  if (name === 'notifications') {
    const { channels } = value as Documents['notifications'];
    return { channels: channels.map(channelView) } as Views[N];
  }
  if (name === 'audit-rules') return value as unknown as Views[N];
  const waiting = name === 'security' ? notBindingSupers(row) : (row?.waiting ?? []);
  return { ...shown(name, value, row), confirmed: waiting.length === 0, waiting } as unknown as Views[N];
}

function shown(name: DocumentName, value: Documents[DocumentName], row: Row | undefined): object {
  if (name === 'smtp') {
    const { password, ...smtp } = value as Documents['smtp'];
    return { ...smtp, password_set: password !== null };
  }
  if (name !== 'oauth') return value;
  const { enabled, providers } = value as Documents['oauth'];
  return {
    enabled,
    providers: providers.map(({ client_secret, ...provider }) => ({
      ...provider,
      client_secret_set: client_secret !== null,
      confirmed: isConfirmed(row, provider.key),
    })),
  };
}
