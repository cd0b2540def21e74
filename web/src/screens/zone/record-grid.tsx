// biome-ignore-all lint/a11y/useSemanticElements: a grid of which only the rows in sight are there cannot be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: one row has the focus, not each cell
import { useMediaQuery } from '@mantine/hooks';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import type { RecordRow } from './fields';
import { GridHead } from './grid-head';
import { GridRow, type Line } from './grid-row';
import classes from './record-grid.module.css';
import type { Edit } from './tray';
import { type useHead, useRows } from './use-records';

export type Act = 'edit' | 'delete' | 'toggle' | 'withdraw' | 'choose';

interface Props {
  zone: number;
  head: ReturnType<typeof useHead>;
  edits: readonly Edit[];
  /** records of one set stand together, and say their name once */
  bySet: boolean;
  sort: string;
  onSort: (sort: string) => void;
  chosen: ReadonlyMap<number, RecordRow>;
  /** the record that is edited in its place, and its form */
  open: { row: RecordRow; index: number } | null;
  form: ReactNode;
  act: (act: Act, line: Line, index: number) => void;
  /** choose all rows in between */
  chooseRange: (rows: RecordRow[]) => void;
  isReadOnly: boolean;
}

const HEAD = 32;
const FORM = 250;
const KEYS: Record<string, Act> = {
  Enter: 'edit',
  e: 'edit',
  Delete: 'delete',
  Backspace: 'delete',
  d: 'delete',
  t: 'toggle',
  u: 'withdraw',
  ' ': 'choose',
  x: 'choose',
};

