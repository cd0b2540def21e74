/**
 * Now, or a moment `offsetMs` away from now, as ISO 8601 UTC with milliseconds: the one form in which times are stored
 * and sent.
 */
export const now = (offsetMs = 0): string => new Date(Date.now() + offsetMs).toISOString();

/** Waits for work, but no longer than so many ms. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, patience]).finally(() => clearTimeout(timer));
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
