import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { freePort } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { basic, logOf, say, tokenOf } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import { LISTED_FIELDS, powerdnsClient, type RawPowerdnsZone, type RawSet } from '../support/powerdns-client.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, ask, done, made, startWorld, type World } from '../support/world.js';

const ZONE = 'example.com.';
const JSON_TYPE = 'application/json';

const replace = (name: string, type: string, contents: string[], more: Partial<RawSet> = {}): RawSet => ({
  ...{ name, type, ttl: 300, changetype: 'REPLACE' },
  records: contents.map((content) => ({ content, disabled: false })),
  ...more,
});
const gone = (name: string, type: string): RawSet => ({ name, type, changetype: 'DELETE' });

/** The answer to a request that is sent as it stands. */
const raw = (port: number, request: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('close', () => resolve(text)).on('error', reject);
  });

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the door powerdns, on ${kind}`, () => {
    let world: World;
    let port: number;
    let key: string;
    let client: ReturnType<typeof powerdnsClient>;

    beforeAll(async () => {
      port = await freePort();
      world = await startWorld(kind, { POWERDNS_PORT: String(port) });
      done(await world.admin.put('/api/settings/doors', { powerdns: { enabled: true } }));
      key = await tokenOf(world.admin, ['powerdns']);
      client = powerdnsClient(below(), key);
    });
    afterAll(() => world.stop());
    beforeEach(() => {
      world.proxy.fault = null;
    });

    const below = () => `${world.server.url}/doors/powerdns`;
    const own = () => `http://127.0.0.1:${port}`;
    const contents = async (name: string, type: string) =>
      ((await client.set(ZONE, name, type))?.records?.map(({ content }) => content) ?? []).sort();
    const inDns = async (name: string, type: string) =>
      (await ask(world.pdns.dnsPort, name.replace(/\.$/, ''), type)).map(({ rdata }) => rdata).sort();
    const writes = () => world.proxy.requests.filter(({ method }) => method === 'PATCH').length;
    const errorOf = (text: string): string => (JSON.parse(text) as { error: string }).error;

    it('answers what clients begin with, the same at its own port as below its path', async () => {
      for (const root of [below(), own()]) {
        const { read } = powerdnsClient(root, key);
        assert.deepEqual(await read('/api'), [{ url: '/api/v1', version: 1 }]);
        const [server] =
          await read<{ id: string; daemon_type: string; version: string; type: string }[]>('/api/v1/servers');
        assert.deepEqual([server?.id, server?.daemon_type, server?.type], ['localhost', 'authoritative', 'Server']);
        assert.match(server?.version ?? '', /^4\.9\.\d+$/);
        assert.deepEqual(await read('/api/v1/servers/localhost'), server);
        assert.deepEqual([await read('/config'), await read('/statistics'), await read('/tsigkeys')], [[], [], []]);
        assert.deepEqual(await read('/zones/example.com/cryptokeys'), []);
        assert.deepEqual(await read('/zones/example.com./metadata/SOA-EDIT'), {
          ...{ kind: 'SOA-EDIT', metadata: [], type: 'Metadata' },
        });
      }
    });

    it('serves nothing else at its own port, and the main port has no such API', async () => {
      for (const path of ['/', '/health/live', '/api/domains', '/doors/powerdns/api', '/nic/update', '/metrics'])
        assert.equal((await say(own() + path, 'GET', { 'x-api-key': key })).status, 404, path);
      assert.equal((await say(`${world.server.url}/api/v1/servers`, 'GET', { 'x-api-key': key })).status, 404);
      // the address of another host in the request line is a path of nobody
      const head = `GET http://x/api HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`;
      assert.match(await raw(port, head), /^HTTP\/1\.1 404 Not Found\r\n/);
    });

    it('lists zones, finds one by its name, and tells what each of its clients looks for', async () => {
      const [item, ...more] = await client.read<RawPowerdnsZone[]>('/zones');
      assert.deepEqual(more, []);
      for (const field of [...LISTED_FIELDS, 'id', 'url']) assert.ok(item && field in item, field);
      assert.deepEqual([item?.id, item?.name, item?.kind, item?.rrsets], [ZONE, ZONE, 'Native', undefined]);
      assert.deepEqual(await client.read(`/zones?zone=${ZONE}`), [item]);
      assert.deepEqual(await client.read('/zones?zone=example.com'), [item]);
      for (const name of ['com.', 'www.example.com.', 'a..b', ''])
        assert.deepEqual(await client.read(`/zones?zone=${name}`), []);
      const [plain] = await client.read<object[]>('/zones?dnssec=false');
      assert.ok(plain && !('dnssec' in plain) && !('edited_serial' in plain));
      const { text } = await client.call('GET', '/zones');
      assert.ok(text.includes('"name":"example.com."'));
      const whole = await client.zone('example.com');
      assert.deepEqual([whole.soa_edit_api, Number.isInteger(whole.serial)], ['DEFAULT', true]);
      assert.deepEqual(await client.zone('example=2Ecom.'), whole);
      assert.equal('rrsets' in (await client.read<object>(`/zones/${ZONE}?rrsets=false`)), false);
      const some = async (query: string) =>
        (await client.read<RawPowerdnsZone>(`/zones/${ZONE}?${query}`)).rrsets.map(({ name, type }) => [name, type]);
      assert.deepEqual(await some(`rrset_name=${ZONE}&rrset_type=NS`), [[ZONE, 'NS']]);
      assert.deepEqual(await some(`rrset_name=${ZONE}&rrset_type=SOA`), [[ZONE, 'SOA']]);
      assert.deepEqual(await some('rrset_name=example.net.'), []);
      for (const query of ['rrsets=no', 'rrset_name=www'])
        assert.equal((await client.call('GET', `/zones/${ZONE}?${query}`)).status, 422, query);
      for (const id of ['nowhere.', 'example.com..tag', '=00', 'x=2F..', '%2F', 'a'.repeat(2000)])
        assert.equal((await client.call('GET', `/zones/${id}`)).status, 404, id.slice(0, 20));
    });

    it('says errors as JSON to who asks for JSON, and as text to others', async () => {
      const missing = `/zones/nowhere.`;
      const spoken = async (headers: Record<string, string>, method = 'GET', body?: string) => {
        const sent = { 'x-api-key': key, ...headers };
        const answer = await say(`${own()}/api/v1/servers/localhost${missing}`, method, sent, body);
        assert.equal(answer.status, 404);
        return [answer.type, answer.text.startsWith('{"error":"')];
      };
      assert.deepEqual(await spoken({ accept: JSON_TYPE }), [JSON_TYPE, true]);
      assert.deepEqual(await spoken({ accept: 'text/html,application/json;q=0.9' }), [JSON_TYPE, true]);
      assert.deepEqual(await spoken({ accept: '*/*' }), ['text/plain; charset=utf-8', false]);
      assert.deepEqual(await spoken({ accept: 'text/html', 'content-type': JSON_TYPE }), [
        'text/plain; charset=utf-8',
        false,
      ]);
      const bare = (more: string) =>
        raw(
          port,
          `GET /api/v1/servers/localhost${missing} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n${more}Connection: close\r\n\r\n`,
        );
      assert.match(await bare(''), /^HTTP\/1\.1 404 Not Found\r\n[\s\S]*Content-Type: text\/plain/);
      assert.match(
        await bare(`Content-Type: ${JSON_TYPE}\r\n`),
        /Content-Type: application\/json\r\n[\s\S]*\{"error":"/,
      );
      // what can be mended is JSON for everybody
      const wrong = await client.call('PATCH', `/zones/${ZONE}`, { rrsets: [{}] }, { accept: '*/*' });
      assert.deepEqual([wrong.status, wrong.type], [422, JSON_TYPE]);
      assert.match(errorOf(wrong.text), /^rrsets\.0\.name: /);
      for (const credential of [
        {},
        { 'x-api-key': 'svc_wrong' },
        { 'x-api-key': world.token },
        { authorization: basic(key) },
      ])
        assert.equal((await say(`${own()}/api`, 'GET', credential as Record<string, string>)).status, 401);
    });

    it('makes sets what they shall be, in the form in which it shows them', async () => {
      const sets: [string, string, string[]][] = [
        ['www.example.com.', 'A', ['192.0.2.1', '192.0.2.2']],
        ['www.example.com.', 'AAAA', ['2001:db8::1']],
        ['*.w.example.com.', 'CNAME', ['www.example.com.']],
        [ZONE, 'MX', ['10 mail.example.net.', '20 mail2.example.net.']],
        ['_sip._tcp.example.com.', 'SRV', ['10 5 5060 sip.example.net.']],
        [ZONE, 'CAA', ['0 issue "letsencrypt.org"']],
        ['t.example.com.', 'TXT', ['"v=1; a"', '"say \\"hi\\""', `"${'x'.repeat(255)}" "${'x'.repeat(45)}"`]],
        ['p.example.com.', 'PTR', ['host.example.net.']],
        ['h.example.com.', 'HTTPS', ['1 . alpn=h2,h3']],
      ];
      const before = (await client.zone(ZONE)).serial;
      const answer = await client.patched(ZONE, ...sets.map(([...set]) => replace(...set)));
      const serials = ['old', 'new'].map((one) => Number(answer.headers.get(`x-pdns-${one}-serial`)));
      assert.deepEqual(serials, [before, before + 1]);
      assert.equal((await client.zone(ZONE)).serial, before + 1);
      for (const [name, type, wanted] of sets)
        assert.deepEqual(await contents(name, type), wanted.toSorted(), `${name} ${type}`);
      assert.deepEqual(await inDns('www.example.com', 'A'), ['192.0.2.1', '192.0.2.2']);
      assert.deepEqual(await inDns(ZONE, 'MX'), ['10 mail.example.net.', '20 mail2.example.net.']);
      // the same once more writes nothing
      const count = writes();
      const again = await client.patched(ZONE, ...sets.map(([...set]) => replace(...set)));
      assert.equal(writes(), count);
      assert.equal(again.headers.get('x-pdns-new-serial'), String(before + 1));
      const [set] = done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list;
      assert.deepEqual([set?.door, set?.door_key], ['door', 'powerdns']);
      // keys stand as in PowerDNS: text tools count on it
      const { text } = await client.call('GET', `/zones/${ZONE}`);
      const first = '{"comments":[],"name":"www.example.com.","records":[{"content":"192.0.2.1","disabled":false},';
      assert.ok(text.includes(first), text.slice(0, 900));
      assert.ok(text.includes('{"content":"192.0.2.2","disabled":false}],"ttl":300,"type":"A"}'));
      await world.agree();
    });

    it('knows each kind of change, and takes them all or none', async () => {
      const name = 'k.example.com.';
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.1']));
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.2'], { changetype: 'extend', ttl: 900 }));
      assert.deepEqual(await contents(name, 'A'), ['192.0.2.1', '192.0.2.2']);
      assert.equal((await client.set(ZONE, name, 'A'))?.ttl, 300);
      await client.patched(ZONE, replace('zero.example.com.', 'A', ['192.0.2.1'], { ttl: 0 }));
      assert.equal((await client.set(ZONE, 'zero.example.com.', 'A'))?.ttl, 0);
      const count = writes();
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.2'], { changetype: 'EXTEND' }));
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.9'], { changetype: 'PRUNE' }));
      await client.patched(ZONE, gone('none.example.com.', 'TXT'));
      assert.equal(writes(), count);
      await client.patched(
        ZONE,
        replace(name, 'A', ['192.0.2.1'], { changetype: 'PRUNE' }),
        replace(name, 'A', ['192.0.2.3'], { changetype: 'EXTEND' }),
      );
      assert.deepEqual(await contents(name, 'A'), ['192.0.2.2', '192.0.2.3']);
      // a CNAME takes the place of addresses, whichever is named first
      await client.patched(ZONE, replace(name, 'CNAME', ['www.example.com.']), gone(name, 'A'));
      await client.patched(ZONE, gone(name, 'CNAME'), replace(name, 'A', ['192.0.2.4']));
      await client.patched(ZONE, gone(name, 'A'), replace(name, 'A', ['192.0.2.5'], { type: 'a' }));
      assert.deepEqual(await contents(name, 'A'), ['192.0.2.5']);
      await client.patched(ZONE, {
        ...replace(name, 'A', []),
        records: [{ content: '192.0.2.5', disabled: true }],
      });
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.5'], { changetype: 'EXTEND' }));
      assert.deepEqual(await inDns(name, 'A'), ['192.0.2.5']);
      // disabled ones are shown, and not in DNS
      const records = [{ content: '192.0.2.5', disabled: true }, { content: '192.0.2.6' }];
      await client.patched(ZONE, { ...replace(name, 'A', []), records });
      assert.deepEqual((await client.set(ZONE, name, 'A'))?.records, [
        { content: '192.0.2.5', disabled: true },
        { content: '192.0.2.6', disabled: false },
      ]);
      assert.deepEqual(await inDns(name, 'A'), ['192.0.2.6']);
      const serial = (await client.zone(ZONE)).serial;
      const bad = await client.patch(ZONE, gone(name, 'A'), replace('z.example.com.', 'A', ['nowhere']));
      assert.equal(bad.status, 422);
      assert.match(errorOf(bad.text), /^rrsets\.1\.records\.0\.content: .*IPv4/);
      assert.equal((await client.zone(ZONE)).serial, serial);
      await client.patched(ZONE, { name, type: 'A', changetype: 'REPLACE', records: [] });
      assert.deepEqual([await contents(name, 'A'), await inDns(name, 'A')], [[], []]);
      // the SOA is the provider's, whatever is said of it
      const [soa] = await inDns(ZONE, 'SOA');
      await client.patched(ZONE, gone(ZONE, 'SOA'), replace(ZONE, 'SOA', ['a. b. 1 2 3 4 5']));
      assert.deepEqual(await inDns(ZONE, 'SOA'), [soa]);
    });

    it('keeps comments with their set', async () => {
      const name = 'c.example.com.';
      const said = async () =>
        (await client.set(ZONE, name, 'A'))?.comments?.map(({ content, account }) => [account, content]);
      const comments = [
        { content: 'netbox-powerdns-sync', account: '' },
        { content: 'ask first', account: 'ops' },
      ];
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.1'], { comments }));
      const both = [
        ['', 'netbox-powerdns-sync'],
        ['ops', 'ask first'],
      ];
      assert.deepEqual(await said(), both);
      // other records come and go
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.2', '192.0.2.3']));
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.4'], { comments: null }));
      assert.deepEqual(await said(), both);
      await client.patched(ZONE, { name, type: 'A', changetype: 'REPLACE', comments: [{ content: '[x] y' }] });
      assert.deepEqual([await said(), await contents(name, 'A')], [[['', '[x] y']], ['192.0.2.4']]);
      // remarks of single records stay while a client sends back what it was shown
      const { list } = done(await world.admin.get(`${world.records}?host=c`));
      made(
        await world.admin.post(world.records, { host: 'c', type: 'A', value: '192.0.2.5', ttl: 300, remark: 'two' }),
      );
      const shown = (await client.set(ZONE, name, 'A')) as RawSet;
      await client.patched(ZONE, { ...shown, changetype: 'REPLACE' });
      const after = done(await world.admin.get(`${world.records}?host=c`)).list.map(({ remark }) => remark);
      assert.deepEqual([list[0]?.remark, after.sort()], ['[] [x] y', ['[] [x] y', 'two']]);
      await client.patched(ZONE, replace(name, 'A', ['192.0.2.5'], { comments: [] }));
      assert.deepEqual(await said(), []);
      const long = { comments: [{ content: 'x'.repeat(300) }] };
      for (const more of [long, { comments: [{ content: 'a\nb' }] }, { comments: [7] }])
        assert.equal(
          (await client.patch(ZONE, replace(name, 'A', ['192.0.2.5'], more as Partial<RawSet>))).status,
          422,
        );
    });

    it('refuses what it cannot read, with a word that names the field, and changes nothing', async () => {
      const serial = (await client.zone(ZONE)).serial;
      const a = replace('a.example.com.', 'A', ['192.0.2.1']);
      const cases: [string, unknown, RegExp][] = [
        ['no sets', {}, /^rrsets: /],
        ['sets that are no list', { rrsets: {} }, /^rrsets: /],
        ['a set that is none', { rrsets: [null] }, /^rrsets\.0: /],
        ['a name without its dot', { rrsets: [{ ...a, name: 'a.example.com' }] }, /not canonical/],
        ['a name outside', { rrsets: [{ ...a, name: 'a.example.net.' }] }, /not inside the zone/],
        ['a name that is none', { rrsets: [{ ...a, name: 'a=2Fb c.example.com.' }] }, /^rrsets\.0\.name/],
        ['no type', { rrsets: [{ ...a, type: 7 }] }, /^rrsets\.0\.type/],
        ['an unknown type', { rrsets: [{ ...a, type: 'NONE' }] }, /^rrsets\.0\.type/],
        ['an unknown change', { rrsets: [{ ...a, changetype: 'MERGE' }] }, /^rrsets\.0\.changetype/],
        ['a change that is no text', { rrsets: [{ ...a, changetype: { toString: 1 } }] }, /^rrsets\.0\.changetype/],
        ['no TTL', { rrsets: [{ ...a, ttl: undefined }] }, /^rrsets\.0\.ttl/],
        ['a TTL below 0', { rrsets: [{ ...a, ttl: -1 }] }, /^rrsets\.0\.ttl/],
        ['a TTL that is none', { rrsets: [{ ...a, ttl: '5m' }] }, /^rrsets\.0\.ttl/],
        ['neither records nor comments', { rrsets: [{ ...a, records: null }] }, /^rrsets\.0: /],
        ['records of another type', { rrsets: [{ ...a, records: [7] }] }, /^rrsets\.0\.records\.0/],
        ['a content that is none', { rrsets: [{ ...a, records: [{ content: {} }] }] }, /records\.0\.content/],
        [
          'a flag that is none',
          { rrsets: [{ ...a, records: [{ content: '192.0.2.1', disabled: 'no' }] }] },
          /disabled/,
        ],
        ['two of one', { rrsets: [a, a] }, /twice/],
        ['a record twice', { rrsets: [replace('a.example.com.', 'A', ['192.0.2.1', '192.0.2.1'])] }, /twice/],
        ['a target without its dot', { rrsets: [replace('a.example.com.', 'CNAME', ['b.example.com'])] }, /canonical/],
        [
          'several to add',
          { rrsets: [{ ...replace('a.example.com.', 'A', ['192.0.2.1', '192.0.2.2']), changetype: 'EXTEND' }] },
          /exactly one/,
        ],
        ['CNAME beside others', { rrsets: [replace(ZONE, 'CNAME', ['b.example.com.'])] }, /CNAME/],
        ['too many', { rrsets: Array.from({ length: 5001 }, () => a) }, /5000/],
      ];
      for (const [what, body, words] of cases) {
        const answer = await client.call('PATCH', `/zones/${ZONE}`, body);
        assert.deepEqual([answer.status, answer.type], [422, JSON_TYPE], `${what}: ${answer.status} ${answer.text}`);
        assert.match(errorOf(answer.text), words, what);
      }
      const deep = `{"rrsets":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
      for (const [body, status] of [
        ['{', 400],
        ['[]', 400],
        ['"x"', 400],
        ['null', 422],
        [deep, 400],
        [`{"rrsets":["${'x'.repeat(10_000_000)}"]}`, 413],
        ['{"rrsets":[{"name":"\\u0000"}]}', 422],
      ] as const)
        assert.equal((await client.call('PATCH', `/zones/${ZONE}`, body)).status, status, body.slice(0, 40));
      assert.match((await client.call('PATCH', `/zones/${ZONE}`, deep)).text, /nested too deeply/);
      const large = await client.call('PATCH', `/zones/${ZONE}`, `"${'x'.repeat(2_200_000)}"`);
      assert.match(large.text, /larger than 2 MiB/);
      // who shows no token is refused before anything is read
      const blind = powerdnsClient(below(), 'none');
      assert.equal((await blind.call('PATCH', `/zones/${ZONE}`, '{')).status, 401);
      assert.equal((await client.call('POST', `/zones/${ZONE}`, {})).status, 405);
      assert.equal((await client.zone(ZONE)).serial, serial);
    });

    it('keeps a token to its names: other sets are not there, and cannot be changed', async () => {
      const challenge = '_acme-challenge.example.com.';
      const narrow = powerdnsClient(own(), await tokenOf(world.admin, ['powerdns'], { preset: { name: 'acme' } }), {
        accept: JSON_TYPE,
      });
      const names = async () => (await narrow.zone(ZONE)).rrsets.map(({ name, type }) => `${name} ${type}`);
      assert.deepEqual(await names(), []);
      await narrow.patched(ZONE, replace(challenge, 'TXT', ['"one"'], { ttl: 60 }));
      assert.deepEqual(await names(), [`${challenge} TXT`]);
      const count = writes();
      const refusals = [
        [replace('www.example.com.', 'A', ['192.0.2.66'])],
        [gone('www.example.com.', 'A')],
        [gone('nothing.example.com.', 'A')],
        [replace(challenge, 'CNAME', ['www.example.com.'])],
        [replace(challenge, 'TXT', ['"two"'], { ttl: 60 }), replace(ZONE, 'TXT', ['"two"'])],
        // comments need a set: whether there is one is not for it to know
        [{ ...gone('www.example.com.', 'A'), changetype: 'REPLACE', comments: [] }],
        [{ ...gone('nothing.example.com.', 'A'), changetype: 'REPLACE', comments: [] }],
      ];
      for (const sets of refusals) {
        const answer = await narrow.patch(ZONE, ...sets);
        assert.equal(answer.status, 403, JSON.stringify(sets));
        assert.ok(errorOf(answer.text));
      }
      assert.equal(writes(), count);
      const [entry] = await logOf(world);
      assert.deepEqual([entry?.door, entry?.result, entry?.action], ['powerdns', 'failed', 'record.update']);
      assert.deepEqual(await narrow.read('/search-data?q=*192.0.2*'), []);
      assert.equal((await narrow.call('GET', `/zones/${ZONE}/export`)).text.includes('192.0.2'), false);
      await narrow.patched(ZONE, gone(challenge, 'TXT'));
      // another zone is none
      const other = powerdnsClient(
        own(),
        await tokenOf(world.admin, ['powerdns'], { allowed_domains: [world.domain] }),
      );
      await world.pdns.createZone('example.org');
      await addDomain(world.admin, world.account, 'example.org');
      assert.equal((await client.read<object[]>('/zones')).length, 2);
      assert.equal((await other.read<object[]>('/zones')).length, 1);
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { rrsets: [] }],
        ['PUT', '/notify'],
        ['GET', '/cryptokeys'],
        ['GET', '/export'],
      ] as const)
        assert.equal((await other.call(method, `/zones/example.org.${path}`, body)).status, 404, method + path);
      // a token of another door, and one that may only read
      const foreign = powerdnsClient(own(), await tokenOf(world.admin, ['external-dns', 'records:write']));
      assert.equal((await foreign.call('GET', '/api')).status, 403);
      const rules = [{ effect: 'allow', actions: ['read'] }];
      const reader = powerdnsClient(own(), await tokenOf(world.admin, ['powerdns'], { rules }));
      assert.ok((await reader.zone(ZONE)).rrsets.length > 3);
      assert.equal((await reader.patch(ZONE, gone('www.example.com.', 'A'))).status, 403);
    });

    it('makes, keeps and deletes zones with the rights of the API', async () => {
      const body = { name: 'new.example.net.', kind: 'Native', nameservers: ['ns1.example.net.', 'ns2.example.net.'] };
      assert.equal((await client.call('POST', '/zones', body)).status, 403);
      assert.equal((await client.call('DELETE', `/zones/${ZONE}`)).status, 403);
      const all = powerdnsClient(own(), await tokenOf(world.admin, ['*']), { accept: JSON_TYPE });
      const narrow = powerdnsClient(own(), await tokenOf(world.admin, ['*'], { allowed_domains: [world.domain] }));
      assert.equal((await narrow.call('POST', '/zones', body)).status, 403);
      const www = replace('www.new.example.net.', 'A', ['192.0.2.1']);
      for (const [more, field] of [
        [{ name: 'new.example.net' }, 'name'],
        [{ name: undefined }, 'name'],
        [{ kind: undefined }, 'kind'],
        [{ kind: 'Slave' }, 'kind'],
        [{ kind: { toString: 1 } }, 'kind'],
        [{ rrsets: [{ type: 'NS', name: { toString: 1 } }] }, 'rrsets.0.name'],
        [{ masters: ['192.0.2.1'] }, 'masters'],
        [{ dnssec: true }, 'dnssec'],
        [{ account: 'admin' }, 'account'],
        [{ account: 7 }, 'account'],
        [{ zone: 'x' }, 'zone'],
        [{ nameservers: 'ns1' }, 'nameservers'],
        [{ nameservers: ['ns1'] }, 'nameservers.0'],
        [{ rrsets: [replace('new.example.net.', 'NS', ['ns9.example.net.'])] }, 'nameservers'],
        [{ rrsets: [{ ...www, records: [{ content: 'x' }] }] }, 'rrsets.0.records.0.content'],
      ] as const) {
        const answer = await all.call('POST', '/zones', { ...body, ...more });
        assert.equal(answer.status, 422, `${field} ${answer.text}`);
        assert.ok(errorOf(answer.text).startsWith(`${field}: `), answer.text);
      }
      assert.match(errorOf((await all.call('POST', '/zones', { ...body, account: 'admin' })).text), /powerdns account/);
      const answer = await all.call('POST', '/zones', { ...body, account: 'powerdns account', rrsets: [www] });
      assert.deepEqual([answer.status, answer.type], [201, JSON_TYPE], answer.text);
      const zone = JSON.parse(answer.text) as RawPowerdnsZone;
      assert.deepEqual([zone.id, zone.account, zone.kind], ['new.example.net.', 'powerdns account', 'Native']);
      assert.deepEqual(await inDns('new.example.net', 'NS'), ['ns1.example.net.', 'ns2.example.net.']);
      assert.deepEqual(await inDns('www.new.example.net', 'A'), ['192.0.2.1']);
      assert.deepEqual(await all.zone('new.example.net'), zone);
      // a zone that is at the provider is added, and what it holds stays
      await world.pdns.createZone('taken.example.net');
      const before = await inDns('taken.example.net', 'NS');
      const taken = await all.call('POST', '/zones', {
        ...body,
        account: 'powerdns account',
        name: 'taken.example.net.',
      });
      assert.equal(taken.status, 409, taken.text);
      assert.deepEqual(await inDns('taken.example.net', 'NS'), before);
      assert.equal((await all.zone('taken.example.net')).id, 'taken.example.net.');
      const twice = await all.call('POST', '/zones', body);
      assert.equal(twice.status, 409);
      // with several accounts somebody has to say which
      await addAccount(world.admin, 'powerdns', { url: world.pdns.url, api_key: world.pdns.apiKey });
      const unsaid = await all.call('POST', '/zones', { ...body, name: 'other.example.net.' });
      assert.equal(unsaid.status, 422);
      assert.match(errorOf(unsaid.text), /^account: .*powerdns account/);
      const same = {
        kind: 'Master',
        account: 'powerdns account',
        masters: [],
        soa_edit_api: 'INCREASE',
        dnssec: false,
      };
      assert.deepEqual([(await all.call('PUT', `/zones/${zone.id}`, same)).status], [204]);
      // what is null is not said
      assert.equal((await all.call('PUT', `/zones/${zone.id}`, { ...same, account: null })).status, 204);
      for (const more of [{ kind: 'Slave' }, { account: 'x' }, { dnssec: true }, { rrsets: [] }])
        assert.equal((await all.call('PUT', `/zones/${zone.id}`, more)).status, 422);
      assert.equal((await client.call('PUT', `/zones/${zone.id}`, same)).status, 403);
      assert.equal((await narrow.call('DELETE', `/zones/${zone.id}`)).status, 404);
      const deleted = await all.call('DELETE', `/zones/${zone.id}`);
      assert.deepEqual([deleted.status, deleted.text], [204, '']);
      assert.equal((await all.call('GET', `/zones/${zone.id}`)).status, 404);
      assert.deepEqual(await inDns('www.new.example.net', 'A'), ['192.0.2.1']);
      const entries = (await logOf(world)).filter(({ door, result }) => door === 'powerdns' && result === 'ok');
      const actions = entries.map(({ action }) => action);
      for (const action of ['domain.delete', 'record.create', 'domain.create'])
        assert.ok(actions.includes(action), action);
    });

    it('takes no name for a zone that several domains have', async () => {
      const second = await addAccount(world.admin, 'powerdns', { url: world.proxy.url, api_key: world.pdns.apiKey });
      const forced = await world.admin.post('/api/domains?force=true', { name: 'example.org', account_id: second });
      const twin = made(forced);
      const names = (await client.read<{ name: string }[]>('/zones')).map(({ name }) => name);
      assert.ok(names.includes(ZONE) && !names.includes('example.org.'), names.join());
      const answer = await client.call('GET', '/zones/example.org.', undefined, { accept: JSON_TYPE });
      assert.equal(answer.status, 422);
      assert.match(errorOf(answer.text), /Several domains/);
      const one = powerdnsClient(own(), await tokenOf(world.admin, ['powerdns'], { allowed_domains: [twin.id] }));
      assert.equal((await one.zone('example.org')).name, 'example.org.');
      done(await world.admin.delete(`/api/domains/${twin.id}`));
    });

    it('finds zones and records, exports a zone, and answers what its provider does by itself', async () => {
      await client.patched(ZONE, replace('find.me.example.com.', 'TXT', ['"needle"']));
      const find = (query: string) => client.read<{ object_type: string; name: string }[]>(`/search-data?${query}`);
      const record = { content: '"needle"', disabled: false, name: 'find.me.example.com.', object_type: 'record' };
      const found = { ...record, ttl: 300, type: 'TXT', zone: ZONE, zone_id: ZONE };
      for (const q of ['*needle*', 'find.me.example.com', 'FIND.me.example.???.', '*nd.me.exa*'])
        assert.deepEqual(await find(`q=${encodeURIComponent(q)}&object_type=record`), [found], q);
      const zone = { name: ZONE, object_type: 'zone', zone_id: ZONE };
      assert.deepEqual(await find('q=*ample.com*&object_type=zone'), [zone]);
      assert.equal((await find('q=*&max=2')).length, 2);
      assert.deepEqual(await find('q=*needle*&object_type=comment'), []);
      for (const query of ['', 'q=', 'q=x&max=0', 'q=x&max=many', 'q=x&object_type=house'])
        assert.equal((await client.call('GET', `/search-data?${query}`)).status, 422, query);
      const file = await client.call('GET', `/zones/${ZONE}/export`);
      assert.match(file.type, /^text\/plain/);
      assert.ok(file.text.includes('find.me.example.com.\t300\tIN\tTXT\t"needle"\n'));
      const asked = await client.call('GET', `/zones/${ZONE}/export`, undefined, { accept: JSON_TYPE });
      assert.deepEqual(JSON.parse(asked.text), { zone: file.text });
      for (const what of ['notify', 'rectify']) {
        const answer = await client.call('PUT', `/zones/example.com/${what}`);
        assert.deepEqual([answer.status, Object.keys(JSON.parse(answer.text))], [200, ['result']]);
      }
      assert.equal((await client.call('PUT', `/zones/${ZONE}/axfr-retrieve`)).status, 422);
      assert.equal((await client.call('PUT', '/cache/flush?domain=example.com.')).status, 200);
    });

    it('calls nothing done that waits, and lets a client come again where it passes', async () => {
      const path = `/api/domains/${world.domain}` as const;
      const set = replace('later.example.com.', 'A', ['192.0.2.1']);
      const tried = async () => {
        const answer = await client.patch(ZONE, set);
        return { ...answer, error: answer.type === JSON_TYPE ? errorOf(answer.text) : answer.text };
      };
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
      const down = await tried();
      assert.equal(down.status, 500, down.text);
      assert.ok(down.error.length > 10);
      world.proxy.fault = null;
      const [from, until] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
      done(await world.admin.put(path, { freeze: { from, until, reason: 'audit' } }));
      const frozen = await tried();
      assert.equal(frozen.status, 503, frozen.text);
      assert.match(frozen.error, /audit/);
      assert.ok(Number(frozen.headers.get('retry-after')) > 0);
      done(await world.admin.put(path, { freeze: null, approval: { for: 'all', by: { role: 2 }, own: true } }));
      const waiting = await tried();
      assert.equal(waiting.status, 422, waiting.text);
      const plan = Number(/plan (\d+)/.exec(waiting.error)?.[1]);
      assert.deepEqual(await inDns('later.example.com', 'A'), []);
      // once it is approved, the next try finds it done
      done(await world.admin.post(`/api/plans/${plan}/approve` as '/api/plans/1/approve', {}));
      await client.patched(ZONE, set);
      done(await world.admin.put(path, { approval: { for: 'none' } }));
      // a change whose answer was lost is no success, whatever became of it
      world.proxy.fault = async ({ method }, forward) => {
        const reply = await forward();
        return method === 'PATCH' ? 'close' : reply;
      };
      const lost = await client.patch(ZONE, replace('later.example.com.', 'A', ['192.0.2.2']));
      assert.equal(lost.status, 500, lost.text);
      world.proxy.fault = null;
      await client.patched(ZONE, replace('later.example.com.', 'A', ['192.0.2.3']));
      assert.deepEqual(await inDns('later.example.com', 'A'), ['192.0.2.3']);
      await world.agree();
      done(await world.admin.put('/api/settings/doors', { powerdns: { enabled: false } }));
      for (const root of [below(), own()])
        assert.equal((await powerdnsClient(root, key).call('GET', '/api')).status, 404);
      done(await world.admin.put('/api/settings/doors', { powerdns: { enabled: true } }));
      done(await world.admin.put('/api/settings/security', { rate_limits: { user: 0, token: 1 } }));
      const fast = powerdnsClient(own(), await tokenOf(world.admin, ['powerdns']));
      const answers = [];
      for (let i = 0; i < 70; i++) answers.push(await fast.call('GET', '/api'));
      const last = answers.at(-1);
      assert.equal(last?.status, 429);
      assert.ok(Number(last?.headers.get('retry-after')) > 0);
      // each record is a change, whatever else stands in the body
      done(await world.admin.put('/api/settings/security', { rate_limits: { user: 0, token: 60 } }));
      const greedy = powerdnsClient(own(), await tokenOf(world.admin, ['powerdns']));
      const many = replace(
        'many.example.com.',
        'A',
        Array.from({ length: 70 }, (_, i) => `192.0.2.${i}`),
      );
      for (const status of [204, 429])
        assert.equal((await greedy.call('PATCH', `/zones/${ZONE}`, { changes: [], rrsets: [many] })).status, status);
      done(await world.admin.put('/api/settings/security', { rate_limits: { user: 3000, token: 3000 } }));
    });
  });
