/** What of a body is not as it was: only that is sent, so that what others have changed meanwhile stays. */
export function changed<B extends object>(after: B, before: B): Partial<B> {
  const entries = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify((before as Record<string, unknown>)[key]),
  );
  return Object.fromEntries(entries) as Partial<B>;
}
