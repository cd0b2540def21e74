// biome-ignore-all lint/a11y/useSemanticElements: a grid of which only the rows in sight are there cannot be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: one row has the focus, not each cell
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from './record-grid.module.css';

const COLUMNS = ['mark', 'host', 'type', 'value', 'ttl', 'more'] as const;
const SORTED = new Set<string>(['host', 'type', 'value', 'ttl']);

/** The heads of the columns: they say the order, and change it. */
export function GridHead({
  sort,
  onSort,
  isFixed,
}: {
  sort: string;
  onSort: (sort: string) => void;
  isFixed: boolean;
}) {
  const { t } = useTranslation('zone');
  return (
    <div role="rowgroup" className={classes.headGroup}>
      <div role="row" aria-rowindex={1} className={classes.head}>
        {COLUMNS.map((column) => {
          const [isUp, isDown] = [sort === column, sort === `-${column}`];
          const order = isUp ? 'ascending' : isDown ? 'descending' : undefined;
          const label = t(`grid.${column}`);
          return (
            <div key={column} role="columnheader" aria-sort={order} data-column={column}>
              {SORTED.has(column) && !isFixed ? (
                <button
                  type="button"
                  className="zw-sort"
                  onClick={() => onSort(isUp ? `-${column}` : isDown ? '' : column)}
                >
                  {label}
                  {isUp && <IconChevronUp size={13} aria-hidden />}
                  {isDown && <IconChevronDown size={13} aria-hidden />}
                </button>
              ) : (
                <span className={column === 'mark' ? 'zw-hidden' : undefined}>{label}</span>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
