import { afterAll, beforeAll } from '@jest/globals';
import { describeUnless } from '../support/suites.js';
import { Bench, declarationOfFile } from './contract/bench.js';
import { faults } from './contract/faults.js';
import { lists } from './contract/lists.js';
import { records } from './contract/records.js';
import type { ContractTarget } from './contract/target.js';

export type { ContractTarget, SchemaOption } from './contract/target.js';

/**
 * What `provider.ts` promises, checked against a live provider, whole or stood in for. Every check leaves the zone as
 * it found it. Which checks there are follows the declaration of the kind that the test file is named after; what the
 * vendor cannot hold besides, the target says with its reason (`cannot`). Call it at the top level of a test file.
 * @param open starts the provider; called once
 * @param skip a reason not to run
 */
export function providerContract(label: string, open: () => Promise<ContractTarget>, skip?: string | false): void {
  const bench = new Bench(label, declarationOfFile());
  describeUnless(skip)(`contract: ${label}`, () => {
    beforeAll(async () => {
      bench.target = await open();
    });
    afterAll(() => bench.target?.stop());
    records(bench);
    lists(bench);
    faults(bench);
    bench.tellAtEnd();
  });
}
