const { basename } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** The slowest test files, slowest first: started late they would prolong the whole run. */
const SLOWEST = [
  'rights-ended',
  'clocks',
  'failover-mass',
  'rounds',
  'crash',
  'long-lists',
  'jobs',
  'failover',
  'failover-replicas',
  'copies',
  'outage',
  'jobs-replicas',
  'backup',
  'account-pauses',
  'powerdns',
  'audit-links',
  'full-disk',
  'late-attacked',
  'lists-attacked',
  'records-dns',
  'greedy-user',
  'records-sent-back',
  'replicas',
  'late-answers',
  'access-matrix',
  'traces',
  'record-filters',
  'records-validation',
  'lease-scopes',
  'events',
  'expiry',
  'notifications',
  'mail',
  'setup',
  'metrics',
  'linode',
  'hetzner',
  'audit-export',
  'propagation',
  'explain-agrees',
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
