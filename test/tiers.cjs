// The tiers of the tests. `node scripts/test.mjs <tier>` runs one; the gate runs all of them but `nightly`.
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');

/** Providers whose contract runs with every change: one of each way to write records. */
const WRITE_STYLES = {
  cloudflare: 'records, many in one call',
  digitalocean: 'records, one after another',
  rainyun: 'records in place, one writer per zone',
  desec: 'record sets, many in one call',
  azure: 'record sets, one after another',
  route53: 'record sets, as changes',
  namecheap: 'the whole zone',
  zonefile: 'a master file',
};

/** Providers that are tested against a real name server. */
const REAL_SERVERS = ['powerdns', 'rfc2136'];

const git = (...words) => execFileSync('git', words, { cwd: join(__dirname, '..'), encoding: 'utf8', stdio: 'pipe' });

/** The commit to compare a change with: TEST_BASE, else where the branch left origin/main, else the one before HEAD. */
function baseOfChange() {
  if (process.env.TEST_BASE) return process.env.TEST_BASE;
  const base = git('merge-base', 'HEAD', 'origin/main').trim();
  return base === git('rev-parse', 'HEAD').trim() ? 'HEAD~1' : base;
}

/** Providers that a change touches, with what is not committed. @throws Error when TEST_BASE is no commit */
function touchedProviders() {
  let files;
  try {
    files = git('diff', '--name-only', baseOfChange()) + git('ls-files', '--others', '--exclude-standard');
  } catch (error) {
    // an archive of the sources, or a clone of one commit
    if (!process.env.TEST_BASE) return [];
    throw error;
  }
  const kinds = [...files.matchAll(/^(?:src|test)\/providers\/([a-z0-9]+)\//gm)].map(([, kind]) => kind);
  const isKind = (kind) => kind !== 'kit' && existsSync(join(__dirname, 'providers', kind, `${kind}.test.ts`));
  return [...new Set(kinds)].filter((kind) => isKind(kind) && !REAL_SERVERS.includes(kind));
}

let folders;
const providerFolders = () => {
  folders ??= ['kit', ...new Set([...Object.keys(WRITE_STYLES), ...touchedProviders()])].map((k) => `providers/${k}`);
  return folders;
};

/** Folders below test/ of each tier, and what its suites need in addition to Node. */
const TIERS = {
  test: {
    folders: () => ['unit', 'documents', 'web', 'api', 'providers/replay', ...providerFolders()],
    databases: 'sqlite',
  },
  process: { folders: () => ['process', 'clients'] },
  servers: {
    folders: () => ['servers', 'doors', 'random', ...REAL_SERVERS.map((kind) => `providers/${kind}`)],
  },
  databases: { folders: () => ['database'] },
  console: { folders: () => ['console'] },
  nightly: { folders: () => ['*'] },
};

const GATE = ['test', 'process', 'servers', 'databases', 'console'];

const named = (tier) => (tier === 'gate' ? GATE : [tier]);

/** Globs of the suites of a tier, or of the gate. */
const suitesOf = (tier) => {
  const folders = new Set(named(tier).flatMap((name) => TIERS[name].folders()));
  return [...folders].map((folder) => `<rootDir>/test/${folder}{.test.ts,/**/*.test.ts}`);
};

/** The tier that a suite belongs to; `nightly` where the gate does not run it. @param file relative to test/ */
function tierOf(file) {
  const holds = (folder) => file.startsWith(`${folder}/`) || file.startsWith(`${folder}.`);
  return GATE.find((tier) => TIERS[tier].folders().some(holds)) ?? 'nightly';
}

/** Returns the command that runs a suite which was skipped because a program or a server is missing. */
const commandFor = (file) => {
  const tier = tierOf(file);
  return tier === 'test' ? 'npm run gate' : `npm run test:${tier}`;
};

module.exports = { TIERS, GATE, WRITE_STYLES, suitesOf, tierOf, commandFor };
