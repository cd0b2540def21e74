import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { noPowerdns } from '../support/powerdns.js';
import type { Answer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused, startWorld, type World } from '../support/world.js';

describeUnless(noPowerdns)('what a failure says', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('sqlite', { PROVIDER_TIMEOUT_MS: '2000', OUTBOUND_DENY: '198.51.100.0/24' });
  });
  afterAll(() => world?.stop());
  afterEach(() => {
    world.proxy.fault = null;
  });
  const failed = async (answer: Promise<Answer>) => refused(await answer, 500, 500002).data;
  const told = (kind: string, retryable: boolean, applied: string) => ({
    provider: 'powerdns',
    kind,
    reason: `provider_${kind}`,
    retryable,
    applied,
  });

  it('of a provider: which, of what kind, whether to try again, and whether anything was changed', async () => {
    const { admin, account, proxy, pdns, domain } = world;
    const { records } = world;
    const credentials = { url: proxy.url, api_key: pdns.apiKey };
    const stored = (more: object) =>
      admin.post('/api/accounts', { provider: 'powerdns', name: 'x', credentials: { ...credentials, ...more } });
    assert.deepEqual(await failed(stored({ api_key: 'wrong-key' })), told('auth', false, 'no'));
    assert.deepEqual(await failed(stored({ url: 'http://198.51.100.1' })), told('rejected', false, 'no'));
    const { id } = made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
    const record = { host: 'www', type: 'A', value: '192.0.2.2' };
    const writes: [string, () => Promise<Answer>][] = [
      ['create', () => admin.post(records, record)],
      ['update', () => admin.put(`${records}/${id}`, { value: '192.0.2.3' })],
      ['status', () => admin.patch(`${records}/${id}/status`, { enabled: false })],
      ['delete', () => admin.delete(`${records}/${id}`)],
    ];
    const reads: [string, () => Promise<Answer>][] = [
      ['sync', () => admin.post(`/api/accounts/${account}/sync`)],
      [
        'check',
        () => admin.put(`/api/accounts/${account}`, { credentials: { ...credentials, api_key: 'another-key' } }),
      ],
      ['zones', () => admin.post('/api/domains', { name: 'other.example', account_id: account })],
      ['records', () => admin.get(`/api/domains/${domain}/records?refresh=true`)],
    ];
    proxy.fault = async () => ({ status: 422, body: '{"error": "no"}' });
    for (const [what, call] of [...writes, ...reads])
      assert.deepEqual(await failed(call()), told('rejected', false, 'no'), what);
    proxy.fault = async () => ({ status: 429, body: '{"error": "slow down"}' });
    assert.deepEqual(await failed((writes[0] as (typeof writes)[0])[1]()), told('rate_limit', true, 'no'));
    proxy.fault = async () => 'close';
    for (const [what, call] of reads) assert.deepEqual(await failed(call()), told('unavailable', true, 'no'), what);
    proxy.fault = async ({ method }, forward) => (method === 'PATCH' ? 'close' : forward());
    for (const [what, call] of writes)
      assert.deepEqual(await failed(call()), told('unavailable', true, 'unknown'), what);
    await proxy.down();
    assert.deepEqual(await failed((writes[0] as (typeof writes)[0])[1]()), told('unavailable', true, 'no'));
    await proxy.up();
  });

  it('of an answer that is nested too deeply: that it cannot be read', async () => {
    const { admin, account, proxy, domain, pdns, zone } = world;
    const nested = '['.repeat(200_000) + ']'.repeat(200_000);
    const whole = JSON.stringify(await pdns.zone(zone));
    const answers = {
      'the list': `{"rrsets":${nested}}`,
      'a set': whole.replace('"rrsets":[', `"rrsets":[{"name":"x.${zone}.","type":"A","ttl":60,"records":${nested}},`),
      'what stands beside it': `${whole.slice(0, -1)},"more":${nested}}`,
      'a failure': nested,
    };
    for (const [what, body] of Object.entries(answers)) {
      proxy.fault = async ({ path }, forward) =>
        path.includes(zone) ? { status: what === 'a failure' ? 500 : 200, body } : forward();
      const answer = await admin.get(`/api/domains/${domain}/records?refresh=true`);
      assert.deepEqual(await failed(Promise.resolve(answer)), told('unavailable', true, 'no'), what);
      if (what !== 'a failure') assert.match(answer.msg, /cut off or is not JSON/, what);
      assert.equal(done(await admin.post(`/api/accounts/${account}/sync`)).failed, 1, what);
    }
    proxy.fault = null;
    done(await admin.get(`/api/domains/${domain}/records?refresh=true`));
    await world.agree();
  });

  it('of a creation that failed, in the audit log: no id, since there is none', async () => {
    const { admin, records, proxy, domain } = world;
    const last = async () => done(await admin.get('/api/audit/logs?limit=1')).list[0];
    refused(await admin.post(records, { host: 'www', type: 'A', value: 'nonsense' }), 400, 400001);
    const refusal = await last();
    assert.deepEqual(
      [refusal.action, refusal.result, refusal.target?.id, refusal.domain_id],
      ['record.create', 'failed', null, domain],
    );
    proxy.fault = async () => ({ status: 422, body: '{"error": "no"}' });
    await failed(admin.post(records, { host: 'www', type: 'A', value: '192.0.2.77' }));
    assert.deepEqual((await last()).target?.id, null);
    proxy.fault = null;
    refused(await admin.put(`${records}/999999`, { ttl: 60 }), 404, 404001);
    assert.deepEqual((await last()).target?.id, 999_999);
    const { id } = made(await admin.post('/api/teams', { name: 'team' }));
    refused(await admin.post(`/api/teams/${id}/members`, { user_id: 'x' }), 400, 400001);
    const member = await last();
    assert.deepEqual([member.action, member.target?.id], ['member.create', null]);
  });
});
