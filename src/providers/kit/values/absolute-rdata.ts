/** Which words of the rdata are names. */
const NAMES: Readonly<Record<string, readonly number[]>> = {
  ALIAS: [0],
  CNAME: [0],
  DNAME: [0],
  NS: [0],
  PTR: [0],
  HTTPS: [1],
  MX: [1],
  SVCB: [1],
  SRV: [3],
  NAPTR: [5],
  RP: [0, 1],
};

/**
 * Rdata of a vendor with whom a name without its final dot is relative to the zone, with that name absolute; `@` is the
 * zone itself. What is no name stays as it is.
 */
export function absoluteRdata(type: string, rdata: string, zone: string): string {
  const names = NAMES[type];
  if (!names) return rdata;
  // blanks in quotes do not part words
  const words: string[] = rdata.trim().match(/(?:"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s\\])+/g) ?? [];
  const isRelative = (name = '.') => !/(?:^|[^\\])\.$/.test(name);
  if (!names.some((at) => isRelative(words[at]))) return rdata;
  const absolute = (name: string) => (name === '@' ? `${zone}.` : `${name}.${zone}.`);
  return words.map((word, at) => (names.includes(at) && isRelative(word) ? absolute(word) : word)).join(' ');
}
