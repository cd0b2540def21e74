import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../platform/database/db.js';
import { SEALED_HEAD } from '../platform/database/sealed-values.js';
import type { Mail } from './mail.entity.js';
import type { TemplateName } from './templates.js';

type Key = Pick<Mail, 'id' | 'next_at'>;

/** A waiting mail as it is sent. */
export type DueMail = Pick<Mail, 'recipient' | 'content' | 'tries' | 'created_at'> & Key & { template: TemplateName };

/** How a try ended. */
export type MailOutcome = Pick<Mail, 'next_at' | 'sent_at' | 'error' | 'content'> & {
  state: 'sent' | 'failed' | 'waiting';
};

/** The table `mails`. A mail is leased by its `next_at`: only who knows it may store what became of the mail. */
@Injectable()
export class MailsRepository {
  constructor(private readonly db: Db) {}

  /** Inserts a mail that is due at once. */
  async insert(
    { recipient, template, content }: Pick<Mail, 'recipient' | 'template' | 'content'>,
    at: string,
    manager?: EntityManager,
  ): Promise<void> {
    await this.db.run(
      `INSERT INTO mails (recipient, template, content, state, tries, next_at, created_at) VALUES (?, ?, ?, 'waiting', 0, ?, ?)`,
      [recipient, template, content, at, at],
      manager,
    );
  }

  /** Mails that are due, in turns over recipients. */
  due(at: string, limit: number): Promise<DueMail[]> {
    return this.db.rows(
      `SELECT id, recipient, template, content, tries, next_at, created_at FROM (
         SELECT mails.*, ROW_NUMBER() OVER (PARTITION BY recipient ORDER BY next_at, id) AS turn
           FROM mails WHERE state = 'waiting' AND next_at <= ?) due
       ORDER BY turn, next_at LIMIT ${limit}`,
      [at],
    );
  }

  /** Takes the lease of a mail for one more try. @returns false when another process has it */
  async claim({ id, next_at }: Key, lease: string): Promise<boolean> {
    const sql = `UPDATE mails SET next_at = ?, tries = tries + 1 WHERE id = ? AND state = 'waiting' AND next_at = ?`;
    return (await this.db.run(sql, [lease, id, next_at])) === 1;
  }

  /** Stores how a try ended, if the lease is still ours. */
  async storeOutcome(mail: Key, { state, next_at, sent_at, error, content }: MailOutcome): Promise<void> {
    await this.db.run(
      `UPDATE mails SET state = ?, next_at = ?, sent_at = ?, error = ?, content = ?
       WHERE id = ? AND state = 'waiting' AND next_at = ?`,
      [state, next_at, sent_at, error, content, mail.id, mail.next_at],
    );
  }

  /** Removes mails that ended and were written before a moment. */
  async removeEndedBefore(time: string): Promise<void> {
    await this.db.run(`DELETE FROM mails WHERE state IN ('sent', 'failed') AND created_at < ?`, [time]);
  }

  /** The waiting mails of notices that were written before a moment. */
  waitingNoticesBefore(time: string): Promise<Pick<Mail, 'content'>[]> {
    const sql = `SELECT content FROM mails WHERE state = 'waiting' AND template = 'notice' AND created_at < ?`;
    return this.db.rows(sql, [time]);
  }

  /** Gives up the waiting mails that were written before a moment. */
  async failBefore(time: string, error: string): Promise<void> {
    const sql = `UPDATE mails SET state = 'failed', content = '', error = ? WHERE state = 'waiting' AND created_at < ?`;
    await this.db.run(sql, [error, time]);
  }

  /** The sealed heads of all waiting mails. */
  async heads(): Promise<string[]> {
    const sql = `SELECT SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM mails WHERE state = 'waiting'`;
    return (await this.db.rows<{ head: string }>(sql)).map(({ head }) => head);
  }

  /** The waiting mails, each with its sealed head. */
  waiting(): Promise<{ id: number; template: string; head: string }[]> {
    const sql = `SELECT id, template, SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM mails WHERE state = 'waiting'`;
    return this.db.rows(sql);
  }

  /** Waiting mails behind an id that do not begin with this sealed head, in the order of their ids. */
  sealedOtherwise(id: number, head: string, limit: number): Promise<{ id: number; sealed: string }[]> {
    return this.db.rows(
      `SELECT id, content AS sealed FROM mails WHERE state = 'waiting' AND id > ?
        AND SUBSTR(content, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
      [id, head],
    );
  }

  /** Replaces a sealed content where the old one is still stored. @returns how many rows changed */
  replaceContent(id: number, old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE mails SET content = ? WHERE id = ? AND content = ?', [fresh, id, old]);
  }

  async removeWaiting(id: number, manager?: EntityManager): Promise<void> {
    await this.db.run("DELETE FROM mails WHERE id = ? AND state = 'waiting'", [id], manager);
  }
}
