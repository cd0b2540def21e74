import { Injectable } from '@nestjs/common';
import { Logger } from '../common/logger.js';

/** The events that channels can be notified of. */
export const NOTICE_EVENTS = [
  'domain.expiring',
  'domain.drift',
  'domain.missing',
  'domain.moved',
  'sync.failed',
  'account.paused',
  'login.locked',
  'token.created',
  'token.widened',
  'token.unused',
  'audit.rule',
  'audit.checkpoint',
  'backup.failed',
  'failover.switched',
  'failover.failed',
  'delegation.changed',
  'delegation.broken',
  'plan.waiting',
  'plan.decided',
  'rights.ended',
  'clock.off',
  'job.stopped',
] as const;
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];

/** Something to notify people of. */
export interface Notice {
  event: NoticeEvent;
  /** one line of plain words, English, no secrets */
  text: string;
  domain?: string | null | undefined;
  /** ids of the channels to use; left out: all that ask for the event */
  channels?: readonly string[] | undefined;
  details?: Record<string, string | number | null> | undefined;
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

/** How far a list of changes is: of `total` changes `done` have come to their end, of which `failed` not applied. */
export interface ListProgress {
  total: number;
  done: number;
  failed: number;
}

/** Who could read a removed domain, besides administrators. */
export interface Readers {
  /** id of a user */
  owner: number | null;
  teams: number[];
}

/**
 * The events with their arguments. Each is emitted after its commit: within a transaction, rooms call services.
 */
interface EventArgs {
  /** connected, with the schema up to date; once for each opening */
  'database.opened': [];
  'domain.created': [domainId: number];
  /** the end of a domain's registration is no longer set by hand */
  'domain.expiry.automatic': [name: string];
  /** what a domain demands of changes of its records */
  'domain.rules.changed': [domainId: number];
  /** by themselves or with their account; with who could read each */
  'domains.removed': [domains: ReadonlyMap<number, Readers>];
  /** records of a domain were written, or a piece of a long list ended: which, says the change set */
  'records.changed': [domainId: number, changeSet: number, progress: ListProgress];
  /** the cache of a domain follows what its provider holds: so many rows were touched */
  'records.synced': [domainId: number, touched: number];
  /** a failover rule has switched its record set */
  'failover.switched': [domainId: number, ruleId: number, active: 'primary' | 'backup'];
  /** an account was synchronised, with the numbers of its zones */
  'account.synced': [accountId: number, result: { added: number; updated: number; missing: number; failed: number }];
  /** a job began, progressed or ended; scheduled jobs are announced only when they begin to fail, and recover */
  'job.changed': [news: JobNews];
  /** a document of the settings was changed */
  'settings.changed': [section: string];
  /** a mail was committed to the outbox */
  'mail.queued': [];
  /** a notice for the channels of the settings */
  notice: [notice: Notice];
  /** deliveries of a notice were committed */
  'notice.queued': [];
}

type Listener<E extends keyof EventArgs> = (...args: EventArgs[E]) => unknown;

/**
 * Publishes what happened to rooms that the publisher does not know. Within this process only: other replicas get
 * nothing.
 */
@Injectable()
export class Events {
  private readonly listeners = new Map<string, ((...args: never[]) => unknown)[]>();

  constructor(private readonly logger: Logger) {}

  /** Call it in `onModuleInit`. */
  on<E extends keyof EventArgs>(event: E, listener: Listener<E>): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  /**
   * Runs the listeners one after the other, in the order of their registration. Their failures are logged, and not
   * thrown.
   */
  async emit<E extends keyof EventArgs>(event: E, ...args: EventArgs[E]): Promise<void> {
    for (const listener of (this.listeners.get(event) ?? []) as Listener<E>[]) {
      try {
        await listener(...args);
      } catch (error) {
        this.logger.error({ err: error, event }, 'what follows an event failed');
      }
    }
  }
}
