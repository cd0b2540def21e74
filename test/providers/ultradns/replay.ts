import { ultradns } from '../../../src/providers/ultradns/declaration.js';
import { hostIn, type ReplaySetup, shownValue } from '../../support/recordings.js';

interface Recorded {
  ownerName: string;
  rrtype: string;
  ttl: number;
  rdata: string[];
}

/** Recorded 2020. */
export const setup: ReplaySetup = {
  definition: ultradns,
  recording: 'ultradns',
  base: '',
  credentials: (endpoint) => ({ username: 'joe', password: 'a-password-for-the-tests', endpoint }),
  reads: ({ method, path }) => method === 'GET' || path.endsWith('/token'),
  listed(_asked, body, zone) {
    const { rrSets } = (body ?? {}) as { rrSets?: Recorded[] };
    return (
      rrSets
        ?.filter(({ rrtype }) => !rrtype.startsWith('SOA'))
        .flatMap(({ ownerName, rrtype, ttl, rdata }) => {
          const type = rrtype.replace(/ .*/, '');
          return rdata.map((text) => ({
            host: hostIn(ownerName, zone),
            type,
            ttl,
            value: shownValue(type, text, zone),
          }));
        }) ?? null
    );
  },
};
