import { isDeepStrictEqual } from 'node:util';
import type { Answer, Essence, Handler, Received, Scenario } from './vendor.js';

type Request = Pick<Received, 'method' | 'path' | 'query' | 'body'>;

/**
 * A handler that plays a scenario write by write: writes have to come as they were recorded, and what is read is what
 * the recording client read between the same two writes, or last before them. So an adapter may read more, or less,
 * than that client did.
 * @param base the part of recorded paths that the endpoint stands for
 * @param misses receives every request that matched nothing; a test fails when it is not empty
 */
export function replayByWrites(
  scenario: Scenario,
  base: string,
  essence: Essence,
  misses: string[],
  {
    isRead = (request: Request) => request.method === 'GET',
    again,
  }: { isRead?(r: Request): boolean; again?: Answer } = {},
): Handler {
  const all = scenario.interactions.map(({ request: { method, url, body }, response }) => {
    const { pathname, searchParams } = new URL(url);
    const request = { method, path: pathname.slice(base.length), query: Object.fromEntries(searchParams), body };
    return { essence: essence(request), isRead: isRead(request), response };
  });
  let from = 0;
  return (request) => {
    const mine = essence(request);
    const like = (entry: (typeof all)[number]) => isDeepStrictEqual(entry.essence, mine);
    const next = all.findIndex((entry, at) => at >= from && !entry.isRead);
    const end = next < 0 ? all.length : next;
    if (isRead(request)) {
      const found = all.slice(from, end).find(like) ?? all.slice(0, from).findLast(like);
      if (found) return found.response;
    } else if (all[next] && like(all[next])) {
      from = next + 1;
      return all[next].response;
      // the client knew what it had made, and did not send it again
    } else if (again && all.slice(0, from).some(like)) return again;
    misses.push(`${JSON.stringify(mine)} is none of ${JSON.stringify(all.slice(from, end + 1).map((e) => e.essence))}`);
    return { status: 501, body: 'not recorded' };
  };
}
