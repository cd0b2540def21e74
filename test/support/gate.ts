/** A promise that a test resolves. */
export interface Gate {
  opened: Promise<void>;
  open(): void;
}

/** Makes a promise that can be resolved from outside. */
export function gate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
