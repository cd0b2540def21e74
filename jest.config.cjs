// The tests are compiled to CommonJS, as Jest likes it best; what they test is the service as `nest build` made it,
// loaded by Node as it is.
const tests = {
  swcrc: false,
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2023',
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

const { suitesOf } = require('./test/tiers.cjs');

module.exports = {
  testMatch: suitesOf(process.env.TEST_TIER ?? 'nightly'),
  injectGlobals: false,
  transform: { '\\.ts$': ['@swc/jest', tests] },
  resolver: '<rootDir>/test/support/resolver.cjs',
  testEnvironment: '<rootDir>/test/support/one-realm.cjs',
  globalSetup: '<rootDir>/test/support/global-setup.cjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.cjs',
  testSequencer: '<rootDir>/test/support/slowest-first.cjs',
  reporters: ['default', '<rootDir>/test/support/summary-reporter.cjs'],
  testTimeout: 300_000,
  // most suites wait for a server or a time limit; two cores are busy with five
  maxWorkers: 5,
  // a new worker takes seconds of processor time to load the service
  workerIdleMemoryLimit: '1GB',
};
