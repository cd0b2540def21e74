// biome-ignore-all lint/a11y/useSemanticElements: a grid of which only the rows in sight are there cannot be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: one row has the focus, not each cell
import { IconArrowBackUp, IconPencil, IconTrash } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { type MouseEvent, memo, useState } from 'react';
import { absoluteOf } from '~/components/time';
import { changedFields, type Fields, fieldsOf, type RecordRow, shortTtl } from './fields';
import type { Act } from './record-grid';
import classes from './record-grid.module.css';
import type { Edit } from './tray';

/** What stands in a row: a record, with the edit of it, or one that is to be made. */
export interface Line {
  row?: RecordRow;
  edit?: Edit | undefined;
}

interface Props {
  index: number;
  y: number;
  line: RecordRow | undefined;
  edit: Edit | undefined;
  isActive: boolean;
  isChosen: boolean;
  /** the first one of its record set */
  isFirst: boolean;
  isReadOnly: boolean;
  /** its buttons are there without a pointer above it */
  hasActions: boolean;
  t: TFunction<'zone'>;
  language: string;
  onAct: (act: Act, index: number) => void;
  onFocus: (index: number) => void;
}

const MARKS = { create: '+', update: '~', delete: '−' };

/** What is not as usual of a record, in words. */
function moreOf(t: Props['t'], language: string, shown: Fields, row: RecordRow | undefined, edit: Edit | undefined) {
  const more: [string, 'warn' | 'off'][] = [];
  if (edit?.before && row && changedFields(edit.before, fieldsOf(row)).length) more.push([t('more.others'), 'warn']);
  if (row?.pending) more.push([t('more.pending'), 'warn']);
  if (row?.end_hold_reason) more.push([t('more.held'), 'warn']);
  if (!shown.enabled) more.push([t('more.disabled'), 'off']);
  if (shown.proxied) more.push([t('more.proxied'), 'off']);
  if (row?.read_only) more.push([t('more.readOnly'), 'off']);
  if (shown.weight !== null) more.push([t('more.weight', { weight: shown.weight }), 'off']);
  if (shown.line && !['default', '0', '1'].includes(shown.line)) more.push([shown.line, 'off']);
  if (shown.expires_at) more.push([t('more.ends', { at: absoluteOf(shown.expires_at, language) }), 'off']);
  if (shown.remark) more.push([shown.remark, 'off']);
  return more;
}

/**
 * One record, with what the tray makes of it. Where one scrolls, 20 of them begin in each frame: what only one row shows
 * at a time, its buttons, is not there before, and the words come from the grid.
 */
export const GridRow = memo(function GridRow(props: Props) {
  const { index, y, line, edit, isActive, isChosen, isFirst, isReadOnly, hasActions, t, language, onAct, onFocus } =
    props;
  const [isHovered, setHovered] = useState(false);
  const shown = edit?.after ?? line ?? edit?.before;
  const op = edit && (edit.before ? (edit.after ? 'update' : 'delete') : 'create');
  const common = {
    'aria-rowindex': index + 2,
    'data-index': index,
    tabIndex: isActive ? 0 : -1,
    className: classes.row,
    style: { transform: `translateY(${y}px)` },
    onFocus: () => onFocus(index),
  };
  if (!shown)
    return (
      <div role="row" {...common} aria-busy>
        <div role="gridcell" className={classes.coming} aria-label={t('grid.coming')} />
      </div>
    );
  const icon = (act: Act, label: string, Icon: typeof IconPencil) => (
    <button
      type="button"
      className={classes.act}
      tabIndex={-1}
      aria-label={`${label}: ${shown.host} ${shown.type}`}
      title={label}
      onClick={(event: MouseEvent) => {
        event.stopPropagation();
        onAct(act, index);
      }}
    >
      <Icon size={15} stroke={1.6} />
    </button>
  );
  const mayWrite = !isReadOnly && !line?.read_only;
  return (
    <div
      role="row"
      {...common}
      data-op={op}
      data-off={shown.enabled ? undefined : true}
      data-first={isFirst || undefined}
      aria-selected={isChosen}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onDoubleClick={() => onAct('edit', index)}
    >
      <div role="gridcell" data-column="mark">
        {op ? (
          <span className={classes.mark} title={t(`op.${op}`)}>
            <span aria-hidden>{MARKS[op]}</span>
            <span className="zw-hidden">{t(`op.${op}`)}</span>
          </span>
        ) : null}
        {line && (
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isChosen}
            aria-label={t('grid.choose', { name: `${shown.host} ${shown.type}` })}
            onChange={() => onAct('choose', index)}
          />
        )}
      </div>
      <div role="gridcell" data-column="host" title={shown.host}>
        {line && !edit ? line.unicode_host : shown.host}
      </div>
      <div role="gridcell" data-column="type">
        {shown.type}
      </div>
      <div role="gridcell" data-column="value" title={shown.value.slice(0, 400)}>
        {shown.priority !== null && <span className={classes.priority}>{shown.priority} </span>}
        {shown.value.slice(0, 300)}
      </div>
      <div role="gridcell" data-column="ttl" title={shown.ttl === null ? t('grid.ttlDefault') : String(shown.ttl)}>
        {shown.ttl === null ? '–' : shortTtl(shown.ttl)}
      </div>
      <div role="gridcell" data-column="more">
        <span className={classes.words}>
          {moreOf(t, language, shown, line, edit).map(([word, is]) => (
            <span key={word} data-is={is}>
              {word}
            </span>
          ))}
        </span>
        {mayWrite && (isActive || isHovered || hasActions) && (
          <span className={classes.actions}>
            {op !== 'delete' && icon('edit', t('act.edit'), IconPencil)}
            {edit ? icon('withdraw', t('act.withdraw'), IconArrowBackUp) : icon('delete', t('act.delete'), IconTrash)}
          </span>
        )}
      </div>
    </div>
  );
});
