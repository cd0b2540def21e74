// What the service needs at run time: the content of its archive and of the image.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { licenseTexts } from './licenses.mjs';

const SERVICE = ['zoneward.cjs', 'bundle.cjs', 'password-rater.js'].map((file) => `dist/${file}`);
const CONSOLE = 'web/dist';

/** Files of the packages that stay outside of the bundle: [folder, what to copy]. */
const MODULES = [
  ['node_modules/bcrypt', /^(package\.json|LICENSE|bcrypt\.js|promises\.js|prebuilds\/.*)$/],
  ['node_modules/node-gyp-build', /^(package\.json|LICENSE|index\.js|node-gyp-build\.js)$/],
  // binaries of all platforms would be 18 MB, and only Node 20 loads them
  [
    'node_modules/@photostructure/sqlite',
    /^(package\.json|LICENSE|dist\/index\.cjs|prebuilds\/linux-(x64|arm64)\/.*)$/,
  ],
  [
    'node_modules/swagger-ui-dist',
    /^(package\.json|LICENSE|NOTICE|absolute-path\.js|favicon-\d+x\d+\.png|swagger-ui\.css|swagger-ui-(bundle|standalone-preset)\.js(\.LICENSE\.txt)?)$/,
  ],
];

export const json = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Paths below a folder, relative to it and sorted by code units, so that the locale does not matter. */
export const below = (folder, kind) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => kind === 'any' || entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

export function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** package.json of the unpacked archive: nothing to install, and `npm start` stores the code cache first. */
function manifest({ name, version, description, license, type, engines }) {
  const scripts = {
    // the service starts without a code cache, too
    prestart: 'node dist/zoneward.cjs --write-code-cache || true',
    start: 'MALLOC_ARENA_MAX=2 exec node dist/zoneward.cjs',
    admin: 'exec node dist/zoneward.cjs admin',
  };
  return { name, version, description, license, private: true, type, engines, scripts };
}

/** Copies what the service needs at run time. @returns folders of the packages that are bundled or copied */
export function stageService(to) {
  for (const file of SERVICE) copy(file, `${to}/${file}`);
  for (const file of below(CONSOLE).filter((path) => !/^\.(vite\/|built$)/.test(path)))
    copy(`${CONSOLE}/${file}`, `${to}/${CONSOLE}/${file}`);
  for (const [folder, files] of MODULES)
    for (const file of below(folder).filter((path) => files.test(path)))
      copy(`${folder}/${file}`, `${to}/${folder}/${file}`);
  for (const file of ['LICENSE', '.env.example', 'deploy/zoneward.service', 'deploy/INSTALL.md'])
    copy(file, `${to}/${basename(file)}`);
  writeFileSync(`${to}/package.json`, `${JSON.stringify(manifest(json('package.json')), null, 2)}\n`);
  const bundled = [...json('dist/packages.json'), ...json(`${CONSOLE}/.vite/packages.json`)];
  const packages = [...new Set([...bundled, ...MODULES.map(([folder]) => folder)])].sort();
  writeFileSync(`${to}/LICENSES.txt`, licenseTexts(packages));
  return packages;
}
