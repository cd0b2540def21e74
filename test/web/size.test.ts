import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';

const DIST = join(__dirname, '../../web/dist');
const MOST = 250 * 1024;

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
}

const manifest: Record<string, Chunk> = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8'));

/** The files that a chunk is made of, with those that it imports at once. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return new Set();
  seen.add(name);
  const { file, css = [], imports = [] } = manifest[name] as Chunk;
  return new Set([file, ...css, ...imports.flatMap((inner) => [...filesOf(inner, seen)])]);
}

/** Size of a file as gzip sends it, the longer one of the two. */
const sent = (file: string): number => {
  const compressed = join(DIST, `${file}.gz`);
  return statSync(existsSync(compressed) ? compressed : join(DIST, file)).size;
};

describe('the first load of the console', () => {
  // the page, the sign-in with its words, the shell
  const names = Object.keys(manifest).filter((name) =>
    /^index\.html$|routes\/(sign-in|_app)\.tsx|locales\/en\/(common|shell|session|entry)\.json/.test(name),
  );
  const files = new Set(names.flatMap((name) => [...filesOf(name)]));

  it('is of less than 250 KiB', () => {
    assert.equal(names.length, 7, names.join());
    const size = [...files].reduce((sum, file) => sum + sent(file), 0);
    assert.ok(size < MOST, `${Math.round(size / 1024)} KiB`);
    // and not for nothing: the measure sees the whole page
    assert.ok(size > 100 * 1024, `${Math.round(size / 1024)} KiB`);
  });

  it('has no screen in it', () => {
    const early = Object.entries(manifest).filter(
      ([name, { file }]) => /src\/screens\/(?!entry)|schema|codemirror|recharts/.test(name) && files.has(file),
    );
    assert.deepEqual(early, []);
  });
});
