import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { it } from '@jest/globals';
import type { Method } from '../../../../src/providers/kit/http/http-client.js';
import { signAcs3 } from '../../../../src/providers/kit/signing/acs3.js';
import { signAlibabaRpc } from '../../../../src/providers/kit/signing/alibaba-rpc.js';
import { describeUnless } from '../../../support/suites.js';
import { noRecordings, sharedFile } from '../../../support/vendor.js';

interface Vector {
  scheme: string;
  source?: string;
  by?: string;
  input: { method: Method; accessKeyId: string; accessKeySecret: string } & {
    params: Record<string, string>;
    path: string;
    query: Record<string, string>;
    headers: Record<string, string>;
    body: string;
  };
  expect: { Signature: string; Authorization: string };
}

const file = sharedFile('signature-vectors/vectors.json');
const reason = noRecordings || (existsSync(file) ? false : 'no signature vectors');
const vectors = reason ? [] : (JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }).vectors;
const of = (scheme: string) => vectors.filter((vector) => vector.scheme === scheme);
const title = ({ input, source = '', by = '' }: Vector, i: number) => `${i + 1}: ${input.method}, ${source || by}`;

describeUnless(reason)('signatures of Alibaba Cloud, RPC style', () => {
  const all = of('alibaba-rpc-hmac-sha1');
  it('has vectors', () => assert.ok(reason || all.length >= 3));
  for (const [i, vector] of all.entries()) {
    it(title(vector, i), () => {
      const { method, params, accessKeySecret } = vector.input;
      const { AccessKeyId = '', SignatureNonce, Timestamp = '', ...own } = params;
      const { SignatureMethod: _method, SignatureVersion: _version, ...asked } = own;
      const url = new URL('https://alidns.aliyuncs.com/');
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      const request = { method, url, headers: {}, body: undefined };
      const key = { accessKeyId: AccessKeyId, accessKeySecret };
      const signed = signAlibabaRpc(request, key, new Date(Timestamp), SignatureNonce);
      assert.deepEqual(Object.fromEntries(signed.url.searchParams), { ...params, Signature: vector.expect.Signature });
    });
  }
});

describeUnless(reason)('signatures of Alibaba Cloud, version 3', () => {
  const all = of('alibaba-acs3-hmac-sha256');
  it('has vectors', () => assert.ok(reason || all.length >= 3));
  for (const [i, vector] of all.entries()) {
    it(title(vector, i), () => {
      const { method, path, query, headers, body, accessKeyId, accessKeySecret } = vector.input;
      const { host, 'x-acs-date': date = '', 'x-acs-signature-nonce': nonce, ...own } = headers;
      const url = new URL(`https://${host}${path}`);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      const { 'x-acs-content-sha256': hash, ...asked } = own;
      const request = { method, url, headers: { accept: '*/*', ...asked }, body: body || undefined };
      const signed = signAcs3(request, { accessKeyId, accessKeySecret }, new Date(date), nonce).headers;
      assert.equal(signed.authorization, vector.expect.Authorization);
      assert.equal(signed['x-acs-content-sha256'], hash);
    });
  }
});
