// Runs a module of the build, built before when needed, in this very process: a signal then reaches the service.
//   node scripts/built.mjs dist/src/main.js
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import './build-when-needed.mjs';

const entry = resolve(process.argv[2]);
// the module finds its arguments where it would if Node had been given it
process.argv.splice(1, 2, entry);
await import(pathToFileURL(entry).href);
