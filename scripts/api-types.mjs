// The types of the API, from its committed description: for the console and for the client.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import openapiTypescript, { astToString } from 'openapi-typescript';

const DESCRIPTION = new URL('../docs/openapi.json', import.meta.url);

/** Writes them where they are not as described: a compiler that reads the file meanwhile must not find half of it. */
export async function writeApiTypes(file) {
  const description = JSON.parse(readFileSync(DESCRIPTION, 'utf8'));
  const schema = astToString(await openapiTypescript(description, { defaultNonNullable: false }));
  if (!existsSync(file) || readFileSync(file, 'utf8') !== schema) writeFileSync(file, schema);
}
