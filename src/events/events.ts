import { Injectable } from '@nestjs/common';
import { log } from '../common/logger.js';

/** What can be told of through channels. */
export const NOTICE_EVENTS = [
  'domain.expiring',
  'domain.drift',
  'domain.missing',
  'sync.failed',
  'account.paused',
  'login.locked',
  'token.created',
  'token.unused',
  'audit.rule',
  'audit.checkpoint',
  'backup.failed',
  'failover.switched',
  'failover.failed',
  'delegation.changed',
  'delegation.broken',
  'rights.ended',
  'clock.off',
  'job.stopped',
] as const;
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];

/** Something that somebody may want to be told of. */
export interface Notice {
  event: NoticeEvent;
  /** one line of plain words, English, no secrets */
  text: string;
  domain?: string | null;
  /** ids of the channels to use; left out: all that ask for the event */
  channels?: readonly string[];
  details?: Record<string, string | number | null>;
}

/** What became of a run of a job. */
export interface JobNews {
  what: 'started' | 'progress' | 'done' | 'failed';
  job_id: number;
  name: string;
  /** see `JobView` */
  subject: string | null;
  /** started: which try it is */
  attempt?: number;
  /** progress: how far it is; depends on the job */
  progress?: object | null;
  /** done: what came of it; depends on the job */
  result?: object | null;
  /** failed: why, and when it is tried again; null: not by itself */
  error?: string;
  retry_at?: string | null;
}

/** Who could read a domain that is gone, beside administrators. */
export interface Readers {
  /** id of a user */
  owner: number | null;
  teams: number[];
}

/**
 * What happens, with what is told of it. Each is told when it is committed: within a transaction contexts call
 * services.
 */
interface EventArgs {
  /** connected, and the schema up to date; once for each opening */
  'database.opened': [];
  'domain.created': [domainId: number];
  /** the end of the registration of a domain is not set by hand any more */
  'domain.expiry.automatic': [name: string];
  /** alone, or with their account; with who could read each */
  'domains.removed': [domains: ReadonlyMap<number, Readers>];
  /** records of a domain were written: which, says the change set */
  'records.changed': [domainId: number, changeSet: number];
  /** the cache of a domain follows what its provider holds: so many rows were touched */
  'records.synced': [domainId: number, touched: number];
  /** a rule of failover has switched the record set that it is of */
  'failover.switched': [domainId: number, ruleId: number, active: 'primary' | 'backup'];
  /** an account was synchronised: what became of its zones */
  'account.synced': [accountId: number, result: { added: number; updated: number; missing: number; failed: number }];
  /** a job began, got on or ended; of those that come again and again only that they fail, and do no longer */
  'job.changed': [news: JobNews];
  /** a document of the settings was changed */
  'settings.changed': [section: string];
  /** a mail can be read in the outbox */
  'mail.queued': [];
  /** something that somebody may want to be told of, through channels of the settings */
  notice: [notice: Notice];
  /** a notice waits for its channels */
  'notice.queued': [];
}

type Listener<E extends keyof EventArgs> = (...args: EventArgs[E]) => unknown;

/**
 * Tells contexts what happened in others that stand on them, or that they need not know. Of this process: other
 * replicas are not told.
 */
@Injectable()
export class Events {
  private readonly listeners = new Map<string, ((...args: never[]) => unknown)[]>();

  /** Call it in `onModuleInit`. */
  on<E extends keyof EventArgs>(event: E, listener: Listener<E>): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  /**
   * Runs the listeners one after the other, in the order of their registration. Their failures are logged and never get
   * here.
   */
  async emit<E extends keyof EventArgs>(event: E, ...args: EventArgs[E]): Promise<void> {
    for (const listener of (this.listeners.get(event) ?? []) as Listener<E>[]) {
      try {
        await listener(...args);
      } catch (error) {
        log().error({ err: error, event }, 'what follows an event failed');
      }
    }
  }
}
