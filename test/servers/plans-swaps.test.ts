import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import { databases } from '../support/databases.js';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused } from '../support/world.js';

for (const { kind, skip } of databases('one'))
  for (const provider of ['zonefile', 'powerdns'])
    describeUnless(skip || (provider === 'powerdns' && noPowerdns))(
      `plans that lead records back past each other, at ${provider}, on ${kind}`,
      () => {
        let service: Service;
        let admin: Client;
        let account: number;
        let pdns: Powerdns | undefined;

        beforeAll(async () => {
          service = await startService(kind);
          ({ admin } = service);
          if (provider === 'powerdns') pdns = await startPowerdns();
          account = await addAccount(admin, provider, pdns ? { url: pdns.url, api_key: pdns.apiKey } : {});
        });
        afterAll(async () => {
          await service?.stop();
          await pdns?.stop();
        });

        /** A domain with records `www A 192.0.2.1`, `…2`, …, each with a remark. */
        async function zone(name: string, values: number[]) {
          const id = await addDomain(admin, account, name, true);
          const base = `/api/domains/${id}` as const;
          const list = async (): Promise<RecordView[]> =>
            done(await admin.get(`${base}/records`)).list.filter(({ type }) => !/SOA|NS/.test(type));
          const now = async () => (await list()).map(({ id: n, host, value }) => `${n} ${host} ${value}`).toSorted();
          const batch = async (changes: object[]) => {
            const result = ended(await admin.post(`${base}/records/batch`, { changes: changes as never }));
            return result.change_set_id as number;
          };
          await batch(
            values.map((n) => ({
              op: 'create',
              host: 'www',
              type: 'A',
              value: `192.0.2.${n}`,
              ttl: 300,
              remark: `r${n}`,
            })),
          );
          const ids = (await list()).map((row) => row.id);
          const apply = async (body: object) => {
            const plan = made(await admin.post(`${base}/plans`, body));
            ended(
              await admin.post(`/api/plans/${plan.id as number}/apply`, { force: ['many_updates', 'many_deletes'] }),
            );
            return plan;
          };
          const version = async () => done(await admin.get(`${base}/versions?limit=1`)).list[0]?.version as number;
          // what the provider holds is what the cache says
          const held = async () => {
            done(await admin.get(`${base}/records?refresh=true`));
            return now();
          };
          return { base, list, now, batch, ids, apply, version, held };
        }
        const to = (id: number | undefined, n: number) => ({ op: 'update', id, value: `192.0.2.${n}` });

        it('take back a swap of two values: each record has its own again', async () => {
          const { now, batch, ids, apply, held, version } = await zone('swap.example', [1, 2]);
          const [before, then] = [await now(), await version()];
          const [a, b] = ids;
          const set = await batch([to(a, 9), to(b, 1), to(a, 2)]);
          const swapped = await now();
          assert.notDeepEqual(swapped, before);
          const { changes, warnings } = await apply({ change_set_id: set });
          assert.deepEqual([changes.map(({ op }) => op), warnings], [['update', 'update'], []]);
          assert.deepEqual([await now(), await held()], [before, before]);
          const again = await batch([to(a, 9), to(b, 1), to(a, 2)]);
          assert.ok(again);
          await apply({ version: then });
          assert.deepEqual([await now(), await held()], [before, before]);
        });

        it('take back a chain, in which each record has got the value of the next one', async () => {
          const { now, batch, ids, apply, held, version } = await zone('chain.example', [1, 2, 3]);
          const [before, then] = [await now(), await version()];
          const [a, b, c] = ids;
          const set = await batch([to(c, 4), to(b, 3), to(a, 2)]);
          await apply({ change_set_id: set });
          assert.deepEqual([await now(), await held()], [before, before]);
          await batch([to(c, 9), to(b, 3), to(a, 2), to(c, 1)]);
          await apply({ version: then });
          assert.deepEqual([await now(), await held()], [before, before]);
        });

        it('take back that a record was deleted and made again: it has its id and remark', async () => {
          const { now, list, batch, ids, apply, held, version } = await zone('again.example', [1, 2]);
          const [before, then] = [await now(), await version()];
          const [a, b] = ids;
          const create = (host: string, n: number) => ({
            op: 'create',
            host,
            type: 'A',
            value: `192.0.2.${n}`,
            ttl: 300,
          });
          const set = await batch([{ op: 'delete', id: a }, create('www', 1), to(b, 5)]);
          assert.notDeepEqual(await now(), before);
          await apply({ change_set_id: set });
          assert.deepEqual([await now(), await held()], [before, before]);
          assert.deepEqual((await list()).map(({ remark }) => remark).toSorted(), ['r1', 'r2']);
          await batch([{ op: 'delete', id: a }, to(b, 1), create('www', 2)]);
          await apply({ version: then });
          assert.deepEqual([await now(), await held()], [before, before]);
        });

        it('take back a CNAME for addresses', async () => {
          const { now, batch, ids, apply, held } = await zone('alias.example', [1, 2]);
          const before = await now();
          const deletions = ids.map((id) => ({ op: 'delete', id }));
          const set = await batch([
            ...deletions,
            { op: 'create', host: 'www', type: 'CNAME', value: 'elsewhere.test.', ttl: 300 },
          ]);
          await apply({ change_set_id: set });
          assert.deepEqual([await now(), await held()], [before, before]);
        });

        it('are refused where what stays is in the way, and a list of changes is judged one after the other', async () => {
          const { base, ids, now } = await zone('stays.example', [1, 2, 3]);
          const [a, b] = ids;
          const before = await now();
          const swap = { changes: [to(a, 2), to(b, 1)] as never };
          refused(await admin.post(`${base}/plans`, swap), 409, 409001);
          refused(await admin.post(`${base}/records/batch`, { ...swap, atomic: true }), 409, 409001);
          assert.deepEqual(await now(), before);
        });
      },
    );
