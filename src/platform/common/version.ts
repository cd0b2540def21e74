import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.js';

/** Version of the package. */
export const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
