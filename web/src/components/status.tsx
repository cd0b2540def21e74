import type { ReactNode } from 'react';
import classes from './status.module.css';

export type Meaning = 'good' | 'warn' | 'bad' | 'off' | 'busy';

/** A state in one word: its colour says the same as its mark and its words. */
export function Status({ is, children }: { is: Meaning; children: ReactNode }) {
  return (
    <span className={classes.status} data-is={is}>
      <span className={classes.mark} aria-hidden />
      {children}
    </span>
  );
}
