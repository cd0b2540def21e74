import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './rows.module.css';

/** A short list that is shown whole: what is paged is a `DataTable`. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.rows} aria-label={label}>
      {children}
    </ul>
  );
}

interface RowProps {
  /** what it is */
  children: ReactNode;
  /** a second, quieter line */
  more?: ReactNode;
  /** at most two buttons */
  actions?: ReactNode;
}

/** One of the `Rows`. */
export function Row({ children, more, actions }: RowProps) {
  return (
    <li className={classes.row}>
      <div className={classes.what}>
        <div>{children}</div>
        {more && <div className={classes.more}>{more}</div>}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </li>
  );
}

/** Facts of one thing: what, and its value. Those without a value are left out. */
export function Facts({ of }: { of: [string, ReactNode][] }) {
  return (
    <dl className={classes.facts}>
      {of
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
    </dl>
  );
}
