import { generateKeyPairSync } from 'node:crypto';
import { oci } from '../../../src/providers/oci/declaration.js';
import { hostIn, type ReplaySetup, shownValue } from '../../support/recordings.js';

interface Recorded {
  domain: string;
  rtype: string;
  rdata: string;
  ttl: number;
  isProtected: boolean;
}

const { privateKey } = generateKeyPairSync('rsa', {
  ...{ modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' } },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** Recorded 2022. */
export const setup: ReplaySetup = {
  definition: oci,
  recording: 'oci',
  base: '/20180115',
  finds: true,
  credentials: (endpoint) => ({
    ...{ tenancy: 't', user: 'u', fingerprint: 'f', private_key: privateKey, endpoint },
    ...{ compartment: 'OCI-COMPARTMENT-ID', region: 'us-ashburn-1' },
  }),
  listed({ method }, body, zone) {
    const { items } = (body ?? {}) as { items?: Recorded[] };
    if (method !== 'GET' || !items) return null;
    return items
      .filter(({ rtype }) => rtype !== 'SOA')
      .map(({ domain, rtype: type, rdata, ttl, isProtected }) => ({
        ...{ type, host: hostIn(domain, zone), ttl },
        value: isProtected ? rdata : shownValue(type, rdata, zone),
      }));
  },
};
