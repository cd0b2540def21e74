const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

// Jest's own environment compiles everything in a second realm, where a RangeError of Node's Buffer is no `RangeError`, and an array of `readdirSync` no
// `Array`: the service would not do there what it does when it is started. So everything is compiled in the realm of the process.
const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { parsingContext, ...options }) =>
  compileFunction(code, parameters, parsingContext === globalThis ? options : { parsingContext, ...options });

const KEYS = new Set(Reflect.ownKeys(globalThis));
const { console } = globalThis;
const { exit } = process;

module.exports = class OneRealm {
  constructor({ projectConfig: config }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  async setup() {}

  /** The next file finds the globals as this one did. */
  async teardown() {
    this.fakeTimersModern.dispose();
    for (const key of Reflect.ownKeys(globalThis)) if (!KEYS.has(key)) Reflect.deleteProperty(globalThis, key);
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
