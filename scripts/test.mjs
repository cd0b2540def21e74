// Runs the suites of one tier of the tests (test/tiers.cjs), or of the gate; more arguments go to Jest.
//   node scripts/test.mjs <test|process|servers|databases|console|nightly|gate> [argument ...]
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const { TIERS } = createRequire(import.meta.url)('../test/tiers.cjs');
const [tier, ...more] = process.argv.slice(2);
if (tier !== 'gate' && !TIERS[tier]) throw new Error(`no tier ${tier}: ${[...Object.keys(TIERS), 'gate'].join(', ')}`);
const { databases } = TIERS[tier] ?? {};
const env = { ...process.env, TEST_TIER: tier };
if (databases) env.TEST_DATABASES ??= databases;
const { status } = spawnSync('node_modules/.bin/jest', more, { stdio: 'inherit', env });
process.exitCode = status ?? 1;
