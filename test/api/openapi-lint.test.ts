import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { startService } from '../support/server.js';

/** Beside those that the linter recommends, of which none is turned off. */
const RULES = [
  'array-parameter-serialization',
  'component-name-unique',
  'no-invalid-parameter-examples',
  'no-invalid-schema-examples',
  'no-required-schema-properties-undefined',
  'operation-description',
  'operation-singular-tag',
  'operation-tag-defined',
  'parameter-description',
  'spec-strict-refs',
];

describe('a public linter', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  beforeAll(async () => {
    service = await startService('sqlite');
  });
  afterAll(() => service.stop());

  const lint = async (source: string) => {
    const rules = Object.fromEntries(RULES.map((rule) => [rule, 'error' as const]));
    const config = await createConfig({ extends: ['recommended'], rules });
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    return problems.map((p) => `${p.ruleId}: ${p.message} ${p.location[0]?.pointer}`);
  };

  it('finds nothing to complain about in the OpenAPI document', async () => {
    const source = await (await fetch(`${service.server.url}/api/openapi.json`)).text();
    assert.deepEqual(await lint(source), []);
    // and would tell
    const broken = JSON.parse(source);
    delete broken.tags;
    broken.paths['/api/auth/login'].post.requestBody.content['application/json'].example = { username: 'admin' };
    const rules = (await lint(JSON.stringify(broken))).map((problem) => problem.split(':')[0]);
    assert.deepEqual([...new Set(rules)].toSorted(), ['no-invalid-media-type-examples', 'operation-tag-defined']);
  });
});
