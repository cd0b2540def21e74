// Writes what the console's sources are checked with and is not committed: the types of the API, from its committed
// description, and the tree of the routes. Run in web/.
import { readFileSync, writeFileSync } from 'node:fs';
import { Generator, getConfig } from '@tanstack/router-generator';
import openapiTypescript, { astToString } from 'openapi-typescript';

const description = JSON.parse(readFileSync('../docs/openapi.json', 'utf8'));
writeFileSync('src/api/schema.d.ts', astToString(await openapiTypescript(description, { defaultNonNullable: false })));
await new Generator({ config: getConfig({}, process.cwd()), root: process.cwd() }).run();
