import { providerOf } from '../../src/providers/registry.js';
import { connectTo } from '../support/vendor.js';
import { providerContract } from './contract.js';

/** The contract suite against a real account: `npm run provider:check` runs this file, nothing else does. */
const { CHECK_KIND = '', CHECK_ZONE = '', CHECK_CREDENTIALS = '{}' } = process.env;
const definition = providerOf(CHECK_KIND);
if (!definition) throw new Error(`there is no provider ${CHECK_KIND}`);

providerContract(
  definition.label,
  async () => {
    const provider = connectTo(definition, JSON.parse(CHECK_CREDENTIALS), 30_000);
    const zone = await provider.findZone?.(CHECK_ZONE);
    if (!zone) throw new Error(`there is no zone ${CHECK_ZONE}`);
    return { provider, definition, zone, stop: async () => undefined };
  },
  false,
);
