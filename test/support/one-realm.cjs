const { appendFileSync, readFileSync } = require('node:fs');
const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

// Jest's own environment compiles everything in a second realm, and again for each test file. There a RangeError of
// Node's Buffer is not a `RangeError`, and an array of `readdirSync` not an `Array`, so the service would behave
// differently than in production. Here everything runs in the realm of the process, and Node loads the built service
// and the packages unchanged, once for all test files of a worker.
const LEFT_TO_NODE =
  /\/dist\/src\/|\/bench\/|\/node_modules\/(?!@jest\/|jest-|expect\/|pretty-format\/|source-map-support\/)/;
const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { parsingContext, ...options }) => {
  if (parsingContext !== globalThis) return compileFunction(code, parameters, { parsingContext, ...options });
  if (!LEFT_TO_NODE.test(options.filename)) return compileFunction(code, parameters, options);
  return (module) => {
    module.exports = require(options.filename);
  };
};

require('./quick-hashes.cjs');

const { console } = globalThis;
const { exit } = process;
const RUNNERS_OWN = /^(JEST_|EVENT_HANDLERS$|TEST_TIMEOUT_|RETRY_|LOG_ERRORS_|WAIT_BEFORE_)/;

/** Ticks of the processor that this process and its ended children have used, at 100 a second (proc(5), on Linux). */
function processorTicks() {
  if (process.platform !== 'linux') return 0;
  const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  return fields
    .split(' ')
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks), 0);
}

module.exports = class OneRealm {
  constructor({ projectConfig: config }, { testPath }) {
    this.testPath = testPath;
    this.begun = processorTicks();
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  async setup() {}

  async teardown() {
    // read by summary-reporter.cjs
    const line = JSON.stringify({ file: this.testPath, seconds: (processorTicks() - this.begun) / 100 });
    appendFileSync(process.env.TEST_COSTS, `${line}\n`);
    this.fakeTimersModern.dispose();
    // state of the runner for this file; globals of packages stay, as the packages do
    for (const key of Object.getOwnPropertySymbols(globalThis))
      if (RUNNERS_OWN.test(key.description ?? '')) Reflect.deleteProperty(globalThis, key);
    globalThis.console = console;
    process.exit = exit;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return globalThis;
  }
};
