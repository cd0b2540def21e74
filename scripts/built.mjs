// Runs a module of the build in this process, so that signals reach the service; builds first if needed.
//   node scripts/built.mjs dist/zoneward.cjs
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import './build-when-needed.mjs';

const entry = resolve(process.argv[2]);
// the module finds its arguments as if Node had started it directly
process.argv.splice(1, 2, entry);
await import(pathToFileURL(entry).href);
