/**
 * A text of the zone with what others have changed since it was begun: the lines that they removed are gone, unless they
 * were edited here, too, and those that they added stand at the end.
 */
export function takeIn(text: string, base: string, now: string): string {
  const linesOf = (whole: string) => whole.split('\n');
  const [was, is, mine] = [base, now, text].map((whole) => new Set(linesOf(whole))) as [
    Set<string>,
    Set<string>,
    Set<string>,
  ];
  const kept = linesOf(text).filter((line) => is.has(line) || !was.has(line));
  const come = linesOf(now).filter((line) => !was.has(line) && !mine.has(line));
  const end = kept.at(-1) === '' ? kept.length - 1 : kept.length;
  return kept.toSpliced(end, 0, ...come).join('\n');
}
