const { readFileSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');
const { GATE, tierOf } = require('../tiers.cjs');

const TEST = join(__dirname, '..');

/** Processor seconds of each suite, as `one-realm.cjs` has measured them; they are removed with the run's folder. */
function costs() {
  const lines = readFileSync(process.env.TEST_COSTS, 'utf8').trim().split('\n').filter(Boolean);
  return new Map(lines.map((line) => JSON.parse(line)).map(({ file, seconds }) => [file, seconds]));
}

/** A tier may cost this much more than its budget. */
const TOLERANCE = 1.15;

const number = (value, unit) => `${value.toFixed(1).padStart(7)} ${unit}`;

/**
 * Prints, after everything else, why tests were skipped, and what each tier and the ten slowest suites cost. With
 * TEST_BUDGET, a file with the processor seconds of each tier, a run fails in which a tier costs 15 % more. TEST_REPORT
 * names a file for the costs of all suites.
 */
module.exports = class {
  getLastError() {
    return this.error;
  }

  onRunStart() {
    this.read = undefined;
  }

  onTestResult() {
    // the folder with the costs is removed before `onRunComplete`
    this.read = costs();
  }

  onRunComplete(_contexts, { testResults }) {
    const skipped = new Map();
    for (const { status, fullName } of testResults.flatMap((file) => file.testResults)) {
      const reason = status === 'pending' && /\(skipped: (.*?)\)(?= |$)/.exec(fullName)?.[1];
      if (reason) skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
    for (const [reason, count] of skipped) console.log(`skipped ${count} tests: ${reason}`);
    const suites = testResults.map(({ testFilePath, perfStats: { start, end } }) => ({
      file: relative(TEST, testFilePath),
      processor: this.read?.get(testFilePath) ?? 0,
      wall: (end - start) / 1000,
    }));
    const totals = [...GATE, 'nightly'].map((tier) => {
      const own = suites.filter(({ file }) => tierOf(file) === tier);
      const sum = (key) => own.reduce((total, suite) => total + suite[key], 0);
      return { tier, suites: own.length, processor: sum('processor'), wall: sum('wall') };
    });
    console.log('\nProcessor and wall time of each tier (suites run side by side):');
    for (const { tier, suites: count, processor, wall } of totals)
      if (count) console.log(`${number(processor, 's')} ${number(wall, 's')}  ${tier}, ${count} suites`);
    console.log('\nProcessor and wall time of the ten slowest suites:');
    for (const { file, processor, wall } of suites.toSorted((a, b) => b.processor - a.processor).slice(0, 10))
      console.log(`${number(processor, 's')} ${number(wall, 's')}  test/${file}`);
    if (process.env.TEST_REPORT) writeFileSync(process.env.TEST_REPORT, JSON.stringify({ totals, suites }, null, 1));
    if (!process.env.TEST_BUDGET) return;
    const budget = JSON.parse(readFileSync(process.env.TEST_BUDGET, 'utf8'));
    const over = totals.filter(({ tier, processor }) => processor > budget[tier] * TOLERANCE);
    const words = over.map(({ tier, processor }) => `${tier}: ${processor.toFixed(0)} s, budget ${budget[tier]} s`);
    if (over.length) this.error = new Error(`More processor time than budgeted: ${words.join('; ')}`);
  }
};
