// Builds when there is no build or a source file is newer. An image without sources runs the existing build.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';

const STAMP = 'dist/.built';
const newest = (path) =>
  statSync(path).isDirectory()
    ? Math.max(...readdirSync(path).map((name) => newest(`${path}/${name}`)))
    : statSync(path).mtimeMs;

if (existsSync('src')) {
  const sources = Math.max(...['src', 'package-lock.json', 'tsconfig.json', 'nest-cli.json'].map(newest));
  if (!existsSync(STAMP) || statSync(STAMP).mtimeMs < sources) {
    process.stderr.write('Building: there is no build, or a source file is newer\n');
    const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
    writeFileSync(STAMP, '');
  }
}
