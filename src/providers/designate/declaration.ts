import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

const URL_HELP = 'Of Keystone, as in clouds.yaml or OS_AUTH_URL: https://cloud.example.net:5000/v3';
const AUTH = text('auth_url', 'Authentication URL', {
  example: 'https://cloud.example.net:5000/v3',
  kind: 'url',
  help: URL_HELP,
});
const REGION = text('region', 'Region', {
  example: 'RegionOne',
  required: false,
  address: true,
  help: 'Where the cloud has several.',
});
const DEFAULT = { required: false, default: 'Default' };

/** OpenStack Designate, API v2, with tokens of Keystone v3: record sets with ids. */
export const designate = defineProvider({
  kind: 'designate',
  aliases: ['openstack'],
  label: 'OpenStack Designate',
  docs: 'https://docs.openstack.org/api-ref/dns/',
  credentials: [
    [
      AUTH,
      text('application_credential_id', 'Application credential ID'),
      secret('application_credential_secret', 'Application credential secret', {
        help: 'Of the project of the zones.',
      }),
      REGION,
    ],
    [
      AUTH,
      ...[text('username', 'User'), secret('password', 'Password'), text('project', 'Project')],
      ...[text('user_domain', 'Domain of the user', DEFAULT), text('project_domain', 'Domain of the project', DEFAULT)],
      REGION,
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'PTR', 'SSHFP', 'NAPTR'], ...SETS },
  limits: { requests: 20, concurrency: 4 }, // each cloud sets its own: low enough for most
  server: ({ auth_url = '', endpoint, region = '' }) => `${(endpoint || auth_url).replace(/\/+$/, '')}?${region}`,
  load: () => import('./designate.provider.js'),
});
