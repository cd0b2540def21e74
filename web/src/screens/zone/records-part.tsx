import { Button, CloseButton, Group, SegmentedControl, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { IconFileText, IconPlus, IconSearch } from '@tabler/icons-react';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { newKey } from '~/api/new-key';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { Dialog } from '~/components/dialog';
import { notifyDone } from '~/components/notify';
import { Empty, Failure, Loading, Stale } from '~/components/state-block';
import { useTypedFilter } from '~/components/use-typed-filter';
import { useKeys, useKeyWords } from '~/shell/keys';
import { useUrlState } from '~/state/use-url-state';
import { BulkBar } from './bulk-bar';
import { checkOf } from './check-record';
import { type Fields, fieldsOf, type RecordRow } from './fields';
import { filterOf } from './filter';
import type { Line } from './grid-row';
import type { Publish } from './publish/use-publish';
import { RecordForm } from './record-form';
import { type Act, RecordGrid } from './record-grid';
import { ExportDialog, ImportDialog } from './transfer';
import { add, change, type Edit, MAX_EDITS, remove, type Tray } from './tray';
import { TrayBar } from './tray-bar';
import { allRows, useHead } from './use-records';
import classes from './zone.module.css';

interface Props {
  domain: components['schemas']['DomainDetail'];
  tray: Tray;
  isKept: boolean;
  set: (become: (tray: Tray) => Tray | null) => boolean;
  publish: Publish;
  /** takes edits out of the tray */
  takeOut: (keys: string[]) => void;
  planTray: () => void;
  planDocument: (
    document: { format: 'zonefile' | 'csv' | 'json' | 'octodns'; text: string },
    mode: 'merge' | 'sync',
  ) => void;
}

type Open = { is: 'row'; row: RecordRow; index: number; initial: Fields } | { is: 'new'; key: string; initial: Fields };

const NEW: Fields = {
  host: '',
  type: 'A',
  value: '',
  ttl: null,
  priority: null,
  weight: null,
  line: '',
  proxied: false,
  enabled: true,
  remark: '',
  expires_at: null,
};
const TYPING_MS = 40;

export function RecordsPart({ domain, tray, isKept, set, publish, takeOut, planTray, planDocument }: Props) {
  const { t } = useTranslation('zone');
  const [url, setUrl] = useUrlState({ q: '', sort: 'host', by: 'record', view: 'records' });
  const [text, setText] = useTypedFilter(url.q, (q) => setUrl({ q }), 15 * TYPING_MS);
  const [asked] = useDebouncedValue(text, TYPING_MS);
  const [chosen, setChosen] = useState<ReadonlyMap<number, RecordRow>>(new Map());
  const [open, setOpen] = useState<Open | null>(null);
  /** what is to be opened in place of a form that something was typed in */
  const [next, setNext] = useState<Open | null>(null);
  const isTyped = useRef(false);
  const [dialog, setDialog] = useState<'import' | 'export' | null>(null);
  const meta = $api.useQuery('get', '/api/meta', {}, { staleTime: Number.POSITIVE_INFINITY });
  const can = domain.capabilities;
  const hasLines = can.lines.length > 1 && !can.proxy;
  const lines = $api.useQuery(
    'get',
    '/api/domains/{domain_id}/lines',
    { params: { path: { domain_id: String(domain.id) } } },
    { enabled: hasLines, staleTime: 600_000 },
  );
  const types = useMemo(() => meta.data?.records.types ?? [], [meta.data]);
  const names = useMemo(() => new Set(types.map(({ type }) => type)), [types]);
  const sort = url.by === 'set' ? 'host' : url.sort;
  const filter = useMemo(() => ({ ...filterOf(asked, names), ...(sort && { sort }) }), [asked, names, sort]);
  const head = useHead(domain.id, filter);
  const isReadOnly = domain.permission === 'read';
  // a table of few rows has no room for a form
  const isNarrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });

  // with a plan the text has done its work
  useEffect(() => {
    if (publish.phase?.is === 'review') setDialog((now) => (now === 'import' ? null : now));
  }, [publish.phase?.is]);

  const put = (become: (tray: Tray) => Tray | null) => {
    const fits = set(become);
    if (!fits) notifyDone(t('tray.full', { count: MAX_EDITS }));
    return fits;
  };
  const leave = (keys: string[]) => {
    takeOut(keys);
    setOpen((now) => (now?.is === 'new' && keys.includes(now.key) ? null : now));
  };
  const show = (form: Open | null) => {
    isTyped.current = false;
    setNext(null);
    setOpen(form);
  };
  /** Opens a form; asks first where that would take away what was typed. */
  const begin = (form: Open) => (open && isTyped.current ? setNext(form) : show(form));
  const edit = ({ row, edit }: Line, index: number) => {
    if (isReadOnly || edit?.after === null || row?.read_only) return;
    const initial = edit?.after ?? (row && fieldsOf(row));
    if (!initial) return;
    begin(row ? { is: 'row', row, index, initial } : { is: 'new', key: edit?.key ?? newKey(), initial });
  };
  const act = (what: Act, line: Line, index: number) => {
    const { row } = line;
    if (what === 'choose') {
      if (row)
        setChosen((now) => {
          const next = new Map(now);
          if (!next.delete(row.id)) next.set(row.id, row);
          return next;
        });
    } else if (what === 'edit') edit(line, index);
    else if (isReadOnly) return;
    else if (what === 'withdraw' || (what === 'delete' && !row)) {
      if (line.edit) leave([line.edit.key]);
    } else if (row && !row.read_only) {
      const now = line.edit?.after ?? fieldsOf(row);
      if (what === 'delete') put((held) => remove(held, row));
      else if (line.edit?.after !== null) put((held) => change(held, row, { ...now, enabled: !now.enabled }));
    }
  };
  const onChosen = (become: (tray: Tray, row: RecordRow) => Tray | null) => {
    const rows = [...chosen.values()].filter(({ read_only }) => !read_only);
    if (put((now) => rows.reduce<Tray | null>((held, row) => held && become(held, row), now))) setChosen(new Map());
  };
  const beginNew = () => !isReadOnly && begin({ is: 'new', key: newKey(), initial: NEW });
  useKeys({
    n: beginNew,
    p: () => tray.edits.length > 0 && !tray.publishing && planTray(),
  });

  useKeyWords(
    useMemo(
      () => [
        ...(['n', 'p'] as const).map((key) => ({ key, words: t(`keys.${key}`) })),
        { key: 'e', words: t('keys.edit') },
        { key: 'Del d', words: t('keys.delete') },
        { key: 't', words: t('keys.toggle') },
        { key: 'u', words: t('keys.withdraw') },
        { key: 'Space x', words: t('keys.choose') },
        { key: '⇧ ↑ ↓', words: t('keys.range') },
      ],
      [t],
    ),
  );

  const form = open && types.length > 0 && (
    <RecordForm
      key={open.is === 'row' ? open.row.id : open.key}
      label={open.is === 'row' ? t('form.edit', { name: `${open.row.host} ${open.row.type}` }) : t('form.new')}
      initial={open.initial}
      isNew={open.is === 'new'}
      capabilities={can}
      types={types}
      lines={lines.data ?? []}
      check={checkOf(domain, tray.edits, open.is === 'row' ? open.row : null, open.is === 'new' ? open.key : undefined)}
      onDone={(after) => {
        if (put((now) => (open.is === 'row' ? change(now, open.row, after) : add(now, after, open.key)))) show(null);
      }}
      onTyped={() => {
        isTyped.current = true;
      }}
      onCancel={() => show(null)}
    />
  );
  const editOf = (one: Edit) => {
    const row = one.id === null ? null : ({ ...one.before, id: one.id } as RecordRow);
    if (one.after)
      begin(row ? { is: 'row', row, index: -1, initial: one.after } : { is: 'new', key: one.key, initial: one.after });
  };
  const isAbove = open?.is === 'new' || (open?.is === 'row' && (isNarrow || open.index < 0 || head.total === 0));
  const found = useDeferredValue(head.total);
  const isEmpty = head.head.data !== undefined && head.total === 0 && tray.edits.every(({ id }) => id !== null);
  return (
    <>
      <div className={classes.tools}>
        <TextInput
          className={classes.filter}
          size="xs"
          type="search"
          aria-label={t('filter.label')}
          placeholder={t('filter.hint')}
          title={t('filter.title')}
          data-search
          leftSection={<IconSearch size={14} stroke={1.6} aria-hidden />}
          rightSection={text && <CloseButton size="xs" aria-label={t('filter.clear')} onClick={() => setText('')} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown')
              document.querySelector<HTMLElement>('[role=grid] [role=row][tabindex="0"]')?.focus();
            else if (event.key === 'Escape') setText('');
            else return;
            event.preventDefault();
          }}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('by.label')}
          value={url.by}
          onChange={(by) => setUrl({ by })}
          data={[
            { value: 'record', label: t('by.record') },
            { value: 'set', label: t('by.set') },
          ]}
        />
        <Text fz="sm" c="dimmed" role="status" className={classes.count}>
          {head.head.data && t('filter.found', { count: found })}
        </Text>
        {!isReadOnly && (
          <Button variant="default" onClick={() => setDialog('import')}>
            {t('import.open')}
          </Button>
        )}
        <Button variant="default" onClick={() => setDialog('export')}>
          {t('export.open')}
        </Button>
        {!isReadOnly && (
          <>
            <Button
              variant="default"
              leftSection={<IconFileText size={14} stroke={1.6} aria-hidden />}
              onClick={() => setUrl({ view: 'text' })}
            >
              {t('text.open')}
            </Button>
            <Button leftSection={<IconPlus size={14} stroke={1.8} aria-hidden />} onClick={beginNew}>
              {t('form.add')}
            </Button>
          </>
        )}
      </div>
      {isAbove && <div className={classes.new}>{form}</div>}
      {chosen.size > 0 && !isReadOnly && (
        <BulkBar
          count={chosen.size}
          all={head.total <= MAX_EDITS ? head.total : null}
          capabilities={can}
          onAll={() =>
            void allRows(domain.id, filter, head.total).then((rows) =>
              setChosen(new Map(rows.map((row) => [row.id, row]))),
            )
          }
          onNone={() => setChosen(new Map())}
          onChange={(fields) =>
            onChosen((held, row) =>
              change(held, row, { ...(held.edits.find(({ id }) => id === row.id)?.after ?? fieldsOf(row)), ...fields }),
            )
          }
          onDelete={() => onChosen(remove)}
        />
      )}
      {head.head.data === undefined ? (
        head.head.error ? (
          <Failure error={head.head.error} retry={head.head.refetch} />
        ) : (
          <Loading lines={10} />
        )
      ) : (
        <>
          {head.head.error && <Stale error={head.head.error} retry={head.head.refetch} />}
          {isEmpty ? (
            asked.trim() ? (
              <Empty title={t('filter.none')} text={t('filter.noneText')} />
            ) : (
              <Empty
                title={t('empty.title')}
                text={t('empty.text')}
                action={!isReadOnly && <Button onClick={beginNew}>{t('form.add')}</Button>}
              />
            )
          ) : (
            <RecordGrid
              zone={domain.id}
              head={head}
              edits={tray.edits}
              bySet={url.by === 'set'}
              sort={sort}
              onSort={(next) => setUrl({ sort: next })}
              chosen={chosen}
              open={open?.is === 'row' && !isAbove ? open : null}
              form={form}
              act={act}
              chooseRange={(rows) =>
                setChosen((now) => new Map([...now, ...rows.map((row) => [row.id, row] as const)]))
              }
              isReadOnly={isReadOnly}
            />
          )}
        </>
      )}
      <TrayBar
        tray={tray}
        isKept={isKept}
        onPublish={planTray}
        onEdit={editOf}
        onWithdraw={leave}
        onShow={publish.resume}
      />
      {dialog === 'import' && (
        <ImportDialog opened={!publish.phase} onClose={() => setDialog(null)} onPlan={planDocument} />
      )}
      {next && (
        <Dialog opened onClose={() => setNext(null)} title={t('form.leave')} size="sm">
          <Text fz="sm">{t('form.leaveText')}</Text>
          <Group justify="flex-end" gap="sm" mt="md">
            <Button variant="default" onClick={() => show(next)}>
              {t('form.leaveYes')}
            </Button>
            <Button data-autofocus onClick={() => setNext(null)}>
              {t('form.leaveNo')}
            </Button>
          </Group>
        </Dialog>
      )}
      {dialog === 'export' && <ExportDialog domain={domain} onClose={() => setDialog(null)} />}
    </>
  );
}
