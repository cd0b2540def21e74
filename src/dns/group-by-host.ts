/**
 * Groups items by host; an item with several hosts joins their groups. Groups are ordered by their first items, items
 * keep their order.
 */
export function groupByHost<T>(items: readonly T[], hostsOf: (item: T) => readonly string[]): T[][] {
  const groups = new Map<string, Group>();
  for (const [i, item] of items.entries()) {
    let group: Group = { hosts: [], positions: [i] };
    for (const host of hostsOf(item)) {
      const known = groups.get(host);
      if (!known) {
        group.hosts.push(host);
        groups.set(host, group);
      } else if (known !== group) group = join(groups, known, group);
    }
  }
  const lists = [...new Set(groups.values())].map(({ positions }) => positions.toSorted((a, b) => a - b));
  return lists.map((positions) => positions.map((i) => items[i] as T));
}

interface Group {
  hosts: string[];
  positions: number[];
}

/** Moves the hosts and items of the smaller group into the larger one, which is returned. */
function join(groups: Map<string, Group>, known: Group, group: Group): Group {
  const [large, small] = known.positions.length < group.positions.length ? [group, known] : [known, group];
  for (const position of small.positions) large.positions.push(position);
  for (const moved of small.hosts) groups.set(moved, large);
  large.hosts.push(...small.hosts);
  return large;
}
