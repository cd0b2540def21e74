import { realpathSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import type { FieldText } from '../../platform/common/words/field-text.js';
import type { Installation } from '../provider.js';

/** What a directory is when no link leads to it; one that is not there yet is no link. */
export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Why a directory cannot be one below the root; null: it can, as far as its text tells. */
export function directoryProblem(directory: string): FieldText | null {
  const steps = directory.split('/');
  const isBelow = !isAbsolute(directory) && !/[\0\\]/.test(directory) && !steps.includes('..');
  if (!isBelow) return 'must be a relative path without ".."';
  return steps.some((step) => Buffer.byteLength(step) > 255) ? 'has a name of more than 255 bytes' : null;
}

/** The same, also of the links that lead to what is there of it on this machine. */
export function problemHere(directory: string, { root }: Installation): FieldText | null {
  const problem = directoryProblem(directory);
  if (problem || !root) return problem;
  const top = real(root);
  const isInside = (path: string) => path === top || path.startsWith(top.endsWith(sep) ? top : top + sep);
  let path = top;
  for (const step of directory.split('/')) {
    path = real(join(path, step));
    if (!isInside(path)) return 'leads out of the directory for zone files';
  }
  return null;
}
