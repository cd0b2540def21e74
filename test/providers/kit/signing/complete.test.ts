import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from '@jest/globals';
import { PROVIDERS } from '../../../../src/providers/registry.js';
import { describeUnless } from '../../../support/suites.js';
import { noRecordings, sharedFile } from '../../../support/vendor.js';

/** Which kinds sign by a scheme that there are vectors of: one of the schemes of a kind is enough. */
const KINDS: Record<string, readonly string[]> = {
  'alibaba-rpc-hmac-sha1': ['aliyun', 'aliesa'],
  'alibaba-acs3-hmac-sha256': ['aliyun', 'aliesa'],
  'tencent-tc3-hmac-sha256': ['tencentcloud', 'edgeone'],
  'huawei-sdk-hmac-sha256': ['huaweicloud'],
  'volcengine-hmac-sha256': ['volcengine'],
  'baidu-bce-auth-v1': ['baidu'],
  'jdcloud2-hmac-sha256': ['jdcloud'],
  'qingcloud-hmac-sha256': ['qingcloud'],
  'aws-sigv4': ['route53'],
  'ovh-sha1': ['ovh'],
};

describeUnless(noRecordings)('vectors of signatures', () => {
  const tests = readdirSync(__dirname).filter((file) => file.endsWith('.test.ts') && !file.startsWith('complete'));
  const texts = tests.map((file) => readFileSync(`${__dirname}/${file}`, 'utf8')).join('\n');
  const tested = (scheme: string) => texts.includes(scheme);

  it('are of schemes that are known here', () => {
    const { vectors, ...rest } = JSON.parse(readFileSync(sharedFile('signature-vectors/vectors.json'), 'utf8')) as {
      vectors?: { scheme: string }[];
    };
    const all = (vectors ?? (Array.isArray(rest) ? rest : [])) as { scheme: string }[];
    assert.ok(all.length > 0);
    assert.deepEqual(
      [...new Set(all.map(({ scheme }) => scheme))].filter((scheme) => !(scheme in KINDS)),
      [],
    );
  });

  it('are used by a test, for each kind that signs by one', () => {
    const untested = PROVIDERS.filter(({ kind }) => {
      const schemes = Object.keys(KINDS).filter((scheme) => KINDS[scheme]?.includes(kind));
      return schemes.length > 0 && !schemes.some(tested);
    });
    assert.deepEqual(
      untested.map(({ kind }) => kind),
      [],
    );
  });
});
