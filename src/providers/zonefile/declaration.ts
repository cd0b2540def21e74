import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { EXTRA_TYPES, RECORD_TYPES } from '../../dns/record.js';
import type { FieldText } from '../../platform/common/words/field-text.js';
import { defineProvider, type Installation, text } from '../provider.js';

/** What a directory is when no link leads to it; one that is not there yet is no link. */
function real(path: string): string {
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
function problemHere(directory: string, { root }: Installation): FieldText | null {
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

/** Master files on this machine, `<zone>.zone` each, for any name server that reads them. Needs no account anywhere. */
export const zonefile = defineProvider({
  kind: 'zonefile',
  label: 'Zone files',
  docs: 'https://www.rfc-editor.org/rfc/rfc1035#section-5',
  credentials: [
    [
      text('directory', 'Directory', {
        example: 'customers',
        required: false,
        default: '.',
        help: 'Below the directory that is configured for zone files; relative.',
        problem: problemHere,
      }),
      text('endpoint', 'Endpoint', {
        required: false,
        help: 'The same as the directory. Usually left empty.',
        problem: problemHere,
      }),
    ],
  ],
  capabilities: {
    types: [...RECORD_TYPES, ...EXTRA_TYPES.filter((type) => type !== 'ALIAS')],
    ids: 'derived',
    ttlOf: 'set',
    replaces: 'zone',
    toggle: 'record',
    atomic: true,
    createZone: true,
    outlives: false,
  },
  // below the root, which each replica may have elsewhere
  server: ({ endpoint, directory }, { root = '' }) =>
    relative(real(root), real(join(root, endpoint || directory || '.'))),
  load: () => import('./zonefile.provider.js'),
});
