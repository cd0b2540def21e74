// Packages in a bundle, and the texts of their licenses. The builds of the service, the console and the command use it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

const ROOT = dirname(import.meta.dirname);
const RULE = `\n${'-'.repeat(72)}\n\n`;

/**
 * Returns the folders of the packages whose modules are in a bundle, relative to the root of the repository and sorted,
 * such as `node_modules/express`. A bundler's own helpers (`\0rolldown/runtime.js`) count as its package.
 * @param output chunks and assets, as rolldown and vite report them
 */
export function bundledPackages(output) {
  const ids = output.flatMap(({ moduleIds = [] }) => moduleIds);
  const folders = ids.flatMap((id) => {
    const [, bundler] = /^\0(rolldown|vite)\//.exec(id) ?? [];
    if (bundler) return `node_modules/${bundler}`;
    const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/?]+/.exec(id.replaceAll('\0', '')) ?? [];
    return folder ? relative(ROOT, folder) : [];
  });
  return [...new Set(folders)].sort();
}

/** Returns the license that a package.json states as an SPDX expression; older packages state a list. */
export const statedLicense = ({ license, licenses = [] }) =>
  license?.type ?? license ?? (licenses.map(({ type }) => type).join(' OR ') || undefined);

/**
 * Returns the text of LICENSES.txt: name, version, license and notice of each package.
 * @param folders of packages, relative to the root of the repository
 */
export function licenseTexts(folders) {
  const texts = [...new Set(folders)].sort().map((path) => {
    const folder = `${ROOT}/${path}`;
    const about = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const files = readdirSync(folder).filter(
      (file) => /^(licen[cs]e|notice)/i.test(file) || /\.LICENSE\.txt$/.test(file),
    );
    const found = files.sort().map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
    return `${about.name} ${about.version}\n\n${found.join('\n\n') || statedLicense(about)}\n`;
  });
  return texts.join(RULE);
}
