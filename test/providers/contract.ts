import { afterAll, beforeAll } from '@jest/globals';
import { describeUnless } from '../support/suites.js';
import { connectedAgain } from '../support/vendor.js';
import { Bench, declarationOfFile } from './contract/bench.js';
import { burst } from './contract/burst.js';
import { described } from './contract/described.js';
import { faults } from './contract/faults.js';
import { forms } from './contract/forms.js';
import { lists } from './contract/lists.js';
import { records } from './contract/records.js';
import { strangeEntries } from './contract/strange.js';
import type { ContractTarget } from './contract/target.js';
import { unknownFields, unknownForms } from './contract/unknown.js';
import { unnamedFields } from './contract/unnamed.js';

const UNLIMITED = { requests: 1_000_000, perSeconds: 1, more: [], concurrency: 8 };

/**
 * What `provider.ts` promises, checked against a live provider, whole or stood in for. Every check leaves the zone as
 * it found it. Which checks there are follows the declaration of the kind that the test file is named after; what the
 * vendor cannot hold besides, the target says with its reason (`cannot`). Call it at the top level of a test file.
 * @param open starts the provider; called once
 * @param skip a reason not to run
 * @param whole false: only what differs with the server behind an API that is tried as a whole elsewhere
 */
export function providerContract(
  label: string,
  open: () => Promise<ContractTarget>,
  skip?: string | false,
  whole = true,
): void {
  const bench = new Bench(label, declarationOfFile());
  describeUnless(skip)(`contract: ${label}`, () => {
    beforeAll(async () => {
      const target = await open();
      // the vendor's own limits would only make the checks wait; the burst has limits of its own
      const { definition, connect = (other) => connectedAgain(target.provider, other) ?? target.provider } = target;
      bench.target = { ...target, connect, provider: connect({ ...definition, limits: UNLIMITED }) };
    });
    afterAll(() => bench.target?.stop());
    records(bench);
    forms(bench);
    lists(bench);
    unknownFields(bench);
    unknownForms(bench);
    strangeEntries(bench);
    unnamedFields(bench);
    if (whole) {
      faults(bench);
      burst(bench);
      described(bench);
    }
    bench.tellAtEnd();
  });
}
