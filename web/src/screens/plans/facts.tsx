import type { ReactNode } from 'react';
import classes from './plans.module.css';

/** Names of facts with the facts; what is null or empty is left out. */
export function Facts({ of }: { of: [name: string, fact: ReactNode][] }) {
  return (
    <dl className={classes.facts}>
      {of
        .filter(([, fact]) => fact !== null && fact !== undefined && fact !== '')
        .map(([name, fact]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{fact}</dd>])}
    </dl>
  );
}

/** What has to be seen before going on. */
export function Box({ is, children }: { is: 'good' | 'warn' | 'bad'; children: ReactNode }) {
  return (
    <div className={classes.box} data-is={is} role={is === 'good' ? 'status' : 'alert'}>
      {children}
    </div>
  );
}
