import type { StoredRecord } from '../../cache/record-cache.js';
import { ROOM } from '../../dns/record.js';
import { errors } from '../../platform/common/errors.js';
import { say } from '../../platform/common/words/field-text.js';

/** A comment of a set, in the order of PowerDNS's keys. */
export interface Comment {
  account: string;
  content: string;
  /** seconds */
  modified_at: number;
}

/** A line of a remark as a comment: one that names an account has it in front, in brackets. */
const LINE = /^\[([^\]]*)\] ?([\s\S]*)$/;

/** The comments that the remarks of a set's records are: PowerDNS has them of the set. */
export function commentsOf(rows: readonly StoredRecord[]): Comment[] {
  const found = new Map<string, Comment>();
  for (const { remark, updated_at } of rows) {
    const modified_at = Math.floor(Date.parse(updated_at) / 1000) || 0;
    for (const line of remark.split('\n').filter(Boolean)) {
      const [, account = '', content = line] = LINE.exec(line) ?? [];
      const known = found.get(line);
      if (!known || known.modified_at < modified_at) found.set(line, { account, content, modified_at });
    }
  }
  return [...found.values()];
}

/** The comments of a request as the remark of each record of their set. @throws AppError 400001 */
export function remarkOf(comments: unknown[], path: string): string {
  const remark = comments.map((one, i) => lineOf(one, `${path}.${i}`)).join('\n');
  const { remark: max } = ROOM;
  if (remark.length > max)
    throw errors.field(
      path,
      say('take {size} characters together, more than the {max} that are kept', { size: remark.length, max }),
      'length',
      { max },
    );
  return remark;
}

function lineOf(one: unknown, path: string): string {
  const { content, account = '' } = (one ?? {}) as Record<string, unknown>;
  const isLine = (text: unknown): text is string => typeof text === 'string' && !/[\n\r]/.test(text);
  if (!isLine(content)) throw errors.field(`${path}.content`, 'must be one line of text');
  if (!isLine(account) || account.includes(']')) throw errors.field(`${path}.account`, 'must be one line of text');
  return account || content.startsWith('[') ? `[${account}] ${content}` : content;
}

/** Whether a set has these comments already, whichever of its records they are of. */
export const hasRemark = (rows: readonly StoredRecord[], remark: string): boolean => {
  const lines = (text: string) => text.split('\n').filter(Boolean);
  const there = new Set(rows.flatMap((row) => lines(row.remark)));
  const wanted = lines(remark);
  return wanted.length === there.size && wanted.every((line) => there.has(line));
};
