import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Connected } from '../../../src/providers/connect.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { yandexcloud } from '../../../src/providers/yandexcloud/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startYandexcloud, type YandexSet } from './stand-in.js';

/** The same without the limit of 10 requests a second, which only makes a test wait. */
const fast = { ...yandexcloud, limits: { ...yandexcloud.limits, requests: 1000 } };
const connect = (standIn: StandIn, authorized_key: string, folder_id = 'b1gfolder'): DnsProvider =>
  connectTo(fast, { authorized_key, folder_id, endpoint: standIn.url });
const zone = { id: 'dns0contractexample0', name: 'contract.example' };
/** A key of somebody else with the same names. */
const foreign = (key: string) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return JSON.stringify({ ...JSON.parse(key), private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
};

providerContract('Yandex Cloud (stand-in)', async () => {
  const standIn = await startYandexcloud();
  standIn.state.page = 2;
  const stranger = connect(standIn, foreign(standIn.key));
  const provider = connect(standIn, standIn.key);
  return { provider, definition: yandexcloud, zone, standIn, stranger, stop: standIn.stop };
});

describe('Yandex Cloud', () => {
  const vendor = standInFor(startYandexcloud, (standIn) => connect(standIn, standIn.key));
  const a = (host: string, value: string) => dnsRecord({ type: 'A', host, value, ttl: 300 }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const set = (name: string, type: string, data: string[], ttl = '300'): YandexSet => ({
    ...{ name: `${name}.contract.example.`, type, ttl, data },
  });
  const at = async (host: string) => (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);
  const held = (name: string) => vendor.standIn.state.sets.filter((s) => s.name === `${name}.contract.example.`);
  const drop = (name: string) => {
    vendor.standIn.state.sets = vendor.standIn.state.sets.filter((s) => s.name !== `${name}.contract.example.`);
  };

  it('fetches one token for all calls, and another one when it is refused', async () => {
    const asked = async (body: () => Promise<unknown>) => {
      const before = vendor.standIn.state.asked;
      await body();
      return vendor.standIn.state.asked - before;
    };
    const mine = connect(vendor.standIn, vendor.standIn.key);
    assert.equal(await asked(() => Promise.all([mine.check(), mine.listZones(), mine.listRecords(zone)])), 1);
    assert.equal(await asked(() => mine.check()), 0);
    vendor.standIn.state.tokens.splice(1);
    assert.equal(await asked(() => mine.check()), 1);
  });

  it('keeps the description of a set through every edit, and where it is made anew', async () => {
    const description = 'of the shop';
    vendor.standIn.state.sets.push({ ...set('said', 'A', ['192.0.2.1']), description });
    const told = (name: string) => held(name).map((one) => `${one.data} ${one.ttl} ${one.description}`);
    const first = async (host: string) => (await at(host))[0] as RemoteRecord;
    const edits: [() => Promise<Change>, string, string][] = [
      [async () => ({ op: 'create', after: a('said', '192.0.2.2') }), 'said', '192.0.2.1,192.0.2.2 300'],
      [
        async () => ({ op: 'update', before: await first('said'), after: a('said', '192.0.2.3') }),
        'said',
        '192.0.2.3,192.0.2.2 300',
      ],
      [async () => ({ op: 'delete', before: await first('said') }), 'said', '192.0.2.2 300'],
      [
        async () => ({ op: 'update', before: await first('said'), after: { ...a('said', '192.0.2.2'), ttl: 60 } }),
        'said',
        '192.0.2.2 60',
      ],
      [
        async () => ({ op: 'update', before: await first('said'), after: { ...a('moved', '192.0.2.2'), ttl: 60 } }),
        'moved',
        '192.0.2.2 60',
      ],
    ];
    for (const [change, name, expected] of edits) {
      assert.ok((await one(await change()))?.ok, expected);
      assert.deepEqual(told(name), [`${expected} ${description}`]);
    }
    const before = await first('moved');
    const [found] = (await (vendor.provider as Connected).recordsAt(zone, [{ host: 'moved', type: 'A' }])) ?? [];
    assert.deepEqual(found, before);
    const { remoteId: _id, readOnly: _readOnly, ...after } = before;
    for (const change of [
      { op: 'delete', before },
      { op: 'create', after },
    ] as const)
      assert.ok((await one(change))?.ok);
    assert.deepEqual(told('moved'), [`192.0.2.2 60 ${description}`]);
    drop('moved');
  });

  it('takes an OAuth token, and an IAM token as it is', async () => {
    const by = (token: string) => connectTo(fast, { token, folder_id: 'b1gfolder', endpoint: vendor.standIn.url });
    const before = vendor.standIn.state.asked;
    await by('t1.direct').check();
    assert.equal(vendor.standIn.state.asked, before);
    await by('y0_oauth').check();
    assert.equal(vendor.standIn.state.asked, before + 1);
    await assert.rejects(by('y0_other').check(), { kind: 'auth', message: /OAuth token is invalid/ });
    await assert.rejects(by('t1.other').check(), { kind: 'auth', message: /token is invalid/ });
  });

  it('says what is refused, and nothing of the key', async () => {
    await assert.rejects(connect(vendor.standIn, foreign(vendor.standIn.key)).check(), {
      kind: 'auth',
      message: /JWT is invalid/,
    });
    for (const text of ['{"private_key": "abc', '{"private_key": "abc"}', '{"id": "abc"}'])
      await assert.rejects(connect(vendor.standIn, text).check(), (error: Error & { kind: string }) => {
        assert.equal(error.kind, 'auth');
        assert.doesNotMatch(error.message, /abc/);
        return true;
      });
    await assert.rejects(connect(vendor.standIn, vendor.standIn.key, 'b1gother').listZones(), { kind: 'auth' });
    await assert.rejects(vendor.provider.listRecords({ id: 'dns0', name: 'x.example' }), { kind: 'not_found' });
  });

  it('tells private zones from public ones, of which it finds those', async () => {
    const hidden = { ...zone, id: 'dns0privateexample00', private: true };
    assert.deepEqual(await vendor.provider.listZones(), [hidden, zone]);
    assert.deepEqual(await vendor.provider.findZone?.(zone.name), zone);
    const all = vendor.standIn.state.zones;
    vendor.standIn.state.zones = all.slice(0, 1);
    assert.deepEqual(await vendor.provider.listZones(), [hidden]);
    assert.equal(await vendor.provider.findZone?.(zone.name), null);
    vendor.standIn.state.zones = [];
    await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable', message: /no zones/ });
    vendor.standIn.state.zones = all;
  });

  it('changes nothing that was changed meanwhile, but reads it again', async () => {
    for (const meanwhile of [
      set('race', 'A', ['192.0.2.1', '192.0.2.7']),
      set('race', 'A', ['192.0.2.1'], '60'),
      null,
    ]) {
      vendor.standIn.state.sets.push(set('race', 'A', ['192.0.2.1']));
      const { handler } = vendor.standIn;
      vendor.standIn.handler = (request) => {
        if (request.path.endsWith(':updateRecordSets')) {
          drop('race');
          if (meanwhile) vendor.standIn.state.sets.push(meanwhile);
          vendor.standIn.handler = handler;
        }
        return handler(request);
      };
      const outcome = await one({ op: 'create', after: a('race', '192.0.2.2') });
      assert.ok(outcome?.ok, outcome?.ok === false ? outcome.error.message : '');
      const values = (await at('race')).map((r) => r.value);
      assert.deepEqual(values.toSorted(), [...(meanwhile?.data ?? []), '192.0.2.2'].toSorted());
      drop('race');
    }
  });

  it('reads texts with quotes and without, and leaves those beside a change as they are', async () => {
    vendor.standIn.state.sets.push(set('texts', 'TXT', ['as it is; "so"', '"in" " quotes"'], '0'));
    delete (held('texts')[0] as YandexSet).ttl;
    const [plain, quoted] = (await at('texts')) as [RemoteRecord, RemoteRecord];
    assert.deepEqual([plain.value, quoted.value, plain.ttl], ['as it is; "so"', 'in quotes', 0]);
    assert.ok((await one({ op: 'update', before: quoted, after: { ...quoted, value: 'other' } }))?.ok);
    assert.deepEqual(held('texts')[0]?.data, ['as it is; "so"', '"other"']);
    drop('texts');
  });

  it('waits for an operation that is not done yet, and takes one without an end for an error', async () => {
    vendor.standIn.state.slow = 2;
    const before = vendor.standIn.requests.length;
    assert.ok((await one({ op: 'create', after: a('slow', '192.0.2.1') }))?.ok);
    assert.equal(vendor.standIn.requests.slice(before).filter((r) => r.path.startsWith('/operations/')).length, 3);
    vendor.standIn.state.slow = 0;
    const { handler } = vendor.standIn;
    const failed = { id: 'x', done: true, error: { code: 9, message: 'not like this' } };
    for (const [body, kind] of [
      [{}, 'unavailable'],
      [failed, 'rejected'],
      [{ ...failed, error: { code: 14, message: 'busy' } }, 'unavailable'],
    ] as const) {
      vendor.standIn.handler = (request) => (request.path.endsWith(':updateRecordSets') ? { body } : handler(request));
      const outcome = await one({ op: 'create', after: a('slow', '192.0.2.2') });
      assert.equal(outcome && !outcome.ok && outcome.error.kind, kind);
    }
    vendor.standIn.handler = handler;
    drop('slow');
  });

  it('believes an empty list only where the zone itself answers', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (request.path.endsWith(':listRecordSets') ? { body: {} } : handler(request));
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
    vendor.standIn.handler = (request) => (request.path.startsWith('/zones/') ? { body: {} } : handler(request));
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });
});
