import type { ChangedRecordView } from './change.dto.js';

/** What stands beside a record that a line of a zone file has no place for. */
const beside = ({ line, weight, proxied, remark, expires_at: end }: ChangedRecordView): string => {
  const words = [
    ...(line === 'default' ? [] : [`line ${line}`]),
    ...(weight === null ? [] : [`weight ${weight}`]),
    ...(proxied ? ['proxied'] : []),
    ...(end ? [`until ${end}`] : []),
    ...(remark ? [JSON.stringify(remark)] : []),
  ];
  return words.length ? ` ; ${words.join(', ')}` : '';
};

/** A record as one line; a disabled one is a comment. */
export function recordLine(record: ChangedRecordView): string {
  const { host, type, value, ttl, priority, enabled } = record;
  const rdata = priority === null ? value : `${priority} ${value}`;
  const text = type === 'TXT' ? JSON.stringify(value) : rdata;
  return `${enabled ? '' : '; '}${host} ${ttl} IN ${type} ${text}${beside(record)}`;
}

/**
 * Changes as a unified diff, one line a record.
 * @param titles of the states before and after; `hidden`: how many more changes there are
 */
export function diffText(
  titles: readonly [before: string, after: string],
  changes: readonly { before: ChangedRecordView | null; after: ChangedRecordView | null }[],
  hidden: number,
  summary: { create: number; update: number; delete: number },
): string {
  const lines = changes.flatMap(({ before, after }) => [
    ...(before ? [`-${recordLine(before)}`] : []),
    ...(after ? [`+${recordLine(after)}`] : []),
  ]);
  const { create, update, delete: gone } = summary;
  return [
    ...[`--- ${titles[0]}`, `+++ ${titles[1]}`, `@@ ${create} created, ${update} changed, ${gone} deleted @@`],
    ...[...lines, ...(hidden ? [`# ${hidden} more`] : []), ''],
  ].join('\n');
}
