import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import { readCredentials } from '../../src/accounts/credentials.js';
import { AppError } from '../../src/platform/common/errors.js';
import { alternativesOf } from '../../src/providers/alternatives.js';
import type { CredentialField } from '../../src/providers/provider.js';
import { PROVIDERS } from '../../src/providers/registry.js';

const VALUES: Record<CredentialField['kind'], string> = {
  text: 'word',
  number: '53',
  url: 'https://dns.example.net',
  list: 'example.com,example.net',
};
const sampleOf = (field: CredentialField): string => field.values?.[0] ?? field.example ?? VALUES[field.kind];

describe('the credentials that kinds declare', () => {
  for (const definition of PROVIDERS) {
    const { kind, credentials } = definition;
    const alternatives = alternativesOf(definition);
    const valuesOf = (keys: readonly string[], at: number) =>
      Object.fromEntries(
        (credentials[at] as CredentialField[]).filter(({ key }) => keys.includes(key)).map((f) => [f.key, sampleOf(f)]),
      );

    it(`of ${kind} have words for people, and a page that tells of them`, () => {
      for (const { key, label, multiline, kind: input, values, example } of credentials.flat()) {
        assert.match(label, /^[A-Z]/, key);
        assert.ok(label.length <= 40 && !label.includes('_') && !/\bId\b|\bid$/.test(label), `${key}: ${label}`);
        if (multiline) assert.ok(input === 'text' && !values && !example, `${key} takes several lines`);
        if (/private_key|service_account|authorized_key/.test(key)) assert.ok(multiline, `${key} takes several lines`);
      }
      assert.ok(existsSync(`docs/providers/${kind}.md`));
    });

    it(`of ${kind} are taken by the groups that are shown, and by no part of one`, () => {
      assert.equal(new Set(alternatives.map(({ label }) => label)).size, alternatives.length);
      for (const [at, { label, required, optional }] of alternatives.entries()) {
        assert.ok(label);
        assert.deepEqual([...required, ...optional].sort(), (credentials[at] ?? []).map(({ key }) => key).sort());
        const whole = valuesOf([...required, ...optional], at);
        assert.deepEqual(Object.keys(readCredentials(definition, whole)).sort(), Object.keys(whole).sort());
        for (const key of required) {
          const part = required.filter((other) => other !== key);
          if (alternatives.some((other) => other.required.every((one) => part.includes(one)))) continue;
          assert.throws(
            () => readCredentials(definition, valuesOf(part, at)),
            (error) => error instanceof AppError && error.code === 400001,
            key,
          );
        }
        assert.ok(readCredentials(definition, valuesOf(required, at)));
      }
    });
  }

  it('are told apart by what each alternative asks for', () => {
    const labels = (kind: string) =>
      alternativesOf(PROVIDERS.find((one) => one.kind === kind) as (typeof PROVIDERS)[number]).map((a) => a.label);
    assert.deepEqual(labels('cloudflare'), ['API token', 'Email and Global API Key']);
    assert.deepEqual(labels('plesk'), ['Secret key', 'User name and Password']);
    assert.deepEqual(labels('oci'), ['Without View OCID', 'View OCID']);
  });
});
