/** Does work for each of a list, so many at once. What one throws ends it; those that are under way are waited for. */
export async function sideBySide<T>(
  list: readonly T[],
  most: number,
  work: (one: T, i: number) => Promise<void>,
): Promise<void> {
  const rest = list.entries();
  let failed = false;
  const worker = async () => {
    for (const [i, one] of rest) {
      if (failed) return;
      await work(one, i).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: most }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
