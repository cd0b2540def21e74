import { join, relative } from 'node:path';
import { EXTRA_TYPES, RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, text } from '../provider.js';
import { problemHere, real } from './directory.js';

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
    checksNames: true,
    outlives: false,
    minTtl: 0,
  },
  // below the root, which each replica may have elsewhere
  server: ({ endpoint, directory }, { root = '' }) =>
    relative(real(root), real(join(root, endpoint || directory || '.'))),
  load: () => import('./zonefile.provider.js'),
});
