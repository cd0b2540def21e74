import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from '@jest/globals';
import { load } from 'js-yaml';

const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const { version } = json('package.json') as { version: string };

it('has one version in all packages, the lock file, the chart, the API description and the docs', () => {
  const { packages } = json('package-lock.json');
  const chart = load(readFileSync('deploy/helm/zoneward/Chart.yaml', 'utf8')) as Record<string, string>;
  const cli = json('packages/cli/package.json');
  const named = [...readFileSync('docs/clients.md', 'utf8').matchAll(/zoneward-cli-(\S+)\.tgz/g)];
  const installed = [...readFileSync('docs/installing.md', 'utf8').matchAll(/^ *VERSION=(\S+)$/gm)];
  const versions: Record<string, unknown> = {
    'web/package.json': json('web/package.json').version,
    'packages/client/package.json': json('packages/client/package.json').version,
    'packages/cli/package.json': cli.version,
    'client library of the command': cli.devDependencies['@zoneward/client'],
    'package-lock.json': json('package-lock.json').version,
    ...Object.fromEntries(['', 'web', 'packages/client', 'packages/cli'].map((key) => [key, packages[key].version])),
    'Chart.yaml version': chart.version,
    'Chart.yaml appVersion': chart.appVersion,
    'docs/openapi.json': json('docs/openapi.json').info.version,
    ...Object.fromEntries(named.map((match) => [`docs/clients.md ${match.index}`, match[1]])),
    ...Object.fromEntries(installed.map((match) => [`docs/installing.md ${match.index}`, match[1]])),
  };
  assert.ok(named.length && installed.length);
  assert.deepEqual(versions, Object.fromEntries(Object.keys(versions).map((place) => [place, version])));
});
