import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { signOci } from '../../../../src/providers/kit/signing/oci.js';
import { privateKeyOf } from '../../../../src/providers/kit/signing/transip.js';

/** The published key of the specification, without its frame. */
const KEY = [
  'MIICXgIBAAKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EO',
  'cpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1fIekaxsyQIDAQABAoGBAJR8ZkCUvx5kzv+utdl7T5MnordT',
  '1TvoXXJGXK7ZZ+UuvMNUCdN2QPc4sBiAQWvLw1cSKt5DsKZ8UETpYPy8pPYnnDEz2dDYiaew9+xEpubyeW2oH4Zx71wqBtOKkqwrXa/pzdpiucRR',
  'jk6vE6YY7EBBs/g7uanVpGibOVAEsqH1AkEA7DkjVH28WDUgf1nqvfn2Kj6CT7nIcE3jGJsZZ7zlZmBmHFDONMLUrXR/Zm3pR5m0tCmBqa5RK95u',
  '412jt1dPIwJBANJT3v8pnkth48bQo/fKel6uEYyboRtA5/uHuHkZ6FQF7OUkGogcmSJluOdc5t6hI1VsLn0QZEjQZMEOWr+wKSMCQQCC4kXJEsHA',
  've77oP6HtG/IiEn7kpyUXRNvFsDE0czpJJBvL/aRFUJxuRK91jhjC68sA7NsKMGg5OXb5I5Jj36xAkEAgIT7aFOYBFwGgQAQkWNKLvySgKbAZRTe',
  'LBacpHMuQdl1DfdntvAyqpAZ0lY0RKmWG6aFKaqQfOXKCyWoUiVknQJAXrlgySFci/2ueKlIE1QqIiLSZ8V8OlpFLRnb1pzI7U1yQXnTAEFYM560',
  'yJlzUpOb1V4cScGd365tiSMvxLOvTA==',
].join('');
const DATE = 'Thu, 05 Jan 2014 21:31:40 GMT';
const API = 'https://iaas.us-phoenix-1.oraclecloud.com/20160918';
const COMPARTMENT = 'ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa';
const VOLUME = 'ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q';
const INSTANCE = 'ocid1.instance.oc1.phx.abuw4ljrlsfiqw6vzzxb43vyypt4pkodawglp3wqxjqofakrwvou52gb6s5a';

// the vectors of Oracle's documentation ("Request Signatures")
describe('signatures of Oracle Cloud', () => {
  const frame = (end: string) => `-----${end} RSA PRIVATE KEY-----`;
  const key = privateKeyOf(`${frame('BEGIN')}\n${KEY}\n${frame('END')}`);

  it('are of date, target and host', () => {
    const query = `availabilityDomain=Pjwf%3A%20PHX-AD-1&compartmentId=${COMPARTMENT}&displayName=TeamXInstances`;
    const url = new URL(`${API}/instances?${query}&volumeId=${VOLUME}`);
    const { headers } = signOci({ method: 'GET', url, headers: {}, body: undefined }, 't/u/f', key, DATE);
    assert.equal(
      headers.authorization,
      'Signature version="1",headers="date (request-target) host",keyId="t/u/f",algorithm="rsa-sha256",' +
        'signature="GBas7grhyrhSKHP6AVIj/h5/Vp8bd/peM79H9Wv8kjoaCivujVXlpbKLjMPeDUhxkFIWtTtLBj3sUzaFj34XE6YZAHc9r2Dm' +
        'E4pMwOAy/kiITcZxa1oHPOeRheC0jP2dqbTll8fmTZVwKZOKHYPtrLJIJQHJjNvxFWeHQjMaR7M="',
    );
  });

  it('are of the body as well, where there is one', () => {
    const body = JSON.stringify({ compartmentId: COMPARTMENT, instanceId: INSTANCE, volumeId: VOLUME }, null, 4);
    const url = new URL(`${API}/volumeAttachments`);
    const request = { method: 'POST' as const, url, headers: { 'content-type': 'application/json' }, body };
    const { headers } = signOci(request, 't/u/f', key, DATE);
    assert.equal(headers['content-length'], '316');
    assert.equal(headers['x-content-sha256'], 'V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=');
    const signed = 'headers="date (request-target) host content-length content-type x-content-sha256"';
    assert.ok(headers.authorization?.includes(signed));
    const [, signature] = /,signature="([^"]*)"$/.exec(headers.authorization ?? '') ?? [];
    assert.equal(
      signature,
      'Mje8vIDPlwIHmD/cTDwRxE7HaAvBg16JnVcsuqaNRim23fFPgQfLoOOxae6WqKb1uPjYEl0qIdazWaBy/Ml8DRhqlocMwoSXv0fbukP8J5N80LCm' +
        'zT/FFBvIvTB91XuXI3hYfP9Zt1l7S6ieVadHUfqBedWH0itrtPJBgKmrWso=',
    );
  });
});
