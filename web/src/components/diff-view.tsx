import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import classes from './diff-view.module.css';

type View = components['schemas']['ChangedRecordView'];
/** `ttl` null: of a new record that names none. */
type Shown = Partial<Omit<View, 'ttl'>> & { ttl?: View['ttl'] | null };

/** One change of a record, as plans, histories and the audit log have it. */
export interface RecordChange {
  op: 'create' | 'update' | 'delete' | string;
  host: string;
  type: string;
  before: Shown | null;
  after: Shown | null;
  /** a remark beside it, such as why it is not allowed */
  note?: string | undefined;
}

const FIELDS = ['value', 'ttl', 'priority', 'weight', 'line', 'proxied', 'enabled', 'remark', 'expires_at'] as const;
const MARKS: Record<string, string> = { create: '+', delete: '−' };

const text = (value: unknown) => (value === null || value === undefined || value === '' ? '–' : String(value));

/** The values of a record on one line: value first, then what is not as usual. */
function lineOf(record: Shown | null): string {
  if (!record) return '';
  const { value = '', ttl, priority } = record;
  return [ttl ?? undefined, priority ?? undefined, value].filter((part) => part !== undefined).join(' ');
}

/** Changes of records: what comes, what goes, and of what stays which fields change. */
export function DiffView({ changes, label }: { changes: RecordChange[]; label: string }) {
  const { t } = useTranslation('common');
  return (
    <ul className={classes.list} aria-label={label}>
      {changes.map((change, i) => {
        const { op, host, type, before, after, note } = change;
        const changed = before && after ? FIELDS.filter((field) => text(before[field]) !== text(after[field])) : [];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: two changes may look the same
          <li key={i} className={classes.change} data-op={before && after ? 'update' : op}>
            <span className={classes.mark} title={t(`diff.${before && after ? 'update' : op}`)}>
              <span aria-hidden>{before && after ? '~' : (MARKS[op] ?? '~')}</span>
              <span className="zw-hidden">{t(`diff.${before && after ? 'update' : op}`)}</span>
            </span>
            <span className={classes.name}>
              {host} <b>{type}</b>
            </span>
            <span className={classes.values}>
              {before && after
                ? changed.map((field) => (
                    <span key={field} className={classes.field}>
                      <span className={classes.label}>{t(`record.${field}`)}</span> <del>{text(before[field])}</del>{' '}
                      <span aria-hidden>→</span> <ins>{text(after[field])}</ins>
                    </span>
                  ))
                : lineOf(after ?? before)}
              {note && (
                <Text fz="xs" c="var(--zw-warn)" component="span">
                  {note}
                </Text>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
