// Writes dist/: the command with all that it needs in it, so that installing it fetches nothing more. Run in
// packages/cli/.
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

rmSync('dist', { recursive: true, force: true });
const bundle = await rolldown({
  input: { zoneward: 'src/main.ts' },
  platform: 'node',
  resolve: { alias: { '@zoneward/client': new URL('../../client/src/index.ts', import.meta.url).pathname } },
});
const { output } = await bundle.write({
  dir: 'dist',
  format: 'es',
  banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
  chunkFileNames: '[name].js',
});
await bundle.close();
chmodSync('dist/zoneward.js', 0o755);

/** Folders of the packages that are in it. */
const packages = new Set(
  output.flatMap(({ moduleIds = [] }) =>
    moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []),
  ),
);
const texts = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file && existsSync(`${folder}/${file}`) ? readFileSync(`${folder}/${file}`, 'utf8').trim() : license;
  return `${name} ${version}\n\n${text}\n`;
});
writeFileSync('dist/LICENSES.txt', texts.join(`\n${'-'.repeat(72)}\n\n`));
