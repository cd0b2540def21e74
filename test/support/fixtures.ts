import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { samplesDemanded, sharedFile } from './vendor.js';

/** An exchange of a file `<provider>.json` of provider-fixtures, whose README names the sources. */
export interface Sample {
  test: string;
  request: { method: string; path: string; body?: unknown };
  response: { status: number; body?: unknown };
}

/** A reason to skip tests with samples, or false. */
export const noFixtures: string | false =
  existsSync(sharedFile('provider-fixtures')) || samplesDemanded
    ? false
    : 'no samples: set ZONEWARD_SHARED to the folder that holds provider-fixtures/';

const read = (file: string): unknown => JSON.parse(readFileSync(sharedFile(`provider-fixtures/${file}.json`), 'utf8'));

/** The exchange of a named test of a provider's file; `method` selects one of several. @throws when there is none */
export function sample(provider: string, test: string, method?: string): Sample {
  const { exchanges } = read(provider) as { exchanges: Sample[] };
  const found = exchanges.find((one) => one.test === test && (method ?? one.request.method) === one.request.method);
  return found ?? assert.fail(`${provider}: no exchange of ${test}`);
}

/** The body of a named sample answer of `<provider>.answers.json`. @throws when there is none */
export function sampleAnswer<T>(provider: string, name: string): T {
  const { documents } = read(`${provider}.answers`) as { documents: Record<string, { body: T }> };
  return (documents[name] ?? assert.fail(`${provider}: no answer ${name}`)).body;
}
