import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { it } from '@jest/globals';
import type { Method } from '../../../../src/providers/kit/http/http-client.js';
import { signV4 } from '../../../../src/providers/kit/signing/sigv4.js';
import { describeUnless } from '../../../support/suites.js';
import { noRecordings, sharedFile } from '../../../support/vendor.js';

interface Case {
  name: string;
  context: {
    credentials: { access_key_id: string; secret_access_key: string; token?: string };
    normalize: boolean;
    omit_session_token?: boolean;
    region: string;
    service: string;
    sign_body: boolean;
    timestamp: string;
  };
  request: string;
  signature: string;
}

const file = sharedFile('signature-vectors/aws-sigv4-suite.json');
const reason = noRecordings || (existsSync(file) ? false : 'no signature vectors');

describeUnless(reason)('signatures of AWS, version 4', () => {
  const { cases } = (reason ? { cases: [] } : JSON.parse(readFileSync(file, 'utf8'))) as { cases: Case[] };
  // `URL` normalises paths; the hash of the body as a header is demanded by other services
  const ours = cases.filter(({ context }) => context.normalize && !context.sign_body);
  it('covers what requests of ours can be', () => assert.ok(ours.length > 20));

  for (const { name, context, request, signature } of ours) {
    it(name, () => {
      const [head = '', body] = request.split('\n\n');
      const [line = '', ...lines] = head.replace(/\n +/g, ' ').trimEnd().split('\n');
      const [, method, target] = /^(\S+) (.+) HTTP\/1\.1$/.exec(line) as unknown as [string, Method, string];
      const headers: Record<string, string> = {};
      let host = '';
      for (const [, field, value] of lines.map(
        (l) => /^([^:]+):(.*)$/.exec(l) as unknown as [string, string, string],
      )) {
        const key = field.toLowerCase();
        if (key === 'host') host = value.trim();
        else headers[key] = key in headers ? `${headers[key]},${value.trim()}` : value;
      }
      const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, token } = context.credentials;
      const outgoing = { method, url: new URL(`https://${host}${target}`), headers, body: body || undefined };
      const key = {
        ...{ accessKeyId, secretAccessKey, region: context.region, service: context.service },
        ...(token && !context.omit_session_token ? { sessionToken: token } : {}),
      };
      const { authorization } = signV4(outgoing, key, new Date(context.timestamp)).headers;
      assert.match(authorization as string, new RegExp(`Signature=${signature}$`));
    });
  }
});
