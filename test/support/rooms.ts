import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = process.cwd();

/** Allowed imports of each folder of src/, from `rooms.json`. */
export const readRooms = (): Record<string, string[]> => JSON.parse(readFileSync(join(ROOT, 'rooms.json'), 'utf8'));

/** The source files below src/ that are in a folder. */
export const sources = (): string[] =>
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && file.includes('/'),
  );

/** The innermost folder of `rooms.json` that contains a file (`audit/chain.ts`). */
export function roomOf(file: string, rooms: readonly string[]): string | undefined {
  return rooms.filter((room) => file.startsWith(`${room}/`)).sort((a, b) => b.length - a.length)[0];
}

/** Actual imports of each folder. */
export function importsOf(rooms: readonly string[]): Map<string, Set<string>> {
  const found = new Map(rooms.map((room) => [room, new Set<string>()]));
  for (const file of sources()) {
    const room = roomOf(file, rooms) as string;
    const text = readFileSync(join(ROOT, 'src', file), 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const other = roomOf(join(dirname(file), path as string), rooms);
      if (other && other !== room) found.get(room)?.add(other);
    }
  }
  return found;
}

/** The imports as a diagram, without transitive arrows (a over b to c). */
export function diagramOf(map: Record<string, readonly string[]>): string {
  const below = new Map<string, Set<string>>();
  const reach = (room: string): Set<string> => {
    const known = below.get(room);
    if (known) return known;
    const all = new Set<string>();
    below.set(room, all);
    for (const next of map[room] ?? []) for (const one of [next, ...reach(next)]) all.add(one);
    return all;
  };
  const id = (room: string) => room.replace(/\W/g, '_');
  const folders = new Map<string, string[]>();
  for (const room of Object.keys(map)) {
    const folder = room.includes('/') ? room.slice(0, room.indexOf('/')) : '';
    folders.set(folder, [...(folders.get(folder) ?? []), room]);
  }
  const lines = ['flowchart TB'];
  for (const [folder, rooms] of folders) {
    const nodes = rooms.map((room) => `${id(room)}["${room}"]`);
    if (folder) lines.push(`  subgraph ${folder}_["${folder}/"]`, ...nodes.map((node) => `    ${node}`), '  end');
    else lines.push(...nodes.map((node) => `  ${node}`));
  }
  for (const [room, allowed] of Object.entries(map)) {
    const direct = allowed.filter((one) => !allowed.some((other) => other !== one && reach(other).has(one)));
    if (direct.length) lines.push(`  ${id(room)} --> ${direct.map(id).join(' & ')}`);
  }
  return lines.join('\n');
}
