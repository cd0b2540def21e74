import { IsOptional, IsString, MaxLength } from 'class-validator';

/** What a stream may tell. Part of the API: add to it, never change a meaning. */
export const STREAM_EVENTS = [
  'records.changed',
  'records.synced',
  'domain.created',
  'domain.removed',
  'failover.switched',
  'account.synced',
  'job.started',
  'job.progress',
  'job.done',
  'job.failed',
  'settings.changed',
  'reset',
] as const;
export type StreamEvent = (typeof STREAM_EVENTS)[number];

/**
 * `records.changed`: a change of records was carried out. A long list tells it behind each of its pieces, also of one
 * that failed, with how far the list is.
 */
class RecordsChanged {
  domain_id!: number;
  /** `GET /api/domains/:id/changes/:changeSetId` tells it */
  change_set_id!: number;
  /** changes of the list; absent in what a former version has told */
  total?: number;
  /** those that have come to their end, applied or not */
  done?: number;
  /** those of `done` that failed or were not tried */
  failed?: number;
}

/** `records.synced`: the records here follow what the provider holds. */
class RecordsSynced {
  domain_id!: number;
  /** how many records were touched */
  touched!: number;
}

/** `domain.created`: a domain was added. */
class DomainCreated {
  domain_id!: number;
}

/** `domain.removed`: a domain is no longer kept here. */
class DomainRemoved {
  domain_id!: number;
}

/** `failover.switched`: a rule of failover has switched its record set. */
class FailoverSwitched {
  domain_id!: number;
  rule_id!: number;
  active!: 'primary' | 'backup';
}

/** `account.synced`: an account was synchronised; what became of its zones. */
class AccountSynced {
  account_id!: number;
  added!: number;
  updated!: number;
  missing!: number;
  failed!: number;
}

/** What each event of a job tells: of which one. */
class OfJob {
  /** `GET /api/system/jobs/:id` tells all of it */
  job_id!: number;
  /** what it does, such as `account.sync` */
  name!: string;
  /** what it does it to, where there is at most one job for it: `account.sync|3` */
  subject!: string | null;
}

/** `job.started`: a run of a job began. */
class JobStarted extends OfJob {
  /** 1 for the first try */
  attempt!: number;
}

/** `job.progress`: a job got on, told once a second at most. */
class JobProgress extends OfJob {
  /** how far it is; what stands in it depends on the job */
  progress!: object | null;
}

/** `job.done`: a job ended well. */
class JobDone extends OfJob {
  /** what came of it; depends on the job */
  result!: object | null;
}

/** `job.failed`: a run of a job failed. */
class JobFailed extends OfJob {
  error!: string;
  /** null: it is not tried again by itself */
  retry_at!: string | null;
}

/** `settings.changed`: a document of the settings was changed. */
class SettingsChanged {
  section!: 'general' | 'security' | 'smtp' | 'oauth' | 'notifications' | 'audit-rules';
}

/** `reset`: something was missed that cannot be told any more; read anew whatever is shown. */
class StreamReset {
  /** gone: it is too long ago; too_much: more happened than is told one by one */
  reason!: 'gone' | 'too_much';
}

/** What the data of each event is, in the order of the names in `STREAM_EVENTS`. */
export const EVENT_CLASSES = [
  RecordsChanged,
  RecordsSynced,
  DomainCreated,
  DomainRemoved,
  FailoverSwitched,
  AccountSynced,
  JobStarted,
  JobProgress,
  JobDone,
  JobFailed,
  SettingsChanged,
  StreamReset,
];

export class StreamQuery {
  /** of `POST /api/events/ticket`, in place of `Authorization` */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  ticket?: string;

  /** in place of the header `Last-Event-ID`, which goes before it */
  @IsOptional()
  @IsString()
  @MaxLength(32)
  last_event_id?: string;
}

export class StreamTicket {
  /** opens one stream */
  ticket!: string;
  /** 30 seconds from now */
  expires_at!: string;
}
