import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

const PEM = 'The private half of an API key of the user, in PEM form without a pass phrase.';
const ACCOUNT = [
  text('tenancy', 'Tenancy OCID', { example: 'ocid1.tenancy.oc1..aaaaexample' }),
  text('user', 'User OCID', {
    example: 'ocid1.user.oc1..aaaaexample',
    help: 'In a group that may "manage dns" in the compartment.',
  }),
  text('fingerprint', 'Fingerprint', {
    example: '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34',
    help: 'Of the API key: 20:3b:97:…',
  }),
  secret('private_key', 'Private key', { multiline: true, help: PEM }),
  text('compartment', 'Compartment OCID', {
    example: 'ocid1.compartment.oc1..aaaaexample',
    help: 'That of the zones; compartments below it are not looked into.',
  }),
  text('region', 'Region', {
    example: 'us-ashburn-1',
    help: 'us-ashburn-1 or another; public zones are in all.',
    address: true,
  }),
];
const VIEW = text('view_id', 'View OCID', {
  example: 'ocid1.dnsview.oc1.iad.aaaaexample',
  help: 'The private zones of this view, in place of the public ones.',
});

/** Oracle Cloud Infrastructure DNS, API 20180115: record sets, of which the records that differ are written. */
export const oci = defineProvider({
  kind: 'oci',
  label: 'Oracle Cloud DNS',
  docs: 'https://docs.oracle.com/en-us/iaas/api/#/en/dns/20180115/',
  api: 'https://dns.us-ashburn-1.oraclecloud.com/20180115',
  credentials: [ACCOUNT, [...ACCOUNT, VIEW]],
  capabilities: { types: [...RECORD_TYPES, 'ALIAS', 'DS', 'PTR', 'SSHFP', 'TLSA'], ...SETS, maxTtl: 604800 },
  // no number is documented; what is too much is HTTP 429
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./oci.provider.js'),
});
