import { readdirSync, readFileSync } from 'node:fs';
import { wrap } from 'node:module';
import { join } from 'node:path';

const BUNDLE = join(import.meta.dirname, '../../dist/bundle.cjs');
/** Marks where a module begins in the bundle. */
const HEADING = /^\/\/ ((?:node_modules|dist)\/\S+)$/gm;
/** Begins a module that runs when it is first needed; the bundle runs every other module at its start. */
const LATER = /^var [\w$]+ = __(?:commonJS|esm)Min\(/m;

interface Coverage {
  result: { url: string; functions: { ranges: { startOffset: number; count: number }[] }[] }[];
}

/**
 * Modules of the bundle that a service ran, such as `node_modules/pg/lib/index.js`.
 * @param folder NODE_V8_COVERAGE of a service that has stopped in order
 */
export function modulesRun(folder: string): string[] {
  const text = readFileSync(BUNDLE, 'latin1');
  const shift = wrap('*').indexOf('*');
  const scripts = readdirSync(folder).flatMap(
    (file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Coverage).result,
  );
  const functions = scripts.filter(({ url }) => url.endsWith('/dist/bundle.cjs')).flatMap((one) => one.functions);
  const ran = functions.flatMap(({ ranges: [whole] }) => (whole?.count ? [whole.startOffset - shift] : []));
  const headings = [...text.matchAll(HEADING)];
  return headings.flatMap((heading, i) => {
    const end = headings[i + 1]?.index ?? text.length;
    const later = LATER.exec(text.slice(heading.index, end));
    if (!later) return [heading[1] as string];
    const begin = heading.index + later.index + later[0].length;
    // the function that the wrapper was given
    return ran.some((offset) => offset >= begin && offset <= begin + 2) ? [heading[1] as string] : [];
  });
}
