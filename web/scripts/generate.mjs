// Writes what the console's sources are checked with and is not committed: the types of the API, from its committed
// description, and the tree of the routes. Run in web/.
import { Generator, getConfig } from '@tanstack/router-generator';
import { writeApiTypes } from '../../scripts/api-types.mjs';

await writeApiTypes('src/api/schema.d.ts');
await new Generator({ config: getConfig({}, process.cwd()), root: process.cwd() }).run();
