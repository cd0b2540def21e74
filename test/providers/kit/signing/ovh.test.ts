import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { it } from '@jest/globals';
import type { Method } from '../../../../src/providers/kit/http/http-client.js';
import { signOvh } from '../../../../src/providers/kit/signing/ovh.js';
import { describeUnless } from '../../../support/suites.js';
import { noRecordings, sharedFile } from '../../../support/vendor.js';

interface Vector {
  scheme: string;
  input: { method: Method; url: string; body: string; timestamp: number; appSecret: string; consumerKey: string };
  expect: Record<string, string>;
}

const file = sharedFile('signature-vectors/vectors.json');
const reason = noRecordings || (existsSync(file) ? false : 'no signature vectors');

describeUnless(reason)('signatures of OVH', () => {
  const { vectors } = (reason ? { vectors: [] } : JSON.parse(readFileSync(file, 'utf8'))) as { vectors: Vector[] };
  const ours = vectors.filter((vector) => vector.scheme === 'ovh-sha1');
  it('has vectors', () => assert.ok(ours.length > 0));

  for (const { input, expect } of ours) {
    it(`${input.method} ${input.url}`, () => {
      const { method, url, body, timestamp, appSecret, consumerKey } = input;
      const key = { application_key: 'app', application_secret: appSecret, consumer_key: consumerKey };
      const { headers } = signOvh({ method, url: new URL(url), headers: {}, body: body || undefined }, key, timestamp);
      for (const [name, value] of Object.entries(expect)) assert.equal(headers[name.toLowerCase()], value);
      assert.equal(headers['x-ovh-timestamp'], String(timestamp));
    });
  }
});
