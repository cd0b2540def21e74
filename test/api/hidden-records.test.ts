import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Answer, Client } from '../support/server.js';
import { done, ended, made, refused } from '../support/world.js';
import { type Files, startFiles } from '../support/zone-files.js';

const HIDDEN = /vault|TOP-SECRET|198\.51\.100/;
/** What an answer shows of a record that may not be read. */
const NOTHING = { host: '', type: '', value: '', priority: null, ttl: 0, unicode_host: '' };

describe('what the rules of a token hide is as what is not there', () => {
  let files: Files;
  let admin: Client;
  let records: Files['records'];
  const token = async (limits: object) =>
    files.server.as(made(await admin.post('/api/tokens', { name: 'narrow', ...limits })).token);
  /** What an answer tells, without what differs with each request. */
  const told = ({ status, code, msg, data }: Answer) => JSON.stringify({ status, code, msg, data });

  beforeAll(async () => {
    files = await startFiles('hidden.example');
    ({ admin, records } = files);
  });
  afterAll(() => files?.stop());

  it('by its id, whatever is asked of it: 404, as of an id that no record has', async () => {
    const { id } = made(await files.post({ host: 'vault', type: 'TXT', value: 'TOP-SECRET' }));
    const narrow = [
      [{ effect: 'allow', hosts: ['www'], types: ['A'] }],
      [{ effect: 'allow', types: ['A'] }],
      [{ effect: 'allow', types: ['TXT'], values: { text: { max_length: 3 } } }],
      [{ effect: 'allow' }, { effect: 'deny', hosts: ['vault'] }],
      [{ effect: 'allow' }, { effect: 'deny', hosts: ['vault'], actions: ['read'] }],
      [{ effect: 'allow', hosts: ['vault'], actions: ['update', 'delete', 'create'] }],
    ];
    for (const rules of narrow) {
      const client = await token({ rules });
      const calls = (n: number) => [
        () => client.get(`${records}/${n}`),
        () => client.put(`${records}/${n}`, {}),
        () => client.put(`${records}/${n}`, { host: 'other' }),
        () => client.put(`${records}/${n}`, { type: 'A', value: 'no address' }),
        () => client.patch(`${records}/${n}/status`, { enabled: true }),
        () => client.patch(`${records}/${n}/status`, { enabled: false }),
        () => client.delete(`${records}/${n}`),
        () => client.get(`${records}/${n}/propagation`),
      ];
      for (const [i, call] of calls(id).entries()) {
        const answer = refused(await call(), 404, 404001);
        assert.doesNotMatch(told(answer), HIDDEN);
        assert.equal(told(answer), told(await (calls(999_999)[i] as typeof call)()));
      }
      const lists = [{ op: 'update' }, { op: 'update', ttl: 77 }, { op: 'delete' }, { op: 'status', enabled: true }];
      for (const change of lists) {
        const sent = async (n: number) =>
          ended(await client.post(`${records}/batch`, { changes: [{ ...change, id: n }] })).outcomes;
        const outcomes = await sent(id);
        assert.deepEqual(
          outcomes?.map(({ ok, error }) => [ok, error?.code]),
          [[false, 404001]],
        );
        assert.deepEqual(outcomes, await sent(999_999));
      }
    }
    assert.equal(done(await admin.get(`${records}/${id}`)).value, 'TOP-SECRET');
  });

  it('in the list of the domain, with its count, also where everything is hidden', async () => {
    made(await files.post({ host: 'open', type: 'A', value: '192.0.2.1' }));
    const { total } = done(await admin.get(records));
    const seen = async (rules: object[]) => {
      const answer = done(await (await token({ rules })).get(`${records}?limit=1`));
      return [answer.total, answer.list.length];
    };
    const all = { effect: 'allow' };
    assert.deepEqual(await seen([all]), [total, 1]);
    assert.deepEqual(await seen([all, { effect: 'allow', hosts: ['open'] }]), [total, 1]);
    assert.deepEqual(await seen([all, { effect: 'deny', hosts: ['open'] }]), [total - 1, 1]);
    for (const deny of [{}, { hosts: ['**'] }, { actions: ['read'] }])
      assert.deepEqual(await seen([all, { effect: 'deny', ...deny }]), [0, 0]);
    assert.deepEqual(await seen([{ effect: 'allow', actions: ['create'] }]), [0, 0]);
  });

  it('by its id in a list that names its host besides, too', async () => {
    const { id } = made(await files.post({ host: 'beside', type: 'TXT', value: 'TOP-SECRET' }));
    const client = await token({ rules: [{ effect: 'allow', hosts: ['beside'], types: ['A'] }] });
    const upsert = { op: 'upsert', host: 'beside', type: 'A', value: '192.0.2.1' };
    for (const change of [
      { op: 'update' },
      { op: 'update', ttl: 77 },
      { op: 'delete' },
      { op: 'status', enabled: true },
    ]) {
      const sent = async (n: number) =>
        ended(await client.post(`${records}/batch`, { changes: [upsert, { ...change, id: n }] })).outcomes?.[1];
      const outcome = await sent(id);
      assert.deepEqual([outcome?.ok, outcome?.error?.code], [false, 404001]);
      assert.deepEqual(outcome, await sent(999_999));
    }
    assert.equal(done(await admin.get(`${records}/${id}`)).value, 'TOP-SECRET');
  });

  it('nobody learns by an upsert or a PUT of the set that a guess was right', async () => {
    made(await files.post({ host: 'vault', type: 'A', value: '198.51.100.7', ttl: 300 }));
    const blind = await token({
      rules: [{ effect: 'allow' }, { effect: 'deny', hosts: ['vault'], actions: ['read'] }],
    });
    const near = await token({ rules: [{ effect: 'allow', types: ['A'], values: { cidrs: ['192.0.2.0/24'] } }] });
    for (const client of [blind, near]) {
      const answers: string[] = [];
      for (const value of ['198.51.100.7', '198.51.100.8']) {
        const set = await client.put(`/api/domains/${files.domain}/rrsets/vault/A`, { values: [value], ttl: 300 });
        refused(set, 403, 403001);
        const changes = [{ op: 'upsert', host: 'vault', type: 'A', value, ttl: 300 }];
        const list = ended(await client.post(`${records}/batch`, { changes }));
        assert.deepEqual(
          list.outcomes?.map(({ error }) => error?.code),
          [403001],
        );
        answers.push(JSON.stringify([set.data, set.msg, list.outcomes]));
      }
      assert.equal(answers[0], answers[1]);
      const gone = refused(await client.delete(`/api/domains/${files.domain}/rrsets/vault/A`), 403, 403001);
      const none = refused(await client.delete(`/api/domains/${files.domain}/rrsets/vault/AAAA`), 403, 403001);
      assert.equal(told(gone).replaceAll('AAAA', 'A'), told(none).replaceAll('AAAA', 'A'));
      refused(await client.get(`/api/domains/${files.domain}/rrsets/vault/A`), 404, 404001);
    }
    assert.deepEqual(await files.values('?host=vault&type=A'), ['198.51.100.7']);
  });

  it('the number of members of a set is not told to who may not replace them', async () => {
    const client = await token({ rules: [{ effect: 'allow' }, { effect: 'deny', hosts: ['vault2'] }] });
    const path = `/api/domains/${files.domain}/rrsets/vault2/A` as const;
    const answers: string[] = [];
    for (const n of [0, 1, 2, 3]) {
      if (n) made(await files.post({ host: 'vault2', type: 'A', value: `198.51.100.${20 + n}`, ttl: 300 }));
      answers.push(told(refused(await client.delete(path), 403, 403001)));
    }
    assert.deepEqual([...new Set(answers)], [answers[0]]);
  });

  it('a caller that may write but not read gets back what it sent, and not whether it was there', async () => {
    const { id } = made(
      await files.post({ host: 'vault', type: 'MX', value: 'mx.example.net', priority: 33, ttl: 444 }),
    );
    const writer = await token({ allowed_services: ['records:write'] });
    const { host, type, value, priority, ttl, unicode_host } = done(await writer.put(`${records}/${id}`, {}));
    assert.deepEqual({ host, type, value, priority, ttl, unicode_host }, NOTHING);
    const change = { op: 'upsert', host: 'vault', type: 'MX', value: 'mx.example.net', priority: 33 };
    const right = done(await writer.post(`${records}/batch`, { changes: [change] }));
    assert.deepEqual([right.change_set_id, right.outcomes], [null, [{ ok: true, record_id: id, id }]]);
    const path = `/api/domains/${files.domain}/rrsets/vault/MX` as const;
    assert.equal(done(await writer.put(path, { values: ['33 mx.example.net'] })).changed, true);
  });
});
