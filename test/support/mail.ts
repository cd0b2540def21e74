import { Outbox } from '../../src/notifications/outbox.service.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { Events } from '../../src/platform/events/events.js';
import { freePort } from './bind.js';
import { addUser, openDatabase } from './database.js';
import type { Kind } from './databases.js';
import { applicationOf, type Server, startService } from './server.js';
import { type Smtp, type SmtpOptions, startSmtp } from './smtp.js';
import { done, until } from './world.js';

export const MAIL_PASSWORD = 'mail-secret-8f2c';
export const MAIL_ENV = {
  TRUSTED_PROXIES: '127.0.0.1/32',
  SECRET_KEY: 'the-same-key-of-all-replicas-01234567890',
};

const AFTER_TWO_TRIES_MS = 30_000;
const LEASE_MS = 60_000;

/** A row of the outbox. */
export interface MailRow {
  id: number;
  state: string;
  tries: number;
  content: string;
  error: string | null;
  sent_at: string | null;
}

/** The token in the link of a password reset mail. */
export const linkToken = (text: string): string => /#token=([0-9a-f]{64})$/m.exec(text)?.[1] ?? '';

/** A service with one mail server, which is unavailable at first. */
export class MailWorld {
  /** The currently running service. */
  current: Server;
  private smtp: Smtp | null = null;
  private people = 0;
  private requests = 0;

  constructor(
    readonly service: Awaited<ReturnType<typeof startService>>,
    readonly db: Db,
    readonly port: number,
    private readonly close: () => Promise<void>,
  ) {
    this.current = service.server;
  }

  /** Starts the mail server. */
  async up(options: SmtpOptions = {}): Promise<Smtp> {
    const login = (_user: string, password: string) => (password === MAIL_PASSWORD ? null : '535 wrong');
    this.smtp = await startSmtp({ port: this.port, authentication: true, login, ...options });
    return this.smtp;
  }

  async down(): Promise<void> {
    await this.smtp?.stop();
    this.smtp = null;
  }

  /** Creates a user with a mail address. @returns the name */
  async person(): Promise<string> {
    const username = `person${++this.people}`;
    await addUser(this.db, { username, password: 'old-secret' });
    const email = `${username}@example.com`;
    await this.db.run('UPDATE users SET email = ?, email_key = ? WHERE username_key = ?', [email, email, username]);
    return username;
  }

  /** Requests a reset mail, each time from another network. */
  async ask(username: string, server: Server = this.current): Promise<void> {
    const headers = { 'x-forwarded-for': `198.51.100.${++this.requests % 250}` };
    done(await server.call('POST', '/api/auth/password-reset', { username }, undefined, headers));
  }

  async rowTo(username: string): Promise<MailRow | undefined> {
    return this.db.row<MailRow>('SELECT * FROM mails WHERE recipient = ?', [`${username}@example.com`]);
  }

  /** Waits for a state of a mail; `waiting`: after a failure. */
  state(username: string, wanted: 'sent' | 'failed' | 'waiting'): Promise<void> {
    return until(`mail to ${username} ${wanted}`, async () => {
      const row = await this.rowTo(username);
      return row?.state === wanted && (wanted !== 'waiting' || row.error !== null);
    });
  }

  /**
   * Lets the retry delays of the first two attempts pass. A service in this process checks the outbox at once, another
   * one at its next check. Leases of mails in flight, which are longer, stay: `leasesToo` expires those left by a
   * crash.
   */
  async later(leasesToo = false): Promise<void> {
    const most = leasesToo ? LEASE_MS : AFTER_TWO_TRIES_MS;
    await this.db.run(`UPDATE mails SET next_at = ? WHERE state = 'waiting' AND next_at <= ?`, [now(), now(most)]);
    await this.look();
  }

  /** Makes a service in this process send due mails. */
  async look(): Promise<void> {
    await applicationOf(this.service.server.dataDir)?.get(Events).emit('mail.queued');
  }

  /** Waits until a service in this process has looked at all due mails. */
  async idle(): Promise<void> {
    const outbox = applicationOf(this.service.server.dataDir)?.get(Outbox);
    if (!outbox) return;
    const { workers } = outbox as unknown as { workers: Set<unknown> };
    while (workers.size) await Promise.all(workers);
  }

  async stop(): Promise<void> {
    await this.down();
    await this.close();
    await this.current.kill();
    await this.service.stop();
  }
}

export async function startMailWorld(kind: Kind, start = startService): Promise<MailWorld> {
  const service = await start(kind, MAIL_ENV);
  const port = await freePort();
  const server = { host: '127.0.0.1', port, security: 'none', username: 'mailer', password: MAIL_PASSWORD };
  done(await service.admin.put('/api/settings/smtp', { ...server, from: 'dns@example.com', enabled: true }));
  const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
  return new MailWorld(service, db, port, close);
}
