/** Writes each result as it comes, so that a run that is broken off leaves what it has. */
module.exports = class {
  onTestCaseResult(_test, { title, status, duration, failureMessages }) {
    process.stdout.write(`\ncheck: ${JSON.stringify({ title, status, duration, failureMessages })}\n`);
  }
};
