// Writes dist/: the command with all that it needs in it, so that installing it fetches nothing more. Run in
// packages/cli/.
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { bundledPackages, licenseTexts } from '../../../scripts/licenses.mjs';

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

writeFileSync('dist/LICENSES.txt', licenseTexts(bundledPackages(output)));
