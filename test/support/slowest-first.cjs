const { basename } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** The slowest test files, slowest first: started late they would prolong the whole run. */
const SLOWEST = [
  'bench',
  'paused',
  'rights-ended',
  'guide',
  'powerdns',
  'clocks',
  'backup',
  'shared-zones',
  'failover-mass',
  'keys',
  'jobs',
  'rounds',
  'provider-check',
  'copies',
  'route53',
  'failover',
  'outage',
  'promotion',
  'pgbouncer',
  'trash',
  'crash',
  'start-schema',
  'audit-links',
  'access-matrix',
  'account-pauses',
  'long-lists',
  'records-end',
  'notifications',
  'drain',
  'schema-grows',
  'start-key',
  'lockout',
  'records-dns',
  'audit-strangers',
  'failover-replicas',
  'netlify',
  'jobs-replicas',
  'events',
  'replicas',
  'token-rule-limits',
  'mail',
  'admin-cli',
  'hot-requests',
  'frozen',
  'schema',
  'setup',
  'full-disk',
  'ultradns',
  'dnsmadeeasy',
  'hostingde',
  'rfc2136',
  'lists-attacked',
  'greedy-user',
  'provider-failures',
  'lost-key',
];

const rank = ({ path }) => {
  const at = SLOWEST.indexOf(basename(path, '.test.ts'));
  return at < 0 ? SLOWEST.length : at;
};

/** Runs the slowest files first, the others in Jest's order: by their last duration, or by size. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
};
