import type { Net } from './plan.js';

/** Deletions first, so that what replaces something finds its place free. */
const ORDER = { delete: 0, update: 1, create: 2 };
const rank = ({ change }: Net): number => (change ? ORDER[change.op] : 3);

/**
 * A list in pieces of about `size` that are carried out and committed one after the other. What touches one name stays
 * together, and with it what a rename ties to that name, so that no name is left half changed between two pieces; a
 * piece is only larger where one such group is.
 */
export function chunksOf(nets: readonly Net[], size: number): Net[][] {
  const chunks: Net[][] = [];
  let chunk: Net[] = [];
  for (const group of groupsOf(nets)) {
    if (chunk.length && chunk.length + group.length > size) {
      chunks.push(chunk);
      chunk = [];
    }
    chunk.push(...group);
  }
  if (chunk.length) chunks.push(chunk);
  return chunks.map((list) => list.toSorted((a, b) => rank(a) - rank(b)));
}

function groupsOf(nets: readonly Net[]): Net[][] {
  const parent = new Map<string, string>();
  const root = (host: string): string => {
    let at = host;
    for (let up = parent.get(at); up !== undefined && up !== at; up = parent.get(at)) at = up;
    return at;
  };
  const hosts = ({ before, after }: Net) => [before?.host, after?.host].filter((host) => host !== undefined);
  for (const net of nets) {
    const [first, second] = hosts(net) as [string, string?];
    if (!parent.has(first)) parent.set(first, first);
    if (second !== undefined) parent.set(root(second), root(first));
  }
  const groups = new Map<string, Net[]>();
  for (const net of nets) {
    const key = root(hosts(net)[0] as string);
    const group = groups.get(key);
    if (group) group.push(net);
    else groups.set(key, [net]);
  }
  return [...groups.values()];
}
