import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest folder above `folder` that has a package.json. @throws Error when there is none */
function packageFolder(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`${import.meta.dirname} belongs to no package: package.json is missing`);
  return packageFolder(parent);
}

/** Folder of this installation: a checkout, or an unpacked release. It has package.json, dist/ and web/dist/. */
export const ROOT = packageFolder(import.meta.dirname);
