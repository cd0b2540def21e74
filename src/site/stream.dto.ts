/** What a stream may tell. Part of the API: add to it, never change a meaning. */
export const STREAM_EVENTS = [
  'records.changed',
  'records.synced',
  'domain.created',
  'domain.removed',
  'account.synced',
  'settings.changed',
  'reset',
] as const;
export type StreamEvent = (typeof STREAM_EVENTS)[number];

/** `records.changed`: a change of records was carried out. */
export class RecordsChanged {
  domain_id!: number;
  /** `GET /api/domains/:id/changes/:changeSetId` tells it */
  change_set_id!: number;
}

/** `records.synced`: the records here follow what the provider holds. */
export class RecordsSynced {
  domain_id!: number;
  /** how many records were touched */
  touched!: number;
}

/** `domain.created`: a domain was added. */
export class DomainCreated {
  domain_id!: number;
}

/** `domain.removed`: a domain is no longer kept here. */
export class DomainRemoved {
  domain_id!: number;
}

/** `account.synced`: an account was synchronised; what became of its zones. */
export class AccountSynced {
  account_id!: number;
  added!: number;
  updated!: number;
  missing!: number;
  failed!: number;
}

/** `settings.changed`: a document of the settings was changed. */
export class SettingsChanged {
  section!: 'general' | 'security' | 'smtp' | 'oauth' | 'notifications' | 'audit-rules';
}

/** `reset`: something was missed that cannot be told any more; read anew whatever is shown. */
export class StreamReset {
  /** gone: it is too long ago; too_much: more happened than is told one by one */
  reason!: 'gone' | 'too_much';
}

/** What the data of each event is, in the order of the names in `STREAM_EVENTS`. */
export const EVENT_CLASSES = [
  RecordsChanged,
  RecordsSynced,
  DomainCreated,
  DomainRemoved,
  AccountSynced,
  SettingsChanged,
  StreamReset,
];
