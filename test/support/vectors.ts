import { existsSync, readFileSync } from 'node:fs';
import type { Method, OutgoingRequest } from '../../src/providers/kit/http/http-client.js';
import { noRecordings, sharedFile } from './vendor.js';

/** A request, its credentials, and the expected signature. */
export interface Vector {
  scheme: string;
  by?: string;
  source?: string;
  input: {
    method: Method;
    path: string;
    query: string | Record<string, string>;
    headers: Record<string, string>;
    body?: string;
  } & Record<string, unknown>;
  expect: Record<string, string>;
}

const file = sharedFile('signature-vectors/vectors.json');

/** A reason to skip them, or false. */
export const noVectors: string | false = noRecordings || (existsSync(file) ? false : 'no signature vectors');

export const vectorsOf = (scheme: string): Vector[] =>
  noVectors
    ? []
    : (JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }).vectors.filter((v) => v.scheme === scheme);

/** The request of a vector, without the headers added by the signer. */
export function requestOf({ input }: Vector, added: readonly string[]): OutgoingRequest {
  const { method, path, query, body } = input;
  const given = Object.entries(input.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const host = given.find(([name]) => name === 'host')?.[1] ?? 'no-host.example';
  const url = new URL(`https://${host}${path}`);
  url.search = new URLSearchParams(query).toString();
  const headers = Object.fromEntries(given.filter(([name]) => name !== 'host' && !added.includes(name)));
  return { method, url, headers, body: body || undefined };
}