/** The records of a zone: only what is seen is there. One row has the focus; arrows move it. */
export function RecordGrid(props: Props) {
  const { zone, head, edits, bySet, sort, onSort, chosen, open, form, act, chooseRange, isReadOnly } = props;
  const { t, i18n } = useTranslation('zone');
  const isNarrow = useMediaQuery('(max-width: 40em)', undefined, { getInitialValueInEffect: false });
  const isTouched = useMediaQuery('(hover: none)', undefined, { getInitialValueInEffect: false });
  const height = isNarrow ? 54 : 32;
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  const anchor = useRef(0);
  const news = useMemo(() => edits.filter(({ id }) => id === null), [edits]);
  const byRecord = useMemo(
    () => new Map(edits.flatMap((edit) => (edit.id === null ? [] : [[edit.id, edit]]))),
    [edits],
  );
  const count = news.length + head.total;
  const current = Math.min(active, Math.max(0, count - 1));
  const openIndex = open ? Math.min(open.index, count - 1) : -1;

  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: (index) => (index === openIndex ? FORM : height),
    overscan: 8,
    scrollMargin: HEAD,
    scrollPaddingStart: HEAD,
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const wanted = new Set([current, ...(openIndex >= 0 ? [openIndex] : []), ...defaultRangeExtractor(range)]);
        return [...wanted].filter((index) => index < range.count).sort((a, b) => a - b);
      },
      [current, openIndex],
    ),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the height of rows changes
  useEffect(() => virtualizer.measure(), [height]);
  useEffect(() => {
    const row = box.current?.querySelector(`[data-index="${openIndex}"]`);
    if (!row) return;
    // all of the form is in sight, also when it becomes higher
    const grown = new ResizeObserver(() => row.scrollIntoView({ block: 'nearest' }));
    grown.observe(row);
    return () => {
      grown.disconnect();
      virtualizer.resizeItem(openIndex, height);
    };
  }, [openIndex, height, virtualizer]);

  const { startIndex = 0, endIndex = 40 } = virtualizer.range ?? {};
  const at = (index: number) => index - news.length;
  const { row, failed } = useRows(zone, head, [
    [Math.max(0, at(startIndex - 8)), Math.max(0, at(endIndex + 8))],
    [Math.max(0, at(current))],
  ]);
  const lineOf = (index: number): Line | undefined => {
    const edit = news[index];
    if (edit) return { edit };
    const found = row(at(index));
    return found && { row: found, edit: byRecord.get(found.id) };
  };

  const go = (index: number) => {
    const next = Math.max(0, Math.min(count - 1, index));
    wantsFocus.current = true;
    setActive(next);
    virtualizer.scrollToIndex(next, { align: 'auto' });
  };
  useEffect(() => {
    if (!wantsFocus.current) return;
    const element = box.current?.querySelector<HTMLElement>(`[data-index="${current}"]`);
    if (!element) return;
    element.focus({ preventScroll: true });
    wantsFocus.current = false;
  });
  // the focus comes back from the form to its row
  const wasOpen = useRef(open !== null);
  useEffect(() => {
    if (wasOpen.current && !open && (document.activeElement === document.body || !document.activeElement))
      box.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)?.focus({ preventScroll: true });
    wasOpen.current = open !== null;
  }, [open, current]);

  const latest = useRef({ lineOf, act, go, chooseRange, count });
  latest.current = { lineOf, act, go, chooseRange, count };
  const onAct = useCallback((what: Act, index: number) => {
    const line = latest.current.lineOf(index);
    if (line) latest.current.act(what, line, index);
  }, []);
  const onFocus = useCallback((index: number) => setActive(index), []);
  const choose = (from: number, to: number) => {
    const rows: RecordRow[] = [];
    for (let i = Math.min(from, to); i <= Math.max(from, to); i++) {
      const found = lineOf(i)?.row;
      if (found) rows.push(found);
    }
    chooseRange(rows);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const target = event.target as HTMLElement;
    if (target.getAttribute('role') !== 'row' || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(((box.current?.clientHeight ?? 0) - HEAD) / height) - 1);
    const moves: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: count - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) {
      if (event.shiftKey && event.key.startsWith('Arrow')) choose(current, to);
      go(to);
    } else if (event.key in KEYS && !event.shiftKey) {
      const what = KEYS[event.key] as Act;
      if (what === 'choose') anchor.current = current;
      onAct(what, current);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onClick = (event: MouseEvent) => {
    const index = Number((event.target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset.index ?? -1);
    if (index < 0) return;
    if (event.shiftKey) choose(anchor.current, index);
    anchor.current = index;
  };

  return (
    <div
      ref={box}
      role="grid"
      aria-label={t('grid.label')}
      aria-rowcount={count + 1}
      aria-multiselectable
      aria-busy={head.head.isPlaceholderData || undefined}
      aria-readonly={isReadOnly || undefined}
      className={classes.grid}
      data-by-set={bySet || undefined}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <GridHead sort={sort} onSort={onSort} isFixed={bySet} />
      <div role="rowgroup" className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const y = start - HEAD;
          if (index === openIndex && open)
            return (
              <div
                key={`open:${open.row.id}`}
                role="row"
                aria-rowindex={index + 2}
                data-index={index}
                ref={virtualizer.measureElement}
                className={classes.open}
                style={{ transform: `translateY(${y}px)` }}
              >
                <div role="gridcell">{form}</div>
              </div>
            );
          const line = lineOf(index);
          const before = bySet && index > news.length ? row(at(index) - 1) : undefined;
          const isFirst = !line?.row || !before || before.host !== line.row.host || before.type !== line.row.type;
          return (
            <GridRow
              key={index}
              index={index}
              y={y}
              line={line?.row}
              edit={line?.edit}
              isActive={index === current}
              isChosen={line?.row !== undefined && chosen.has(line.row.id)}
              isFirst={!bySet || isFirst}
              isReadOnly={isReadOnly}
              hasActions={isTouched}
              t={t}
              language={i18n.language}
              onAct={onAct}
              onFocus={onFocus}
            />
          );
        })}
      </div>
      {failed && (
        <div role="alert" className={classes.failed}>
          {t('grid.failed')}
        </div>
      )}
    </div>
  );
}
