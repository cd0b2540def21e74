// Packages in a bundle, and the texts of their licenses. The builds of the service, the console and the command use it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

const ROOT = dirname(import.meta.dirname);
const RULE = `\n\n${'-'.repeat(72)}\n\n`;

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

/** Packages that state their license in their README only. */
const IN_README = { pause: 'MIT' };

/** Returns the license of a package.json as an SPDX expression; outdated packages state an object or a list. */
export const statedLicense = ({ name, license, licenses = [] }) =>
  license?.type ?? license ?? IN_README[name] ?? licenses.map(({ type }) => type).join(' OR ');

/** The MIT license, for packages that state it and come without its text. */
const mitText = (holder) => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Returns the section of the README about the license, or an empty text. */
function licenseOfReadme(folder) {
  const file = readdirSync(folder).find((name) => /^readme/i.test(name));
  const text = file ? readFileSync(`${folder}/${file}`, 'utf8') : '';
  return /^#+ *licen[cs]e[\s\S]*/im.exec(text)?.[0].trim() ?? '';
}

/**
 * Returns the text of LICENSES.txt: name, version, license and notice of each package.
 * @param folders of packages, relative to the root of the repository
 */
export function licenseTexts(folders) {
  const texts = [...new Set(folders)].sort().map((path) => {
    const folder = `${ROOT}/${path}`;
    const about = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)|\.LICENSE\.txt$/i.test(file));
    const found = files.sort().map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
    const holder = about.author?.name ?? about.author;
    const text =
      found.join('\n\n') || licenseOfReadme(folder) || (statedLicense(about) === 'MIT' && holder && mitText(holder));
    if (!text) throw new Error(`${path} comes without the text of its license, ${statedLicense(about)}`);
    return `${about.name} ${about.version} (${statedLicense(about)})\n\n${text}`.trimEnd();
  });
  return `${texts.join(RULE)}\n`;
}
