import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { freePort, missing } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { snippetOf, textsAt, tokenOf } from '../support/doors.js';
import { type Pebble, startPebble } from '../support/pebble.js';
import { noPowerdns } from '../support/powerdns.js';
import { LISTED_FIELDS, powerdnsClient, type RawPowerdnsZone, type RawSet } from '../support/powerdns-client.js';
import { describeUnless } from '../support/suites.js';
import { ask, done, startWorld, type World } from '../support/world.js';

const ZONE = 'example.com.';
const JSON_TYPE = 'application/json';
const noTools = noPowerdns || missing('pebble', 'lego', 'openssl') || false;

/** A request as it goes over the wire, with no header that the client does not send. */
function wire(url: string, method: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ status: number; reason: string; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const call = request(url, { method, headers }, (response) => {
        let text = '';
        response.on('data', (part) => {
          text += part;
        });
        response.on('end', () => {
          const { statusCode: status = 0, statusMessage: reason = '' } = response;
          resolve({ status, reason, headers: response.headers, text });
        });
      });
      call.on('error', reject).end(body);
    },
  );
}

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noTools)(`clients of the door powerdns, on ${kind}`, () => {
    let world: World;
    let port: number;
    let key: string;
    let owner: string;
    let folder: string;

    beforeAll(async () => {
      port = await freePort();
      world = await startWorld(kind, { POWERDNS_PORT: String(port) });
      done(await world.admin.put('/api/settings/doors', { powerdns: { enabled: true } }));
      key = await tokenOf(world.admin, ['powerdns']);
      owner = await tokenOf(world.admin, ['*']);
      folder = await mkdtemp(join(tmpdir(), 'zoneward-powerdns-'));
    });
    afterAll(async () => {
      await world?.stop();
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    const root = () => `http://127.0.0.1:${port}`;
    const below = () => `${world.server.url}/doors/powerdns`;
    const api = () => `${root()}/api/v1/servers/localhost`;
    const inDns = async (name: string, type: string) =>
      (await ask(world.pdns.dnsPort, name, type)).map(({ rdata }) => rdata).sort();
    const set = (name: string, type: string, contents: string[], more: object = {}): RawSet => ({
      ...{ name, type, ttl: 300, changetype: 'REPLACE' },
      records: contents.map((content) => ({ content, disabled: false })),
      ...more,
    });

    it('octoDNS makes a zone, applies its plan in one call, and finds nothing left to do', async () => {
      const client = powerdnsClient(root(), owner, { accept: '*/*' });
      const name = 'octo.example.net.';
      const missingZone = await client.call('GET', `/zones/${name}`);
      assert.equal(missingZone.status, 404);
      assert.deepEqual(await client.read('/config'), []);
      const { version } = await client.read<{ version: string }>('/');
      const [major, minor] = version.split('.').map((part) => Number(part.split('-')[0]));
      assert.ok(major === 4 && Number(minor) >= 5);
      const wanted = [
        set(name, 'MX', ['10 mail.example.net.']),
        set(`t.${name}`, 'TXT', ['"v=1\\; a"']),
        set(`www.${name}`, 'A', ['192.0.2.1', '192.0.2.2'], { ttl: 3600 }),
      ];
      assert.equal((await client.call('PATCH', `/zones/${name}`, { rrsets: wanted })).status, 404);
      const body = { name, kind: 'master', masters: [], nameservers: [], rrsets: wanted };
      const made = await client.call('POST', '/zones', { ...body, soa_edit_api: 'default', serial: 0 });
      assert.equal(made.status, 201, made.text);
      assert.equal((await client.call('PUT', `/zones/${name}/notify`)).status, 200);
      /** what octoDNS compares: all but the SOA, texts without the escape of a semicolon */
      const plan = async () => {
        const { rrsets } = await client.zone(name);
        const known = new Map(rrsets.map((one) => [`${one.name} ${one.type}`, one]));
        return wanted.filter((one) => {
          const there = known.get(`${one.name} ${one.type}`);
          const contents = (list: RawSet['records']) =>
            list?.map(({ content }) => content.replaceAll('\\;', ';')).sort();
          return there?.ttl !== one.ttl || String(contents(there?.records)) !== String(contents(one.records));
        });
      };
      assert.deepEqual(await plan(), []);
      // deletes first, with the records along
      const [mx] = wanted as [RawSet];
      const www = set(`www.${name}`, 'CNAME', ['example.com.']);
      const old = { ...(wanted.pop() as RawSet), changetype: 'DELETE' };
      wanted.push(www);
      await client.patched(name, old, { ...mx, changetype: 'DELETE' }, www, mx);
      assert.deepEqual(await plan(), []);
      assert.deepEqual(await inDns('www.octo.example.net', 'CNAME'), ['example.com.']);
      // a wrong key has a message of its own
      assert.equal((await powerdnsClient(root(), 'svc_wrong').call('GET', `/zones/${name}`)).status, 401);
    });

    it('DNSControl decodes the zone strictly, and sends whole zones back', async () => {
      const client = powerdnsClient(below(), key, { accept: JSON_TYPE, 'content-type': JSON_TYPE });
      const zone = await client.zone('example.com');
      assert.ok(['Native', 'Master', 'Slave', 'Producer', 'Consumer'].includes(zone.kind));
      assert.ok(['DEFAULT', 'INCREASE', 'EPOCH', 'NONE'].includes(String(zone.soa_edit_api)));
      assert.deepEqual([typeof zone.serial, typeof zone.nsec3param], ['number', 'string']);
      assert.deepEqual(await client.read('/zones/example.com/cryptokeys'), []);
      const whole = { name: '', type: 'Zone', nameservers: [] };
      const body = (...rrsets: object[]) => ({ ...whole, rrsets: rrsets.map((one) => ({ comments: null, ...one })) });
      const soa = { name: ZONE, type: 'SOA', changetype: 'DELETE', records: null };
      const no = { name: 'dc.example.com.', type: 'A', changetype: 'DELETE', records: null };
      assert.equal((await client.call('PATCH', '/zones/example.com', body(soa, no))).status, 204);
      const service = set('dc.example.com.', 'HTTPS', ['1 . alpn=h2']);
      assert.equal((await client.call('PATCH', '/zones/example.com', body(service))).status, 204);
      assert.deepEqual((await client.set(ZONE, 'dc.example.com.', 'HTTPS'))?.records, service.records);
      const wrong = await client.call('PATCH', '/zones/example.com', body({ ...service, ttl: 'x' }));
      assert.deepEqual([wrong.status, wrong.type], [422, JSON_TYPE]);
    });

    it('Terraform of pan-net and of mmianl read back what they wrote', async () => {
      const client = powerdnsClient(root(), owner, { accept: JSON_TYPE });
      assert.equal((await client.call('GET', '/api/v1/servers')).status, 200);
      assert.equal((await client.call('GET', '/')).status, 200);
      const input = { name: 'tf.example.net.', kind: 'Native', nameservers: [], account: 'powerdns account' };
      const created = await client.call('POST', '/zones', { ...input, soa_edit_api: 'DEFAULT' });
      assert.equal(created.status, 201, created.text);
      const { id } = JSON.parse(created.text) as RawPowerdnsZone;
      const zone = await client.zone(id);
      assert.deepEqual([zone.name, zone.kind, zone.account], [input.name, input.kind, input.account]);
      const name = 'www.tf.example.net.';
      const records = ['192.0.2.1', '192.0.2.2'].map((content) => ({
        ...{ content, name, type: 'A', ttl: 60, disabled: false, 'set-ptr': false },
      }));
      await client.patched(id, { name, type: 'A', ttl: 60, changetype: 'REPLACE', records });
      const found = await client.set(id, name, 'A');
      assert.deepEqual(
        [found?.ttl, found?.records?.map(({ content }) => content).sort()],
        [60, ['192.0.2.1', '192.0.2.2']],
      );
      // mmianl: comments, and disabled records
      const comments = [{ content: 'of terraform', account: 'ops' }];
      await client.patched(id, set(name, 'A', ['192.0.2.1'], { comments, ttl: 60 }));
      const [comment] = (await client.set(id, name, 'A'))?.comments ?? [];
      assert.deepEqual([comment?.content, comment?.account], ['of terraform', 'ops']);
      assert.equal((await client.call('PUT', `/zones/${id}`, { ...input, soa_edit_api: 'INCREASE' })).status, 204);
      await client.patched(id, { name, type: 'A', ttl: 60, changetype: 'DELETE', records: [] });
      assert.equal((await client.call('DELETE', `/zones/${id}`)).status, 204);
      assert.equal((await client.call('GET', `/zones/${id}`)).status, 404);
    });

    it('acme.sh finds its zone and the other values by their text, and leaves these where they are', async () => {
      const headers = { 'X-API-Key': key, Accept: '*/*' };
      const full = '_acme-challenge.acme.example.com';
      const get = async (path: string) => (await wire(api() + path, 'GET', headers)).text;
      /** as its dns_pdns.sh cuts texts out of the zone: from the name up to the next bracket */
      const listed = async () => {
        const [part = ''] = new RegExp(`"name":"${full}[^\\]]*}`).exec(await get(`/zones/${ZONE}`)) ?? [];
        return [...part.matchAll(/content":"\\"([^\\]*)/g)].map(([, text]) => text as string);
      };
      for (const name of ['acme.example.com.', 'com.', '.']) assert.equal(await get(`/zones?zone=${name}`), '[]');
      assert.ok((await get(`/zones?zone=${ZONE}`)).includes(`"name":"${ZONE}"`));
      assert.ok((await get('/zones')).includes(`"name":"${ZONE}"`));
      const change = async (changetype: string, contents: string[]) => {
        const records = contents.map((text) => `{"content": "\\"${text}\\"", "disabled": false}`).join(', ');
        const body = `{"rrsets":[{"changetype":"${changetype}","name":"${full}.","type":"TXT","ttl":60,"records":[${records}]}]}`;
        const answer = await wire(`${api()}/zones/${ZONE}`, 'PATCH', { ...headers, 'Content-Type': JSON_TYPE }, body);
        assert.equal(answer.status, 204, answer.text);
        // without Content-Length and Content-Type
        assert.equal((await wire(`${api()}/zones/${ZONE}/notify`, 'PUT', headers)).status, 200);
      };
      await change('REPLACE', ['one']);
      assert.deepEqual(await listed(), ['one']);
      await change('REPLACE', ['two', ...(await listed())]);
      assert.deepEqual(await textsAt(world, full), ['one', 'two']);
      const left = (await listed()).filter((text) => text !== 'one');
      await change('DELETE', []);
      await change('REPLACE', left);
      assert.deepEqual(await textsAt(world, full), ['two']);
      await change('DELETE', []);
    });

    it('ExternalDNS reads each zone, and changes sets with or without TTL', async () => {
      const client = powerdnsClient(root(), key, { accept: JSON_TYPE });
      for (const { id } of await client.read<RawPowerdnsZone[]>('/zones')) assert.ok((await client.zone(id)).rrsets);
      const heritage = '"heritage=external-dns,external-dns/owner=me"';
      const sets = [set('xd.example.com.', 'A', ['192.0.2.1']), set('a-xd.example.com.', 'TXT', [heritage])];
      await client.patched(ZONE, ...sets);
      assert.deepEqual((await client.set(ZONE, 'a-xd.example.com.', 'TXT'))?.records?.[0]?.content, heritage);
      const gone = sets.map(({ ttl: _, ...one }) => ({ ...one, changetype: 'DELETE' }));
      await client.patched(ZONE, ...gone);
      assert.equal(await client.set(ZONE, 'xd.example.com.', 'A'), undefined);
      // it comes again at any failure, and reads the sentence
      const wrong = await client.patch(ZONE, set('xd.example.com.', 'A', ['nowhere']));
      assert.ok((JSON.parse(wrong.text) as { error: string }).error.includes('IPv4'));
    });

    it('Proxmox asks for the server, a zone without its sets, and sets names and addresses', async () => {
      const headers = { 'X-API-Key': key, 'Content-Type': `${JSON_TYPE}; charset=UTF-8` };
      const base = `${below()}/api/v1/servers/localhost`;
      assert.equal((await wire(base, 'GET', headers)).status, 200);
      assert.equal((await wire(`${base}/zones/example.com?rrsets=false`, 'GET', headers)).status, 200);
      const zone = JSON.parse((await wire(`${base}/zones/example.com`, 'GET', headers)).text) as RawPowerdnsZone;
      assert.ok(zone.rrsets.length);
      const record = { content: '192.0.2.7', disabled: false, name: 'vm.example.com.', type: 'A', priority: 0 };
      const vm = { name: 'vm.example.com.', type: 'A', ttl: 14400, changetype: 'REPLACE', records: [record] };
      for (const changetype of ['REPLACE', 'DELETE']) {
        const body = JSON.stringify({ rrsets: [{ ...vm, changetype }] });
        assert.equal((await wire(`${base}/zones/example.com`, 'PATCH', headers, body)).status, 204);
        assert.equal((await inDns('vm.example.com', 'A')).length, changetype === 'REPLACE' ? 1 : 0);
      }
    });

    it('OPNsense and Caddy walk up the labels to their zone, and use its id', async () => {
      const client = powerdnsClient(below(), key);
      const labels = 'home.office.example.com'.split('.');
      const found = [];
      for (let i = 0; i < labels.length && !found.length; i++)
        found.push(...(await client.read<RawPowerdnsZone[]>(`/zones?zone=${labels.slice(i).join('.')}.`)));
      assert.equal(found.length, 1);
      const id = found[0]?.id ?? '';
      const records = [{ content: '192.0.2.8' }];
      const home = { name: 'home.office.example.com.', type: 'A', ttl: 300, changetype: 'REPLACE', records };
      await client.patched(id, home);
      assert.deepEqual(await inDns('home.office.example.com', 'A'), ['192.0.2.8']);
      // libdns takes the last value away with an empty list
      await client.patched(id, { ...home, records: [] });
      assert.deepEqual(await inDns('home.office.example.com', 'A'), []);
    });

    it('lexicon and certbot send a body with each GET, and read the reason behind a status', async () => {
      const headers = { 'X-API-Key': key, Accept: JSON_TYPE, 'Content-Type': JSON_TYPE, 'Content-Length': '2' };
      const get = (path: string) => wire(api() + path, 'GET', headers, '{}');
      const zone = await get('/zones/example.com.');
      assert.deepEqual([zone.status, zone.headers['content-type']], [200, JSON_TYPE]);
      for (const name of ['www.example.com.', 'com.']) {
        const none = await get(`/zones/${name}`);
        assert.deepEqual([none.status, none.reason], [404, 'Not Found']);
      }
      const patch = (rrsets: object[]) =>
        wire(
          `${api()}/zones/example.com.`,
          'PATCH',
          { 'X-API-Key': key, 'Content-Type': JSON_TYPE },
          JSON.stringify({ rrsets }),
        );
      const name = 'lx.example.com.';
      const records = ['"a"', '"b"'].map((content) => ({ content, disabled: false }));
      assert.equal((await patch([{ name, type: 'TXT', ttl: 3600, changetype: 'REPLACE', records }])).status, 204);
      const echoed = [{ name, type: 'TXT', records: records.slice(1), ttl: 3600, changetype: 'REPLACE' }];
      assert.equal((await patch(echoed)).status, 204);
      assert.deepEqual(await textsAt(world, 'lx.example.com'), ['b']);
      assert.equal((await wire(`${api()}/zones/example.com/notify`, 'PUT', headers, '{}')).status, 200);
      const wrong = await patch([{ name: 'lx.example.net.', type: 'TXT', ttl: 1, changetype: 'REPLACE', records }]);
      assert.deepEqual([wrong.status, wrong.reason], [422, 'Unprocessable Entity']);
    });

    it('NetBox finds its own sets by their comment, and PowerDNS-Admin reads its lists', async () => {
      const client = powerdnsClient(root(), key, { accept: JSON_TYPE });
      const [server] = await client.read<{ id: string; version: string; daemon_type: string }[]>('/api/v1/servers');
      assert.ok(server?.id && server.version && server.daemon_type);
      const comments = [{ content: 'netbox-powerdns-sync', account: '', modified_at: 1700000000 }];
      await client.patched(ZONE, set('nb.example.com.', 'A', ['192.0.2.1'], { comments }));
      const own = (await client.zone(ZONE)).rrsets.filter((one) =>
        one.comments?.some(({ content }) => content === 'netbox-powerdns-sync'),
      );
      assert.deepEqual(
        own.map(({ name }) => name),
        ['nb.example.com.'],
      );
      const list = await client.read<Record<string, unknown>[]>('/zones');
      for (const zone of list) for (const field of LISTED_FIELDS) assert.ok(field in zone, field);
      assert.ok((await client.zone('example.com')).rrsets.length);
      assert.equal((await client.call('PUT', '/zones/example.com/axfr-retrieve')).status, 422);
      const patched = await client.call('PATCH', '/zones/example.com', {
        rrsets: [set('pda.example.com.', 'A', ['x'])],
      });
      assert.deepEqual([patched.status, patched.type], [422, JSON_TYPE]);
    });

    it('lego gets a certificate for a zone and its wildcard with a token of one name, and cleans up', async () => {
      const pebble: Pebble = await startPebble(world.pdns.dnsPort);
      try {
        const token = await tokenOf(world.admin, ['powerdns'], { preset: { name: 'acme' } });
        const resolver = `--dns.resolvers 127.0.0.1:${world.pdns.dnsPort} --dns.disable-cp`;
        const program = `lego --accept-tos --server ${pebble.url} --path ${join(folder, 'lego')} ${resolver}`;
        const run = async (snippet: string) =>
          new Promise<{ ok: boolean; output: string }>((resolve) => {
            const env = {
              PATH: process.env.PATH ?? '',
              HOME: folder,
              LEGO_CA_CERTIFICATES: pebble.ca,
              PDNS_POLLING_INTERVAL: '1',
            };
            const script = snippet.replace(/\blego --email/, `${program} --email`);
            execFile('/bin/sh', ['-c', script], { env, timeout: 100_000 }, (error, stdout, stderr) =>
              resolve({ ok: !error, output: stdout + stderr }),
            );
          });
        const snippet = await snippetOf(world.admin, 'powerdns', 'lego', token);
        assert.ok(snippet.includes(new URL(below()).pathname), snippet);
        const { ok, output } = await run(snippet);
        assert.ok(ok, output);
        assert.deepEqual(await textsAt(world, '_acme-challenge.example.com'), []);
        // the same token has no other name
        const other = await run(
          snippet.replaceAll('example.com ', 'www.example.com ').replaceAll("'*.example.com'", 'ftp.example.com'),
        );
        assert.equal(other.ok, false);
        assert.match(other.output, /403/);
      } finally {
        await pebble.stop();
      }
    });
  });
