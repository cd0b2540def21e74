import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { it } from '@jest/globals';
import type { Method } from '../../../../src/providers/kit/http/http-client.js';
import { signTc3 } from '../../../../src/providers/kit/signing/tc3.js';
import { describeUnless } from '../../../support/suites.js';
import { noRecordings, sharedFile } from '../../../support/vendor.js';

interface Vector {
  scheme: string;
  source?: string;
  by?: string;
  input: { method: Method; url: string; headers: Record<string, string>; body: string } & {
    timestamp?: number;
    service: string;
    secretId: string;
    secretKey: string;
    signedHeaders?: string;
  };
  expect: { Authorization?: string; Signature?: string };
}

const file = sharedFile('signature-vectors/vectors.json');
const reason = noRecordings || (existsSync(file) ? false : 'no signature vectors');
const vectors = reason ? [] : (JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }).vectors;

describeUnless(reason)('signatures of Tencent Cloud, version 3', () => {
  const all = vectors.filter(({ scheme }) => scheme === 'tencent-tc3-hmac-sha256');
  it('has vectors', () => assert.ok(reason || all.length >= 6));
  for (const [i, { input, source = '', by = '', expect }] of all.entries()) {
    it(`${i + 1}: ${input.method}, ${source || by}`, () => {
      const { method, url, headers: given, body, secretId, secretKey, service, signedHeaders } = input;
      const { host, ...headers } = Object.fromEntries(Object.entries(given).map(([k, v]) => [k.toLowerCase(), v]));
      const seconds = input.timestamp ?? Number(headers['x-tc-timestamp']);
      const request = { method, url: new URL(url), headers, body: body || undefined };
      const key = { secretId, secretKey, service };
      const signed = signTc3(request, key, new Date(seconds * 1000), signedHeaders?.split(';')).headers;
      assert.equal(host, request.url.host);
      assert.equal(signed['x-tc-timestamp'], String(seconds));
      if (expect.Authorization) assert.equal(signed.authorization, expect.Authorization);
      else assert.match(`${signed.authorization}`, new RegExp(`Signature=${expect.Signature}$`));
    });
  }
});
