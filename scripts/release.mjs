// Builds everything that is shipped into release/, from a checkout with its development dependencies:
//   npm run release                  archives of the service, the image, the chart and both npm packages, the bill of
//                                    materials, and SHA256SUMS
//   npm run release -- --unpacked    only the content of the service's archive, as release/zoneward/
// The same commit, Node and npm give the same bytes. Files have the time of the commit, or SOURCE_DATE_EPOCH.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { billOfMaterials } from './bill-of-materials.mjs';
import { below, copy, json, stageService } from './stage.mjs';

const OUT = 'release';
const STAGE = `${OUT}/stage`;

const run = (script) => execFileSync('npm', ['run', '--silent', script], { stdio: ['ignore', 2, 2] });
const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Context of `docker build`: the last stage of deploy/Dockerfile, which copies the unpacked release. */
function stageImage(to, service) {
  cpSync(service, `${to}/zoneward`, { recursive: true });
  for (const file of ['compose.yaml', 'Caddyfile']) copy(`deploy/${file}`, `${to}/${file}`);
  const whole = readFileSync('deploy/Dockerfile', 'utf8');
  const stage = whole.slice(whole.lastIndexOf('\nFROM ') + 1);
  const [built] = /--from=build \S+\/release\/(?=zoneward\/ )/.exec(stage) ?? [];
  if (!built || stage.split('--from').length !== 2)
    throw new Error(
      'the last stage of deploy/Dockerfile must copy release/zoneward/ from the stage "build", and nothing else',
    );
  const heading = '# The image of Zoneward, from the release in this folder: docker build -t zoneward .\n';
  writeFileSync(`${to}/Dockerfile`, heading + stage.replace(built, ''));
}

function stageChart(to, version) {
  cpSync('deploy/helm/zoneward', to, { recursive: true });
  const chart = readFileSync(`${to}/Chart.yaml`, 'utf8');
  for (const field of ['version', 'appVersion'])
    if (!chart.includes(`\n${field}: ${version}\n`)) throw new Error(`Chart.yaml: ${field} is not ${version}`);
}

/** Sets the modes that archives store: those of a checkout depend on the umask. */
function setModes(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, entry.isDirectory() || statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** Archives one folder of the stage so that the bytes depend on the content alone. */
async function archive(folder, file, time) {
  const { create } = await import('tar');
  const stage = join(STAGE, dirname(folder));
  const name = basename(folder);
  const paths = [name, ...below(`${stage}/${name}`, 'any').map((path) => `${name}/${path}`)];
  create(
    {
      ...{ cwd: stage, file: `${OUT}/${file}`, sync: true, gzip: { level: 9, portable: true } },
      // no user, group or times of access; the folders are in the list of paths
      ...{ portable: true, mtime: time, noDirRecurse: true },
      // `portable` leaves out the time of folders, and GNU tar warns about 1970
      onWriteEntry: (entry) => {
        entry.noMtime = false;
      },
    },
    paths,
  );
}

/** Copies a package with the license of the repository, which is not in the folder of the package. */
function stagePackage(to, from) {
  for (const file of ['package.json', 'README.md']) copy(`${from}/${file}`, `${to}/${file}`);
  for (const file of json(`${from}/package.json`).files)
    cpSync(`${from}/${file}`, `${to}/${file}`, { recursive: true });
  copy('LICENSE', `${to}/LICENSE`);
}

const pack = (folder) =>
  execFileSync('npm', ['pack', '--silent', `./${folder}`, '--pack-destination', OUT], { stdio: ['ignore', 2, 2] });

function releaseTime() {
  const seconds =
    process.env.SOURCE_DATE_EPOCH || execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' });
  return new Date(Number(seconds) * 1000);
}

process.chdir(dirname(import.meta.dirname));
rmSync(OUT, { recursive: true, force: true });
const { version } = json('package.json');
const name = `zoneward-${version}`;

run('build:service');
run('build:console');
const packages = stageService(`${STAGE}/${name}`);
if (process.argv.includes('--unpacked')) {
  setModes(`${STAGE}/${name}`);
  renameSync(`${STAGE}/${name}`, `${OUT}/zoneward`);
} else {
  const time = releaseTime();
  run('build:clients');
  stageImage(`${STAGE}/${name}-image`, `${STAGE}/${name}`);
  stageChart(`${STAGE}/chart/zoneward`, version);
  for (const each of ['client', 'cli']) stagePackage(`${STAGE}/npm/${each}`, `packages/${each}`);
  setModes(STAGE);
  await archive(name, `${name}.tgz`, time);
  await archive(`${name}-image`, `${name}-image.tgz`, time);
  await archive('chart/zoneward', `zoneward-chart-${version}.tgz`, time);
  for (const each of ['client', 'cli']) pack(`${STAGE}/npm/${each}`);
  const bill = billOfMaterials(packages, readFileSync(`${OUT}/${name}.tgz`), time);
  writeFileSync(`${OUT}/${name}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`);
}
rmSync(STAGE, { recursive: true });
if (!process.argv.includes('--unpacked')) {
  const sums = below(OUT).map((file) => `${sha256(`${OUT}/${file}`)}  ${file}\n`);
  writeFileSync(`${OUT}/SHA256SUMS`, sums.join(''));
}
