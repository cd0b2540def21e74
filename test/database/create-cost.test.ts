import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases, type Kind } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';
import { made, startWorld, type World } from '../support/world.js';

/** the create itself, from the session to the end of its second transaction */
const STATEMENTS = 23;
/** what the process does by itself meanwhile: its jobs, the linking of audit entries, and what streams are told */
const BY_ITSELF =
  /\b(migrations|audit_chain|audit_logs|FROM audit_pending|jobs|mails|deliveries|installation|failover_rules|events_log|plans|drift_reverts|tunnels|moves|sessions WHERE expires|leases WHERE owner)\b/;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip || noPowerdns)(`what the create of a record costs on ${kind}`, () => suite(kind));
}

function suite(kind: Kind): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(kind);
  });
  afterAll(() => world?.stop());

  it(`is ${STATEMENTS} statements at most, a question to the provider and a write`, async () => {
    const { admin, records, proxy } = world;
    const create = async (n: number) =>
      made(await admin.post(records, { host: `r${n}`, type: 'A', value: '192.0.2.1' }));
    // what is proved, prepared or written down at first
    for (let n = 0; n < 3; n++) await create(n);
    const costs: string[][] = [];
    for (let n = 3; n < 6; n++) {
      const asked: string[] = [];
      proxy.fault = ({ method, path }, forward) => {
        asked.push(`${method} ${path}`);
        return forward();
      };
      const told = tellStatements();
      await create(n);
      const all = told().map(({ sql }) => sql.replace(/\s+/g, ' ').trim());
      proxy.fault = null;
      costs.push(all.filter((sql) => !BY_ITSELF.test(sql) && !/^(BEGIN|START|SET|COMMIT|PRAGMA)/i.test(sql)));
      assert.equal(asked.length, 2, asked.join('\n'));
      assert.match(asked[1] ?? '', /^PATCH/);
    }
    // on a busy machine something else that the process does by itself may fall into one of them
    const own = costs.toSorted((a, b) => a.length - b.length)[0] ?? [];
    assert.ok(own.length <= STATEMENTS, `${own.length}:\n${own.join('\n')}`);
  });
}
