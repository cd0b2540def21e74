/** Prints, after everything else, why tests were skipped and which files took longest. */
module.exports = class {
  onRunComplete(_contexts, { testResults }) {
    const skipped = new Map();
    for (const { status, fullName } of testResults.flatMap((file) => file.testResults)) {
      const reason = status === 'pending' && /\(skipped: (.*?)\)(?= |$)/.exec(fullName)?.[1];
      if (reason) skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
    for (const [reason, count] of skipped) console.log(`skipped ${count} tests: ${reason}`);
    const seconds = ({ perfStats }) => (perfStats.end - perfStats.start) / 1000;
    const slowest = testResults.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, 10);
    console.log('\nThe slowest files:');
    for (const file of slowest) {
      console.log(`${seconds(file).toFixed(1).padStart(7)} s  ${file.testFilePath.replace(`${process.cwd()}/`, '')}`);
    }
  }
};
