import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { useMe } from '~/session/session';
import classes from './palette.module.css';
import { PLACES } from './places';

interface Entry {
  id: string;
  label: string;
  hint: string;
  to: string;
  isName?: boolean;
}

/** Goes anywhere by typing: places of the console, and domains by their names. */
export default function Palette({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('shell');
  const { role } = useMe();
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const keyword = useDeferredValue(text.trim());
  const domains = useQuery({
    ...listOptions('/api/domains', { query: { keyword, limit: 8, sort: 'name' } }),
    enabled: opened && keyword !== '',
  });
  const places: Entry[] = PLACES.filter((place) => role >= place.role)
    .map(({ key, to }) => ({ id: key, label: t(`place.${key}`), hint: t('palette.place'), to }))
    .filter(({ label, id }) => `${label} ${id}`.toLowerCase().includes(keyword.toLowerCase()));
  const zones: Entry[] = keyword
    ? (domains.data?.rows ?? []).map(({ id, name, account_name }) => ({
        id: `domain-${id}`,
        label: name,
        hint: account_name,
        to: `/domains/${id}`,
        isName: true,
      }))
    : [];
  const search: Entry[] = keyword
    ? [
        {
          id: 'search',
          label: t('palette.search', { text: keyword }),
          hint: t('place.records'),
          to: `/records?keyword=${encodeURIComponent(keyword)}`,
        },
      ]
    : [];
  const entries = [...zones, ...places, ...search];
  const here = Math.min(at, entries.length - 1);

  const close = () => {
    setText('');
    setAt(0);
    onClose();
  };
  const go = ({ to }: Entry) => {
    close();
    void navigate({ href: to } as never);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((here + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter' && entries[here]) go(entries[here]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog opened={opened} onClose={close} title={t('palette.title')} size="lg" centered={false} yOffset="12vh">
      <TextInput
        data-autofocus
        aria-label={t('palette.title')}
        placeholder={t('palette.hint')}
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={entries[here] ? `${list}-${entries[here].id}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label={t('palette.title')} className={classes.list}>
        {entries.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
          <div
            key={entry.id}
            id={`${list}-${entry.id}`}
            role="option"
            aria-selected={i === here}
            className={classes.entry}
            onClick={() => go(entry)}
            onMouseMove={() => setAt(i)}
            ref={(node) => {
              if (i === here) node?.scrollIntoView({ block: 'nearest' });
            }}
          >
            <span className={entry.isName ? classes.name : undefined}>{entry.label}</span>
            <span className={classes.hint}>{entry.hint}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
