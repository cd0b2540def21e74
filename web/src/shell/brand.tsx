import classes from './shell.module.css';

/** The name of the installation, with the dot of the root. */
export function Brand({ name }: { name: string }) {
  return (
    <>
      {name}
      <span className={classes.dot} aria-hidden>
        .
      </span>
    </>
  );
}
