// Runs the contract suite against the real API of a provider in a disposable zone, and writes a report:
//   npm run provider:check -- <kind> <zone> [--write] [--not-empty]
// Credentials come from the environment: CHECK_API_TOKEN for `api_token`. Without --write it only reads.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const options = process.argv.slice(2);
const [kind, zone] = options.filter((word) => !word.startsWith('--'));
const has = (flag) => options.includes(flag);
const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};
if (!kind || !zone) fail('usage: npm run provider:check -- <kind> <zone> [--write] [--not-empty]');

const build = spawnSync(process.execPath, ['scripts/build-when-needed.mjs'], { cwd: root, stdio: 'inherit' });
if (build.status !== 0) fail('the build failed');
const { providerOf } = await import(join(root, 'dist/src/providers/registry.js'));
const { connectProvider } = await import(join(root, 'dist/src/providers/connect.js'));
const { outboundAgent } = await import(join(root, 'dist/src/platform/outbound/agent.js'));

const definition = providerOf(kind);
if (!definition) fail(`there is no provider ${kind}`);
const keys = [...new Set(definition.credentials.flat().map((field) => field.key))];
const given = keys.flatMap((key) => {
  const value = process.env[`CHECK_${key.toUpperCase()}`];
  return value ? [[key, value]] : [];
});
const credentials = Object.fromEntries(given);
const complete = definition.credentials.some((fields) =>
  fields.every((field) => !field.required || credentials[field.key]),
);
if (!complete) {
  const lists = definition.credentials.map((fields) =>
    fields.filter((f) => f.required).map((f) => `CHECK_${f.key.toUpperCase()}`),
  );
  fail(`credentials are missing: set ${lists.map((names) => names.join(', ')).join(' or ')}`);
}

const timeoutMs = 30_000;
const agent = outboundAgent([], timeoutMs);
const provider = connectProvider(definition, credentials, { agent, deny: [], timeoutMs, installation: {} });
await provider.check().catch((error) => fail(`the credentials were not taken: ${error.message}`));
const zones = await provider.listZones().catch((error) => fail(`zones could not be listed: ${error.message}`));
const found = zones.find(({ name }) => name === zone);
if (!found) fail(`${zone} is none of the ${zones.length} zones of the account`);
const records = await provider.listRecords(found).catch((error) => fail(`records could not be read: ${error.message}`));
const others = records.filter(({ host, type }) => !(host === '@' && type === 'NS'));
process.stdout.write(
  `${definition.label}: ${zones.length} zones; ${zone} holds ${records.length} records, ${others.length} beside its name servers\n`,
);
await agent.close();
if (others.length && !has('--not-empty'))
  fail(`nothing was changed: ${zone} is not empty. Take a zone to be thrown away, or say --not-empty`);
if (!has('--write')) {
  process.stdout.write(
    'Nothing was changed. With --write the contract suite makes, changes and deletes records in this zone.\n',
  );
  process.exit(0);
}

const results = join(root, `provider-check-${kind}.json`);
const jest = spawnSync(
  process.execPath,
  [
    'node_modules/jest/bin/jest.js',
    '--testMatch',
    '<rootDir>/test/providers/live-check.ts',
    '--json',
    `--outputFile=${results}`,
  ],
  {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, CHECK_KIND: kind, CHECK_ZONE: zone, CHECK_CREDENTIALS: JSON.stringify(credentials) },
  },
);
const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
rmSync(results);
const secrets = definition.credentials
  .flat()
  .flatMap((f) => (f.secret && credentials[f.key] ? [credentials[f.key]] : []));
const clean = (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
const checks = testResults.flatMap((file) => file.assertionResults);
const lines = checks.map(({ title, status, failureMessages }) => {
  const words = status === 'failed' ? `\n\n\`\`\`\n${failureMessages.join('\n').slice(0, 2000)}\n\`\`\`\n` : '';
  return `- ${status}: ${title}${words}`;
});
const count = (status) => checks.filter((one) => one.status === status).length;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const report = `# ${definition.label}, checked on ${new Date().toISOString().slice(0, 10)}

Zoneward ${version}, Node ${process.version}: ${count('passed')} passed, ${count('failed')} failed, ${count('pending')} do not apply.

${lines.join('\n')}
`;
const file = join(root, `provider-check-${kind}.md`);
writeFileSync(file, clean(report).replaceAll(zone, 'zone.example'));
process.stdout.write(`${count('passed')} passed, ${count('failed')} failed: ${file}\n`);
process.exit(jest.status ?? 1);
