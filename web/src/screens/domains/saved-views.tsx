import { Button, CloseButton, Group, Stack, TextInput } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '~/components/dialog';
import { useMe } from '~/session/session';
import { keptName } from '~/state/kept';
import classes from './domains.module.css';

interface View {
  name: string;
  search: Record<string, string>;
}

/** what of the address is a view: not the page */
const PARTS = ['keyword', 'sort', 'account_id', 'team_id', 'provider', 'status'];
const LONGEST = 60;

/** The views of this browser; what is kept in another form than this counts as none. */
export function viewsOf(text: string | null): View[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.flatMap((one) =>
      typeof one?.name === 'string' && typeof one?.search === 'object'
        ? [{ name: one.name, search: partsOf(one.search) }]
        : [],
    );
  } catch {
    return [];
  }
}

function partsOf(search: Record<string, unknown> | null): Record<string, string> {
  const parts = PARTS.flatMap((key) => (search?.[key] ? [[key, String(search[key])]] : []));
  return Object.fromEntries(parts);
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

const same = (a: Record<string, string>, b: Record<string, string>) =>
  PARTS.every((key) => (a[key] ?? '') === (b[key] ?? ''));

/** Searches and filters with a name, kept in this browser for who is signed in. */
export function SavedViews() {
  const { t } = useTranslation('domains');
  const kept = keptName('views.domains', useMe().id);
  const [views, setViews] = useState(() => viewsOf(read(kept)));
  const [isNaming, setNaming] = useState(false);
  const here = partsOf(useSearch({ strict: false }) as Record<string, unknown>);
  const isAll = Object.keys(here).length === 0;
  const known = views.find(({ search }) => same(search, here));
  const keep = (next: View[]) => {
    setViews(next);
    try {
      localStorage.setItem(kept, JSON.stringify(next));
    } catch {
      // storage is refused: until the page is left
    }
  };
  if (isAll && views.length === 0) return null;
  return (
    <nav className={classes.views} aria-label={t('views.title')}>
      <Link to="/domains" className={classes.view} aria-current={isAll ? 'true' : undefined}>
        {t('views.all')}
      </Link>
      {views.map(({ name, search }) => (
        <span key={name} className={classes.kept}>
          <Link
            to="/domains"
            search={search as never}
            className={classes.view}
            aria-current={same(search, here) ? 'true' : undefined}
          >
            {name}
          </Link>
          {known?.name === name && (
            <CloseButton
              size="xs"
              aria-label={t('views.forget', { name })}
              onClick={() => keep(views.filter((one) => one.name !== name))}
            />
          )}
        </span>
      ))}
      {!isAll && !known && (
        <Button variant="subtle" size="compact-xs" onClick={() => setNaming(true)}>
          {t('views.save')}
        </Button>
      )}
      {isNaming && (
        <NameView
          onClose={() => setNaming(false)}
          onName={(name) => keep([...views.filter((one) => one.name !== name), { name, search: here }])}
        />
      )}
    </nav>
  );
}

function NameView({ onClose, onName }: { onClose: () => void; onName: (name: string) => void }) {
  const { t } = useTranslation('domains');
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!name.trim()) return;
    onName(name.trim());
    onClose();
  };
  return (
    <Dialog opened onClose={onClose} title={t('views.save')}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t('views.name')}
            description={t('views.hint')}
            maxLength={LONGEST}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button type="submit" disabled={!name.trim()}>
              {t('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
