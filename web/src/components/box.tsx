import type { ReactNode } from 'react';
import classes from './box.module.css';

/** What has to be seen before going on. */
export function Box({ is, children }: { is: 'good' | 'warn' | 'bad'; children: ReactNode }) {
  return (
    <div className={classes.box} data-is={is} role={is === 'good' ? 'status' : 'alert'}>
      {children}
    </div>
  );
}
