import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Copy } from '~/components/copy';
import { DiffView, type RecordChange } from '~/components/diff-view';
import { Loaded } from '~/components/state-block';
import classes from './plans.module.css';

/** changes that are drawn at once: a list of ten thousand would hold the page up */
const AT_ONCE = 200;

interface Counts {
  create: number;
  update: number;
  delete: number;
}

/** `+2 ~1 −0`, read out in words. */
export function CountsText({ counts }: { counts: Counts }) {
  const { t } = useTranslation('plans');
  return (
    <span className={classes.counts} title={t('counts', { ...counts })}>
      <span aria-hidden>
        <span data-op={counts.create ? 'create' : 'none'}>+{counts.create}</span>{' '}
        <span data-op={counts.update ? 'update' : 'none'}>~{counts.update}</span>{' '}
        <span data-op={counts.delete ? 'delete' : 'none'}>−{counts.delete}</span>
      </span>
      <span className="zw-hidden">{t('counts', { ...counts })}</span>
    </span>
  );
}

/** Of a list of changes how many there are of each kind. */
export function countsOf(changes: readonly RecordChange[]): Counts {
  const counts = { create: 0, update: 0, delete: 0 };
  for (const { before, after } of changes) counts[before && after ? 'update' : after ? 'create' : 'delete']++;
  return counts;
}

interface Props {
  label: string;
  changes: RecordChange[];
  /** how many more there are, which the caller may not read */
  hidden?: number;
  /** the same as text, such as a unified diff */
  text?: TextOf;
}

/** Changes of records, as a list or as text that can be copied. */
export function Changes({ label, changes, hidden = 0, text }: Props) {
  const { t } = useTranslation('plans');
  const [asText, setAsText] = useState(false);
  const [shown, setShown] = useState(AT_ONCE);
  return (
    <div>
      <Group gap="sm" mb="xs" justify="space-between">
        <CountsText counts={countsOf(changes)} />
        {text && (
          <SegmentedControl
            size="xs"
            aria-label={t('form.label')}
            value={asText ? 'text' : 'list'}
            onChange={(value) => setAsText(value === 'text')}
            data={[
              { value: 'list', label: t('form.list') },
              { value: 'text', label: t('form.text') },
            ]}
          />
        )}
      </Group>
      {asText && text ? (
        <TextForm {...text} label={t('asText', { label })} />
      ) : (
        <>
          <DiffView changes={changes.slice(0, shown)} label={label} />
          {changes.length > shown && (
            <Button variant="default" mt="xs" onClick={() => setShown(shown + 5 * AT_ONCE)}>
              {t('more', { count: changes.length - shown })}
            </Button>
          )}
        </>
      )}
      {hidden > 0 && (
        <Text fz="sm" c="dimmed" mt="xs">
          {t('hidden', { count: hidden })}
        </Text>
      )}
    </div>
  );
}

interface TextOf {
  queryKey: readonly unknown[];
  read: () => Promise<string>;
}

/** A text of the API that can be copied. */
export function TextForm({ queryKey, read, label }: TextOf & { label: string }) {
  const { t } = useTranslation('plans');
  const query = useQuery({ queryKey, queryFn: read });
  return (
    <Loaded query={query}>
      {(words) => (
        <div className={classes.text}>
          <div className={classes.copy}>
            <Copy text={words} label={t('copyText')} />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard */}
          <section tabIndex={0} aria-label={label}>
            <pre>{words}</pre>
          </section>
        </div>
      )}
    </Loaded>
  );
}
