import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

const HELP = 'User settings, Applications, Personal access tokens: of a user of the team with the zones.';

/** Netlify DNS: records with ids that are made and deleted, never changed. */
export const netlify = defineProvider({
  kind: 'netlify',
  label: 'Netlify',
  docs: 'https://open-api.netlify.com/#tag/dnsZone',
  api: 'https://api.netlify.com/api/v1',
  credentials: [[secret('token', 'Personal access token', { help: HELP })]],
  capabilities: { types: [...RECORD_TYPES, 'ALIAS'] },
  // of 500 a minute (Netlify's documentation)
  limits: { requests: 400, perSeconds: 60, concurrency: 4 },
  load: () => import('./netlify.provider.js'),
});
