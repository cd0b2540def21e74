import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { basic, logOf, type Said, say, tokenOf } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, ask, done, made, startWorld, type World } from '../support/world.js';

const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';

interface Endpoint {
  dnsName: string;
  recordType: string;
  targets: string[];
  recordTTL?: number;
  labels?: object | null;
  providerSpecific?: object[];
  setIdentifier?: string;
}

const endpoint = (dnsName: string, recordType: string, targets: string[], more: object = {}): Endpoint => ({
  ...{ dnsName, recordType, targets },
  ...more,
});
const owner = (name: string) => endpoint(name, 'TXT', ['"heritage=external-dns,external-dns/owner=me"']);

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the door external-dns, on ${kind}`, () => {
    let world: World;
    let token: string;

    beforeAll(async () => {
      world = await startWorld(kind);
      token = await tokenOf(world.admin, ['external-dns']);
    });
    afterAll(() => world.stop());
    beforeEach(() => {
      world.proxy.fault = null;
    });

    const at = (what: string) => `${world.server.url}/doors/external-dns${what}`;
    /** as ExternalDNS asks */
    const get = (what: string, authorization = basic(token)): Promise<Said> =>
      say(at(what), 'GET', { authorization, accept: MEDIA_TYPE });
    const post = (what: string, body: unknown, authorization = basic(token)): Promise<Said> =>
      say(at(what), 'POST', { authorization, accept: MEDIA_TYPE, 'content-type': MEDIA_TYPE }, body);
    const apply = (changes: Record<string, Endpoint[] | null>, authorization?: string) =>
      post('/records', { create: null, updateOld: null, updateNew: null, delete: null, ...changes }, authorization);
    const list = async (authorization?: string): Promise<Endpoint[]> => {
      const answer = await get('/records', authorization);
      assert.equal(answer.status, 200, answer.text);
      return JSON.parse(answer.text);
    };
    const shown = async (name: string, type: string) =>
      (await list()).find(({ dnsName, recordType }) => dnsName === name && recordType === type);
    const applied = async (changes: Record<string, Endpoint[] | null>) => {
      const answer = await apply(changes);
      assert.deepEqual([answer.status, answer.text], [204, '']);
    };
    const values = async (name: string, type: string) =>
      (await ask(world.pdns.dnsPort, name, type)).map(({ rdata }) => rdata).sort();
    const writes = () => world.proxy.requests.filter(({ method }) => method === 'PATCH').length;

    it('tells the zones of its token, with the very media type that clients compare', async () => {
      for (const path of ['', '/']) {
        for (const authorization of [basic(token), `Bearer ${token}`]) {
          const answer = await get(path, authorization);
          assert.deepEqual(
            [answer.status, answer.headers.get('content-type'), answer.text],
            [200, MEDIA_TYPE, '{"include":["example.com"]}'],
          );
        }
      }
      assert.equal((await get('/records')).headers.get('content-type'), MEDIA_TYPE);
      assert.equal((await post('/adjustendpoints', [])).headers.get('content-type'), MEDIA_TYPE);
      const other = MEDIA_TYPE.replace('1', '2');
      const authorization = basic(token);
      assert.equal((await say(at('/'), 'GET', { authorization, accept: other })).status, 406);
      assert.equal((await say(at('/records'), 'POST', { authorization, 'content-type': other }, '{}')).status, 415);
    });

    it('leaves out a name that two of its zones have', async () => {
      const ids: number[] = [];
      for (const credentials of [{}, { directory: 'elsewhere' }])
        ids.push(
          await addDomain(world.admin, await addAccount(world.admin, 'zonefile', credentials), 'two.example', true),
        );
      assert.equal((await get('/')).text, '{"include":["example.com"]}');
      for (const id of ids) done(await world.admin.delete(`/api/domains/${id}`));
    });

    it('refuses a token without any zone, since an empty filter stands for all', async () => {
      const ada = { username: 'ada', password: 'correct-horse-battery-9' };
      made(await world.admin.post('/api/users', { ...ada, role: 1 }));
      const hers = await tokenOf(world.server.as(await world.server.login(ada)), ['external-dns']);
      const answer = await get('/', basic(hers));
      assert.equal(answer.status, 403);
      assert.match(answer.text, /no zone/);
    });

    it('gives back what was asked, of each type, and needs no second round', async () => {
      const long = 'x'.repeat(400);
      const all = [
        endpoint('a.example.com', 'A', ['192.0.2.1', '192.0.2.2'], { recordTTL: 300 }),
        endpoint('a.example.com', 'AAAA', ['2001:db8::1'], { recordTTL: 120 }),
        endpoint('*.wild.example.com', 'CNAME', ['a.example.net'], { recordTTL: 300 }),
        endpoint('mx.example.com', 'MX', ['10 mail.example.net', '20 mail2.example.net'], { recordTTL: 300 }),
        endpoint('_sip._udp.example.com', 'SRV', ['10 5 5060 sip.example.net.'], { recordTTL: 300 }),
        endpoint('n.example.com', 'NAPTR', ['100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .'], {
          recordTTL: 300,
        }),
        endpoint('sub.example.com', 'NS', ['ns1.example.net'], { recordTTL: 300 }),
        endpoint('p.example.com', 'PTR', ['host.example.net'], { recordTTL: 300 }),
        endpoint('t.example.com', 'TXT', [`"heritage=external-dns,k=${long}"`, '"a \\"b\\" \\\\c"'], {
          recordTTL: 300,
        }),
      ];
      const adjusted = await post('/adjustendpoints', all);
      assert.equal(adjusted.status, 200);
      assert.deepEqual(JSON.parse(adjusted.text), all);
      await applied({ create: all });
      const now = await list();
      for (const one of all) {
        const found = now.find((e) => e.dnsName === one.dnsName && e.recordType === one.recordType);
        assert.deepEqual({ ...found, targets: found?.targets.toSorted() }, { ...one, targets: one.targets.toSorted() });
      }
      // the same once more, since the answer was lost
      const before = writes();
      await applied({ create: all });
      assert.equal(writes(), before);
      assert.deepEqual(await values('mx.example.com', 'MX'), ['10 mail.example.net.', '20 mail2.example.net.']);
      assert.deepEqual(await values('_sip._udp.example.com', 'SRV'), ['10 5 5060 sip.example.net.']);
      const zone = done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list;
      assert.deepEqual([zone[0]?.door, zone[0]?.door_key], ['door', 'external-dns']);
    });

    it('adjusts what would never come back as it is', async () => {
      const odd = [
        endpoint('Odd.Example.com.', 'A', ['192.0.2.9', '192.0.2.9'], { labels: { owner: 'me' } }),
        endpoint('odd.example.com', 'TXT', ['plain words'], { providerSpecific: [{ name: 'x', value: 'y' }] }),
        endpoint('_o._tcp.example.com', 'SRV', ['1 2 3 Sip.Example.net']),
        endpoint('odd.example.net', 'A', ['192.0.2.9']),
        endpoint('bad.example.com', 'A', ['nowhere']),
      ];
      const { text } = await post('/adjustendpoints', odd);
      const [a, txt, srv, foreign, bad] = odd as [Endpoint, Endpoint, Endpoint, Endpoint, Endpoint];
      assert.deepEqual(JSON.parse(text), [
        { ...a, dnsName: 'odd.example.com', targets: ['192.0.2.9'] },
        endpoint('odd.example.com', 'TXT', ['"plain words"']),
        { ...srv, targets: ['1 2 3 sip.example.net.'] },
        foreign,
        bad,
      ]);
      assert.ok(txt.providerSpecific);
    });

    it('changes and deletes what is named, and nothing else', async () => {
      const old = endpoint('u.example.com', 'A', ['192.0.2.1', '192.0.2.2'], { recordTTL: 300 });
      const fresh = endpoint('u.example.com', 'A', ['192.0.2.2', '192.0.2.3'], { recordTTL: 60 });
      await applied({ create: [old, owner('a-u.example.com'), endpoint('keep.example.com', 'A', ['192.0.2.7'])] });
      await applied({ updateOld: [old], updateNew: [fresh] });
      assert.deepEqual(await values('u.example.com', 'A'), ['192.0.2.2', '192.0.2.3']);
      assert.equal((await shown('u.example.com', 'A'))?.recordTTL, 60);
      // another type in its place
      const alias = endpoint('u.example.com', 'CNAME', ['keep.example.com']);
      await applied({ delete: [fresh], create: [alias] });
      assert.deepEqual(await values('u.example.com', 'CNAME'), ['keep.example.com.']);
      await applied({ delete: [alias, owner('a-u.example.com')] });
      assert.deepEqual(await values('u.example.com', 'CNAME'), []);
      assert.deepEqual(await values('a-u.example.com', 'TXT'), []);
      assert.deepEqual(await values('keep.example.com', 'A'), ['192.0.2.7']);
      // what is gone already
      await applied({ delete: [alias] });
    });

    it('leaves alone what others have put at a name', async () => {
      made(await world.admin.post(world.records, { host: 'theirs', type: 'A', value: '192.0.2.200' }));
      made(await world.admin.post(world.records, { host: 'theirs', type: 'TXT', value: 'v=spf1 -all' }));
      const before = writes();
      const answer = await apply({ create: [endpoint('theirs.example.com', 'A', ['192.0.2.8'])] });
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.text, /theirs\.example\.com/);
      const changed = { updateOld: [endpoint('theirs.example.com', 'A', ['192.0.2.7'])] };
      const moved = { ...changed, updateNew: [endpoint('theirs.example.com', 'A', ['192.0.2.8'])] };
      assert.equal((await apply(moved)).status, 503);
      await applied({ delete: [endpoint('theirs.example.com', 'A', ['192.0.2.7'])] });
      assert.equal(writes(), before);
      // texts stand beside each other, and that of the owner comes first
      await applied({ create: [owner('theirs.example.com')] });
      const [heritage] = owner('theirs.example.com').targets;
      assert.deepEqual((await shown('theirs.example.com', 'TXT'))?.targets, [heritage, '"v=spf1 -all"']);
      await applied({ delete: [owner('theirs.example.com')] });
      assert.deepEqual(await values('theirs.example.com', 'TXT'), ['"v=spf1 -all"']);
      assert.deepEqual(await values('theirs.example.com', 'A'), ['192.0.2.200']);
    });

    it('refuses a whole call for one forbidden name, and shows only what may be read', async () => {
      const rules = [{ effect: 'allow', hosts: ['apps', '**.apps'], types: ['A', 'TXT'] }];
      const narrow = await tokenOf(world.admin, ['external-dns'], { rules });
      const good = endpoint('one.apps.example.com', 'A', ['192.0.2.1']);
      const before = writes();
      for (const [other, status] of [
        [endpoint('www.example.com', 'A', ['192.0.2.1']), 403],
        [endpoint('two.apps.example.com', 'CNAME', ['example.net']), 403],
        [endpoint('www.example.net', 'A', ['192.0.2.1']), 403],
        [endpoint('two.apps.example.com', 'A', ['nowhere']), 400],
        [endpoint('two.apps.example.com', 'A', ['192.0.2.1'], { setIdentifier: 'eu' }), 400],
        [endpoint('two.apps.example.com', 'CAA', ['0 issue ";"']), 400],
        [endpoint('two.apps.example.com', 'A', []), 400],
        [endpoint('two.apps.example.com', 'A', ['192.0.2.1'], { recordTTL: -1 }), 400],
      ] as const) {
        const answer = await apply({ create: [good, other] }, basic(narrow));
        assert.equal(answer.status, status, `${JSON.stringify(other)} ${answer.text}`);
        assert.doesNotMatch(answer.text, /^\{/);
      }
      assert.equal(writes(), before);
      const [entry] = await logOf(world);
      assert.deepEqual([entry?.door, entry?.result, entry?.action], ['external-dns', 'failed', 'record.update']);
      assert.equal((await apply({ create: [good] }, basic(narrow))).status, 204);
      assert.deepEqual(
        (await list(basic(narrow))).map(({ dnsName }) => dnsName),
        ['one.apps.example.com'],
      );
      // what it may not see it cannot delete either
      assert.equal(
        (await apply({ delete: [endpoint('a.example.com', 'A', ['192.0.2.1'])] }, basic(narrow))).status,
        403,
      );
    });

    it('takes the keys of older clients, and lists that are null or left out', async () => {
      const one = endpoint('old.example.com', 'A', ['192.0.2.1']);
      const bodies = [
        { Create: [one], UpdateOld: null, UpdateNew: null, Delete: null },
        { UpdateOld: [one], UpdateNew: [{ ...one, targets: ['192.0.2.2'] }] },
        {},
        { Delete: [{ ...one, targets: ['192.0.2.2'] }] },
      ];
      for (const [i, left] of [['192.0.2.1'], ['192.0.2.2'], ['192.0.2.2'], []].entries()) {
        assert.equal((await post('/records', bodies[i])).status, 204);
        assert.deepEqual(await values('old.example.com', 'A'), left);
      }
      for (const body of ['[]', 'null', '{', '{"create":{}}', '{"create":[7]}'])
        assert.equal((await post('/records', body)).status, 400, body);
      for (const body of ['{}', '[7]']) assert.equal((await post('/adjustendpoints', body)).status, 400, body);
    });

    it('lets a client come again where it can only wait, and end where it has no right', async () => {
      const create = [endpoint('later.example.com', 'A', ['192.0.2.1'])];
      const path = `/api/domains/${world.domain}` as const;
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
      assert.equal((await apply({ create })).status, 500);
      world.proxy.fault = null;
      const [from, until] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
      done(await world.admin.put(path, { freeze: { from, until, reason: 'audit' } }));
      const frozen = await apply({ create });
      assert.equal(frozen.status, 503, frozen.text);
      assert.ok(Number(frozen.headers.get('retry-after')) > 0);
      done(await world.admin.put(path, { freeze: null, approval: { for: 'all', by: { role: 2 }, own: true } }));
      assert.equal((await apply({ create })).status, 503);
      done(await world.admin.put(path, { approval: { for: 'none' } }));
      assert.equal((await apply({ create })).status, 204);
      assert.equal((await get('/records', '')).status, 401);
      assert.equal((await get('/records', basic(await tokenOf(world.admin, ['ddns'])))).status, 403);
    });

    it('parses nothing that is nested deeply or has too many parts, whoever sends it', async () => {
      for (const authorization of [basic(token), 'Bearer svc_0'])
        for (const [body, words] of [
          // not closed: a parser would say that it is no JSON
          ['['.repeat(100_000), 'body: is nested too deeply'],
          ['[{},'.concat('{},'.repeat(400_000)), 'body: has too many fields and items'],
        ] as const) {
          const { status, text } = await say(at('/records'), 'POST', { authorization }, body);
          assert.deepEqual([status, text], [400, words]);
        }
    });

    it('takes a thousand endpoints in one call, with all that a cluster says of them', async () => {
      const labels = { owner: 'me', resource: 'ingress/shop/web', 'txt/force-update': 'true', zone: 'a', set: 'b' };
      const many = Array.from({ length: 1000 }, (_none, i) =>
        endpoint(`m${i}.example.com`, 'A', [`192.0.2.${i % 250}`], { labels, recordTTL: 300 }),
      );
      await applied({ create: many });
      assert.equal((await list()).filter(({ dnsName }) => /^m\d+\./.test(dnsName)).length, 1000);
      await applied({ delete: many });
      assert.deepEqual(await values('m1.example.com', 'A'), []);
    });
  });
