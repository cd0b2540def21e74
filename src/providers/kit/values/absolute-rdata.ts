/** Which word of the rdata is a name. */
const NAMES: Readonly<Record<string, number>> = {
  ALIAS: 0,
  CNAME: 0,
  DNAME: 0,
  NS: 0,
  PTR: 0,
  HTTPS: 1,
  MX: 1,
  SVCB: 1,
  SRV: 3,
  NAPTR: 5,
};

/**
 * Rdata of a vendor with whom a name without its final dot is relative to the zone, with that name absolute; `@` is the
 * zone itself. What is no name stays as it is.
 */
export function absoluteRdata(type: string, rdata: string, zone: string): string {
  const at = NAMES[type];
  if (at === undefined) return rdata;
  // blanks in quotes do not part words
  const words: string[] = rdata.trim().match(/(?:"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s\\])+/g) ?? [];
  const name = words[at];
  if (!name || /(?:^|[^\\])\.$/.test(name)) return rdata;
  return words.with(at, name === '@' ? `${zone}.` : `${name}.${zone}.`).join(' ');
}
