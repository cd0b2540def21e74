import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { diagramOf, importsOf, readRooms, roomOf, sources } from '../support/rooms.js';

const PAGE = join(process.cwd(), 'docs/architecture.md');
const DRAWN =
  /(<!-- drawn from rooms\.json by UPDATE_DOCS=1 npx jest test\/unit\/rooms -->\n```mermaid\n)[\s\S]*?(?=\n```)/;
/** rooms that grow by a file with each provider, or with each change of the schema */
const GROWING = ['providers', 'platform/schema'];
const MOST_FILES = 25;

describe('the map of imports', () => {
  const map = readRooms();
  const rooms = Object.keys(map);

  it('has a room for every file', () => {
    assert.deepEqual(
      sources().filter((file) => !roomOf(file, rooms)),
      [],
    );
  });

  it('allows what is imported, and nothing else', () => {
    const used = [...importsOf(rooms)].map(([room, imports]) => [room, [...imports].sort()]);
    assert.deepEqual(Object.fromEntries(used), map);
  });

  it('lists a room behind all that it imports, so that no arrow leads upward', () => {
    for (const [i, room] of rooms.entries())
      for (const other of map[room] as string[])
        assert.ok(rooms.indexOf(other) < i, `${room} stands before ${other}, which it imports`);
  });

  it('has no room of more than 25 files', () => {
    const sizes = new Map<string, number>();
    for (const file of sources()) {
      const room = roomOf(file, rooms) as string;
      sizes.set(room, (sizes.get(room) ?? 0) + 1);
    }
    const large = [...sizes].filter(([room, files]) => files > MOST_FILES && !GROWING.includes(room));
    assert.deepEqual(large, []);
  });

  it('is drawn in docs/architecture.md', () => {
    const page = readFileSync(PAGE, 'utf8');
    assert.match(page, DRAWN);
    const drawn = page.replace(DRAWN, (_, head: string) => head + diagramOf(map));
    if (process.env.UPDATE_DOCS) writeFileSync(PAGE, drawn);
    else assert.equal(page, drawn);
  });
});
