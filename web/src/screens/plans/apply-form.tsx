import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { newKey } from '~/api/new-key';
import { ErrorText } from '~/components/error-text';
import { Section } from '~/components/screen';
import { Role, useMay } from '~/session/session';
import { type Guard, Guards, keysToName } from './guards';
import { recordsChanged } from './plan';
import classes from './plans.module.css';
import { type Difference, differencesOf } from './stale';

interface Props {
  /** of the plan */
  id: number;
  guards: readonly Guard[];
  comment: string;
  /** how many changes it makes, for the button */
  total: number;
  /** it found something else at the provider */
  onStale: (differences: Difference[]) => void;
}

/** Names the guards that are meant, and applies the plan, or discards it. */
export function ApplyForm({ id, guards, comment, total, onStale }: Props) {
  const { t } = useTranslation('plans');
  const isSuper = useMay(Role.Super);
  const [named, setNamed] = useState<ReadonlySet<string>>(new Set());
  const [met, setMet] = useState<readonly Guard[]>([]);
  const [words, setWords] = useState(comment);
  const [override, setOverride] = useState('');
  const [busy, setBusy] = useState<'apply' | 'discard' | null>(null);
  const [error, setError] = useState<unknown>(null);
  const sent = useRef<{ wish: string; key: string } | null>(null);
  const all = [...guards, ...met.filter(({ key }) => !guards.some((guard) => guard.key === key))];
  const isFrozen = error instanceof ApiError && error.status === 423;
  const left = keysToName(all).filter((key) => !named.has(key));

  const run = async (what: 'apply' | 'discard', work: () => Promise<unknown>) => {
    setBusy(what);
    setError(null);
    try {
      await work();
    } catch (failure) {
      // it was answered: to try again is another wish
      if (failure instanceof ApiError) sent.current = null;
      const differences = differencesOf(failure);
      if (differences) onStale(differences);
      else setError(failure);
      const more = failure instanceof ApiError && failure.code === 409003 ? failure.data.guards : undefined;
      if (Array.isArray(more)) setMet((more as Guard[]).map((guard) => ({ ...guard, mode: 'force' })));
    } finally {
      setBusy(null);
      await recordsChanged();
    }
  };
  const apply = (event: FormEvent) => {
    event.preventDefault();
    const query = { wait: 5, ...(isFrozen && override && { override }) };
    const body = { force: [...named], comment: words } as { force: Guard['key'][]; comment: string };
    // the same wish sent twice, as after an answer that was lost, is carried out once
    const wish = JSON.stringify([query, body]);
    if (sent.current?.wish !== wish) sent.current = { wish, key: newKey() };
    const params = { path: { id }, query, header: { 'Idempotency-Key': sent.current.key } };
    void run('apply', () => client.POST('/api/plans/{id}/apply', { params, body }));
  };
  return (
    <form onSubmit={apply} className={classes.form}>
      {all.length > 0 && (
        <Section title={t('guards.title')}>
          <Guards guards={all} named={named} onName={setNamed} asks />
        </Section>
      )}
      <div className={classes.end}>
        <TextInput
          label={t('apply.comment')}
          description={t('apply.commentHint')}
          value={words}
          maxLength={500}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
        {isFrozen && isSuper && (
          <TextInput
            mt="sm"
            label={t('apply.override')}
            description={t('apply.overrideHint')}
            value={override}
            onChange={(event) => setOverride(event.currentTarget.value)}
          />
        )}
        <ErrorText error={error} />
        <Group gap="xs" mt="md" justify="flex-end">
          <Button
            variant="default"
            loading={busy === 'discard'}
            onClick={() => void run('discard', () => client.DELETE('/api/plans/{id}', { params: { path: { id } } }))}
          >
            {t('apply.discard')}
          </Button>
          <Button type="submit" loading={busy === 'apply'} disabled={left.length > 0}>
            {left.length > 0 ? t('apply.nameFirst', { count: left.length }) : t('apply.verb', { count: total })}
          </Button>
        </Group>
      </div>
    </form>
  );
}
