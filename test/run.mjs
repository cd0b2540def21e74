// Runs the compiled tests with Node's own runner, a file a process: `npm test`, or `npm test -- records powerdns` for files whose names match.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const find = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? find(join(folder, entry.name))
      : entry.name.endsWith('.test.js')
        ? [join(folder, entry.name)]
        : [],
  );
const wanted = process.argv.slice(2);
const files = find('build/test').filter((file) => !wanted.length || wanted.some((word) => file.includes(word)));
if (!files.length) {
  console.error(`no test file matches ${wanted.join(' ')}`);
  process.exit(1);
}
const args = ['--test', '--test-concurrency=2', '--enable-source-maps', '--test-reporter=spec', ...files];
process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1);
