import { providerOf } from '../../src/providers/registry.js';
import { connectTo } from '../support/vendor.js';
import { providerContract } from './contract.js';
import { underLabel } from './under-label.js';

/** The contract suite against a real account: `npm run provider:check` runs this file, nothing else does. */
const { CHECK_KIND = '', CHECK_TARGET = '{}' } = process.env;
const definition = providerOf(CHECK_KIND);
if (!definition) throw new Error(`there is no provider ${CHECK_KIND}`);

providerContract(
  definition.label,
  async () => {
    const { credentials, zone, label } = JSON.parse(CHECK_TARGET);
    const target = underLabel(connectTo(definition, credentials, 30_000), zone, label);
    return { ...target, definition, live: true, connect: () => target.provider, stop: async () => undefined };
  },
  false,
  false,
);
