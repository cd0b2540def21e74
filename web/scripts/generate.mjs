// Writes what the console's sources are checked with and is not committed: the types of the API, from its committed
// description, and the tree of the routes. Run in web/.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Generator, getConfig } from '@tanstack/router-generator';
import openapiTypescript, { astToString } from 'openapi-typescript';

const SCHEMA = 'src/api/schema.d.ts';
const description = JSON.parse(readFileSync('../docs/openapi.json', 'utf8'));
const schema = astToString(await openapiTypescript(description, { defaultNonNullable: false }));
// a compiler that reads the file meanwhile must not find half of it
if (!existsSync(SCHEMA) || readFileSync(SCHEMA, 'utf8') !== schema) writeFileSync(SCHEMA, schema);
await new Generator({ config: getConfig({}, process.cwd()), root: process.cwd() }).run();
