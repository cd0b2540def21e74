/** Names shorter than this are too short to recognise a typo. */
const SHORT = 6;
/** Maximum edit distance of a typo. */
const MOST = 2;

/**
 * Unknown names that resemble a known one, such as `DATABSE_URL`.
 * @param names of variables that are set @param known names that are read
 */
export function misspelt(names: readonly string[], known: readonly string[]): { name: string; meant: string }[] {
  return names.flatMap((name) => {
    if (name.length < SHORT || known.includes(name)) return [];
    const meant = known.find((one) => one.length >= SHORT && slips(name.toUpperCase(), one) <= MOST);
    return meant ? [{ name, meant }] : [];
  });
}

/** Edit distance: insertions, deletions, substitutions and swaps of neighbours. */
function slips(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MOST) return MOST + 1;
  const rows = [Array.from({ length: b.length + 1 }, (_none, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.length, b.length);
}
