import { timeMs } from '../../../platform/common/clock.js';
import { errorHooks } from '../http/errors.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { canonicalHeaders, canonicalPath, canonicalQuery, compactTime, hash, hmac } from './canonical.js';

/** Added on the way, or changed by it: not signed. */
const UNSIGNED = new Set(['accept', 'user-agent', 'authorization']);

interface HuaweiKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * A request with the headers of Huawei's SDK-HMAC-SHA256 (checked with the example of its signing guide and with what
 * its SDK computes). Unlike that of AWS the key is the secret itself, and the path that is signed ends with a slash.
 * @param now the date in the signature: a request older than 15 minutes is refused
 */
export function signHuawei(request: OutgoingRequest, key: HuaweiKey, now = new Date(timeMs())): OutgoingRequest {
  const { method, url, body = '' } = request;
  const date = compactTime(now);
  const headers: Record<string, string> = { ...request.headers, 'x-sdk-date': date };
  const signed = canonicalHeaders({ ...headers, host: url.host }, (name) => !UNSIGNED.has(name));
  const names = signed.map(([name]) => name).join(';');
  const path = canonicalPath(url).replace(/\/?$/, '/');
  const lines = signed.map(([name, value]) => `${name}:${value}`);
  const canonical = [method, path, canonicalQuery(url.searchParams), ...lines, '', names, hash(body)].join('\n');
  const signature = hmac(key.secretAccessKey, `SDK-HMAC-SHA256\n${date}\n${hash(canonical)}`).toString('hex');
  headers.authorization = `SDK-HMAC-SHA256 Access=${key.accessKeyId}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, headers };
}

type Failure = { [key in 'code' | 'message' | 'error_code' | 'error_msg']?: string };

/** Options of a client for Huawei Cloud: signature, errors, and what they mean. */
export const huaweiClient = (key: HuaweiKey) => ({
  sign: (request: OutgoingRequest) => signHuawei(request, key),
  ...errorHooks(
    (body) => {
      // the gateway has other names for them (error list of 2025)
      const { error_code, error_msg = '', code = error_code, message = error_msg } = (body ?? {}) as Failure;
      return code ? [{ code, message }] : [];
    },
    { rate_limit: ['APIGW.0308', 'DNS.0014'], auth: ['APIGW.0301', 'APIGW.0303', 'DNS.0005', 'DNS.0013'] },
  ),
});
