import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure, Query } from './answers.js';
import { type Answer, startService } from './server.js';
import { addAccount, addDomain, done, refused } from './world.js';

export type Body = Record<string, unknown>;

/** A service on SQLite with a domain in zone files, for tests that need no name server. */
export async function startFiles(zone: string) {
  const service = await startService('sqlite');
  const { admin, server } = service;
  const account = await addAccount(admin, 'zonefile', {});
  const domain = await addDomain(admin, account, zone, true);
  const records = `/api/domains/${domain}/records` as const;
  const path = (name = zone) => join(server.dataDir, 'zones', `${name}.zone`);
  const file = (name?: string) => readFileSync(path(name), 'latin1');
  const all = async (query: Query = '') => done(await admin.get(`${records}${query}`)).list;

  /** Asserts that a call is refused naming exactly these fields, and changes nothing, here and at the provider. */
  async function unchanged(call: () => Promise<Answer>, ...paths: string[]): Promise<Answer<Failure>> {
    const before = [await all(), file()];
    const answer = refused(await call(), 400, 400001);
    const named = new Set(answer.data.errors.map((e) => e.path));
    assert.deepEqual([...named].toSorted(), paths.toSorted());
    for (const e of answer.data.errors) assert.ok(e.message.length > 5);
    assert.deepEqual([await all(), file()], before);
    return answer;
  }

  const post = (body: Body) => admin.post(records, body);
  const values = async (query: Query) => (await all(query)).map((r) => r.value);
  return { ...service, account, domain, records, path, file, all, values, post, unchanged };
}

export type Files = Awaited<ReturnType<typeof startFiles>>;
