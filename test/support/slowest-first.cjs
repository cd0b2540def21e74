const { basename } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** The slowest test files, slowest first: started late they would prolong the whole run. */
const SLOWEST = [
  'bench',
  'release',
  'provider-check',
  'failover-mass',
  'clocks',
  'pipelines',
  'promotion',
  'galera',
  'jobs',
  'backup',
  'outage',
  'failover',
  'rights-ended',
  'powerdns',
  'long-lists',
  'paused',
  'failover-replicas',
  'greedy-user',
  'screens',
  'frozen',
  'schema',
  'replicas',
  'drift-crash',
  'moves-crash',
  'records-batch',
  'drain',
  'lists-migration',
  'lookups',
  'query-plans',
  'jobs-replicas',
  'record-search',
  'cli',
  'provider-sessions',
  'plans',
  'zone',
  'propagation',
  'entry',
  'certificates',
  'upgrade',
  'accounts',
  'ownership',
  'replay',
  'records-dns',
  'failover-vendors',
  'rfc2136',
  'domains',
  'drift',
  'crash',
  'safe-change',
  'access-matrix',
  'rainyun',
  'guide',
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
