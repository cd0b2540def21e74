import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { CLASS, decode, encode, OPCODE, RCODE, type WireRecord } from '../../src/dns/wire.js';
import { rdataToText, rdataToWire, typeName, typeNumber } from '../../src/dns/wire-rdata.js';
import type { OpenDomain } from '../../src/domains/domain-policy.js';
import { DnsMessages } from '../../src/doors/rfc2136/dns-messages.js';
import { Rfc2136Service } from '../../src/doors/rfc2136/rfc2136.service.js';
import { DnsTransfers } from '../../src/doors/rfc2136/transfers.service.js';
import { Db } from '../../src/platform/database/db.js';
import { freePort, missing, startSecondary } from '../support/bind.js';
import { noFaketime, offBy } from '../support/clocks.js';
import { databases } from '../support/databases.js';
import { linesOf } from '../support/dig.js';
import { extendedError, overUdp, signedUpdate, tcp, transferred } from '../support/dns-messages.js';
import { logOf } from '../support/doors.js';
import { dig, type Key, nsupdate, type Ran, run } from '../support/nsupdate.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, applicationOf } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { addDomain, ask, done, made, refused, startWorld, txtOf, until, type World } from '../support/world.js';

const noTools = noPowerdns || missing('nsupdate', 'dig', 'named', 'named-checkzone') || noFaketime || false;
const ZONE = 'zone example.com';
/** The database on which all of it is tried. */
const FULL = databases('one')[0]?.kind;

const record = (host: string, type: string, rdata: string, ttl = 300): WireRecord => ({
  ...{ name: `${host}.example.com.`, type: typeNumber(type), class: CLASS.IN, ttl, rdata: rdataToWire(type, rdata) },
});

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noTools)(`the door rfc2136, on ${kind}`, () => {
    let world: World;
    let port: number;
    let token: number;
    let key: Key;

    const makeToken = async (more: object = {}): Promise<number> => {
      const body = { name: 'dns', allowed_services: ['rfc2136'], ...more };
      const answer = (await world.admin.post('/api/tokens', body)) as Answer<{ tokenData: { id: number } }>;
      return made(answer).tokenData.id;
    };
    const pathOf = (of: number) => `/api/tokens/${of}/tsig-key` as '/api/tokens/{id}/tsig-key';
    const makeKey = async (of: number, body: object = {}): Promise<Key> =>
      made((await world.admin.post(pathOf(of), body)) as Answer<Key>);
    const keyOf = async (more: object = {}): Promise<Key> => makeKey(await makeToken(more));
    const setDoor = async (enabled: boolean) =>
      void done(await world.admin.put('/api/settings/doors', { rfc2136: { enabled } }));

    const at = async (name: string, type: string) =>
      (await ask(world.pdns.dnsPort, name, type)).map(({ rdata }) => rdata).sort();
    const writes = () => world.proxy.requests.filter(({ method }) => method === 'PATCH').length;
    /** Asserts that an update got this code, by its words in nsupdate, or none. */
    const gets = ({ ok, output }: Ran, word: string | null) => {
      if (word === null) assert.ok(ok, output);
      else assert.match(output, new RegExp(`update failed: ${word}`));
    };
    /** The codes of the messages that a transfer without a record got. */
    const failedBy = async (by: Key | null, zone: string): Promise<number[]> => {
      const messages = await transferred(port, by, zone);
      assert.deepEqual(
        messages.flatMap(({ sections: [answer] }) => answer),
        [],
      );
      return messages.map(({ rcode }) => rcode);
    };
    const update = (lines: string[], args: string[] = [], by: Key | null = key) =>
      nsupdate(port, by, [ZONE, ...lines], args);

    beforeAll(async () => {
      port = await freePort();
      world = await startWorld(kind, { DNS_PORT: String(port), DNS_HOST: '127.0.0.1', OUTBOUND_ALLOW: '127.0.0.0/8' });
      done(await world.admin.put('/api/settings/security', { rate_limits: { public: 0, token: 0 } }));
      token = await makeToken();
    });
    afterAll(() => world?.stop());
    beforeEach(() => {
      world.proxy.fault = null;
    });

    it('shows the secret of a key once, and stores it sealed', async () => {
      key = await makeKey(token);
      assert.match(key.name, /^zoneward-[0-9a-f]{12}$/);
      assert.deepEqual([key.algorithm, Buffer.from(key.secret, 'base64').length], ['hmac-sha256', 32]);
      const view = done(await world.admin.get(pathOf(token)));
      assert.deepEqual([view.name, view.algorithm], [key.name, key.algorithm]);
      assert.ok(!JSON.stringify(view).includes(key.secret));
      const [row] = await rowsOf(world, 'SELECT secret FROM tsig_keys');
      assert.match(String(row?.secret), /^v1\./);
      const [entry] = await logOf(world, '&action=door.key_create');
      assert.ok(entry && !JSON.stringify(entry).includes(key.secret));
      refused(await world.admin.post(pathOf(token), { algorithm: 'md5' }), 400, 400001);
      refused(await world.admin.post(pathOf(999_999), {}), 404, 404001);
      refused(await world.admin.post(pathOf(await makeToken({ allowed_services: ['acme'] })), {}), 403, 403001);
      refused(await world.admin.get(pathOf(await makeToken())), 404, 404001);
    });

    it('refuses everybody while it is closed, which it is by default', async () => {
      const [door] = done(await world.admin.get('/api/doors')).filter((one) => one.key === 'rfc2136');
      assert.deepEqual([door?.enabled, door?.url], [false, `dns://localhost:${port}`]);
      gets(await update(['update add a.example.com 300 A 192.0.2.1']), 'REFUSED');
      assert.match((await dig(port, null, 'example.com', 'SOA')).output, /REFUSED/);
      await setDoor(true);
      gets(await update(['update add a.example.com 300 A 192.0.2.1']), null);
      await setDoor(false);
      gets(await update(['update add a.example.com 300 A 192.0.2.2']), 'REFUSED');
      await setDoor(true);
      assert.deepEqual(await at('a.example.com', 'A'), ['192.0.2.1']);
    });

    it('carries an update out once, however often it comes', async () => {
      const add = signedUpdate(key, 'example.com', [[], [record('once', 'A', '192.0.2.1')]], 77);
      const before = writes();
      const [first, second] = await Promise.all([overUdp(port, add), overUdp(port, add)]);
      assert.deepEqual([first && decode(first).rcode, second], [RCODE.NOERROR, first]);
      assert.equal(writes() - before, 1);
      gets(await update(['update delete once.example.com']), null);
      // with another id, and with the signature cut, it is the same
      const other = Buffer.from(add);
      other.writeUInt16BE(78, 0);
      const again = await overUdp(port, other);
      assert.deepEqual([again && decode(again).rcode, again?.readUInt16BE(0)], [RCODE.NOERROR, 78]);
      assert.deepEqual(await at('once.example.com', 'A'), []);
      // another process knows it, too
      const service = applicationOf(world.server.dataDir)?.get(Rfc2136Service, { strict: false }) as Rfc2136Service;
      const from = { ip: '127.0.0.1', isTcp: true, gone: () => false };
      for await (const answer of new DnsMessages(service).answers(add, from))
        assert.equal(decode(answer).rcode, RCODE.SERVFAIL);
      assert.deepEqual(await at('once.example.com', 'A'), []);
    });

    it('ends with its key', async () => {
      const own = await makeToken();
      const one = await makeKey(own);
      const other = await makeKey(own);
      gets(await update(['update delete nobody.example.com'], [], one), 'NOTAUTH\\(BADKEY\\)');
      gets(await update(['update delete nobody.example.com'], [], other), null);
      done(await world.admin.delete(pathOf(own)));
      refused(await world.admin.delete(pathOf(own)), 404, 404001);
      gets(await update(['update delete nobody.example.com'], [], other), 'NOTAUTH\\(BADKEY\\)');
    });

    it('tells the whole zone and its differences to who may read all of it', async () => {
      const whole = async (...more: string[]) => {
        const { output } = await dig(port, key, 'example.com', 'AXFR', ...more);
        assert.doesNotMatch(output, /Transfer failed/);
        return linesOf(output);
      };
      const before = await whole();
      const serialOf = (line: { rdata: string } | undefined) => Number(line?.rdata.split(' ')[2]);
      const serial = serialOf(before[0]);
      assert.deepEqual([before[0]?.type, before.at(-1)?.type, serial > 1], ['SOA', 'SOA', true]);
      const shown = (lines: { owner: string; type: string; rdata: string }[]) =>
        lines
          .filter(({ type }) => type !== 'SOA' && type !== 'TSIG')
          .map((l) => `${l.owner} ${l.type} ${l.rdata}`)
          .toSorted();
      const { rrsets } = await world.pdns.zone('example.com');
      const there = rrsets
        .filter(({ type }) => type !== 'SOA')
        .flatMap(({ name, type, records }) => records.map(({ content }) => `${name} ${type} ${content}`));
      assert.deepEqual(shown(before), there.toSorted());
      gets(await update(['update add ixfr.example.com 300 A 192.0.2.1', 'update delete a.example.com A']), null);
      const { output } = await dig(port, key, 'example.com', `IXFR=${serial}`);
      const difference = linesOf(output).filter(({ type }) => type !== 'TSIG');
      assert.deepEqual(
        difference.map(({ owner, type, rdata }) =>
          type === 'SOA' ? serialOf({ rdata }) : `${owner} ${type} ${rdata}`,
        ),
        [serial + 1, serial, 'a.example.com. A 192.0.2.1', serial + 1, 'ixfr.example.com. A 192.0.2.1', serial + 1],
      );
      // nothing new, newer than ours (RFC 1982), by UDP, and a serial that is not known
      for (const args of [[`IXFR=${serial + 1}`], [`IXFR=${serial + 9}`], [`IXFR=${serial}`, '+notcp']]) {
        const told = linesOf((await dig(port, key, 'example.com', ...args)).output);
        const soas = told.map(({ owner, type, rdata }) => [owner, type, serialOf({ rdata })]);
        assert.deepEqual(soas, [['example.com.', 'SOA', serial + 1]], args.join(' '));
      }
      const unknown = linesOf((await dig(port, key, 'example.com', 'IXFR=4000000000')).output);
      assert.deepEqual(shown(unknown), shown(await whole()));
      assert.deepEqual(await failedBy(null, 'example.com'), [RCODE.REFUSED]);
      assert.deepEqual(await failedBy(key, 'example.net'), [RCODE.NOTAUTH]);
      const forged = (await dig(port, { ...key, secret: 'AAAA' }, 'example.com', 'AXFR')).output;
      assert.match(forged, / 300 0 \d+ BADSIG 0[\s\S]*; Transfer failed\./);
      assert.deepEqual(linesOf(forged), []);
    });

    it('tells the secondaries of a key that a zone has changed, until they have it', async () => {
      const path = pathOf(token);
      // a key of the others may not transfer the zone, and its secondary is told nothing
      const rules = [{ effect: 'allow', hosts: ['www'] }];
      const narrow = await makeToken({ allowed_domains: [world.domain], rules });
      await makeKey(narrow);
      const silent = createSocket('udp4').bind(0, '127.0.0.1');
      await once(silent, 'listening');
      let heard = 0;
      silent.on('message', () => heard++);
      const nobody = `127.0.0.1:${silent.address().port}`;
      done(await world.admin.put(pathOf(narrow), { notify: [nobody] }));
      const secondary = await startSecondary(port, key, 'example.com');
      try {
        const target = `127.0.0.1:${secondary.port}`;
        const view = done(await world.admin.put(path, { notify: [target] }));
        assert.deepEqual([view.notify, view.notified], [[target], []]);
        assert.deepEqual(done(await world.admin.put(path, view)), view);
        const there = async (name: string) => (await ask(secondary.port, name, 'A')).map(({ rdata }) => rdata);
        // by the door, by the API, and what somebody changed at the provider
        gets(await update(['update add told.example.com 300 A 192.0.2.1']), null);
        await until('the update is there', async () => (await there('told.example.com')).length > 0);
        const add = { host: 'told2', type: 'A', value: '192.0.2.2', ttl: 300 };
        made(await world.admin.post(`/api/domains/${world.domain}/records`, add as never));
        await until('the record is there', async () => (await there('told2.example.com')).length > 0);
        const rrset = { name: 'told3.example.com.', type: 'A', ttl: 60, changetype: 'REPLACE' };
        await world.pdns.api('PATCH', '/zones/example.com.', {
          rrsets: [{ ...rrset, records: [{ content: '192.0.2.3', disabled: false }] }],
        });
        done(
          await world.admin.get(
            `/api/domains/${world.domain}/records?refresh=true` as '/api/domains/{domain_id}/records',
          ),
        );
        await until('the foreign record is there', async () => (await there('told3.example.com')).length > 0);
        const [last] = done(await world.admin.get(path)).notified;
        assert.deepEqual([last?.target, last?.zone, last?.error], [target, 'example.com', null]);
        assert.equal(heard, 0);
      } finally {
        await secondary.stop();
        silent.close();
      }
      // one that is away is told again, and the key says so
      gets(
        await update([
          'update delete told.example.com',
          'update delete told2.example.com',
          'update delete told3.example.com',
        ]),
        null,
      );
      const failure = async () => done(await world.admin.get(path)).notified[0]?.error ?? '';
      await until('the failure is noted', async () => (await failure()) !== '');
      assert.match(await failure(), /refused|no answer/);
      const jobs = await rowsOf(world, `SELECT state, tries FROM jobs WHERE name = 'rfc2136.notify'`);
      assert.ok(
        jobs.some(({ state, tries }) => state === 'waiting' && Number(tries) > 0),
        JSON.stringify(jobs),
      );
      for (const [notify, field] of [
        [['169.254.169.254'], 'notify.0'],
        [['ns2.example.net', 'a b'], 'notify.1'],
        [['127.0.0.1:53', '127.0.0.1'], 'notify.1'],
        [['127.0.0.1:0'], 'notify.0'],
        [['192.168.0.1'], 'notify.0'],
      ] as const)
        assert.deepEqual(
          refused(await world.admin.put(path, { notify: [...notify] }), 400, 400001).data.errors?.map(
            ({ path: at }) => at,
          ),
          [field],
        );
      done(await world.admin.put(path, { notify: [] }));
      done(await world.admin.delete(pathOf(narrow)));
    });

    it('tells the whole zone, not its differences, where records of the provider give way or very many have changed', async () => {
      const transfers = applicationOf(world.server.dataDir)?.get(DnsTransfers, { strict: false }) as DnsTransfers;
      const told = async (provider: string, serial: number | null) => {
        const pieces = transfers.pieces({ id: world.domain, name: 'example.com', provider } as OpenDomain, serial);
        const records: WireRecord[] = [];
        for await (const piece of pieces) records.push(...piece);
        return records;
      };
      gets(await update(['update add way.example.com 300 A 192.0.2.1']), null);
      const [soa, ...whole] = await told('vercel', null);
      const serial = Number(soa && rdataToText('SOA', soa.rdata, 0, soa.rdata.length).split(' ')[2]) - 1;
      assert.deepEqual(
        (await told('powerdns', serial)).map(({ type }) => typeName(type)),
        ['SOA', 'SOA', 'SOA', 'A', 'SOA'],
      );
      assert.deepEqual(await told('vercel', serial), [soa, ...whole]);
      assert.ok(whole.length > 3);
      // nor where so much has changed that the whole zone is told sooner
      const db = applicationOf(world.server.dataDir)?.get(Db, { strict: false }) as Db;
      await db.run('UPDATE versions SET created = 5001 WHERE domain_id = ? AND version > ?', [world.domain, serial]);
      assert.deepEqual(await told('powerdns', serial), [soa, ...whole]);
    });

    // what no statement of a database is part of
    if (kind !== FULL) return;

    it('tells everybody the SOA of a zone, for names in it, too, and nothing else', async () => {
      const apex = await dig(port, null, 'EXAMPLE.com', 'SOA', '+norecurse');
      assert.match(apex.output, /status: NOERROR[\s\S]*flags: qr aa;.*ANSWER: 1/);
      const below = await dig(port, null, '_acme-challenge.www.example.com', 'SOA', '+tcp');
      assert.match(below.output, /status: NOERROR[\s\S]*flags: qr aa[^;]*;.*ANSWER: 0, AUTHORITY: 1/);
      assert.match((await dig(port, null, 'example.net', 'SOA')).output, /status: REFUSED/);
      for (const type of ['A', 'TXT', 'ANY']) {
        const { output } = await dig(port, null, 'a.example.com', type, '+notcp');
        assert.match(output, /status: REFUSED/);
      }
      assert.match((await dig(port, null, 'example.com', 'SOA', '-c', 'CH')).output, /status: REFUSED/);
      assert.match((await dig(port, null, 'example.com', 'SOA', '+edns=7')).output, /BADVERS/);
      assert.match((await dig(port, null, 'example.com', 'SOA', '+opcode=notify')).output, /status: NOTIMP/);
    });

    it('adds and deletes records, by UDP and TCP', async () => {
      gets(
        await update([
          'update add b.example.com 300 TXT "one" "two"',
          'update add b.example.com 300 MX 10 a.example.com.',
        ]),
        null,
      );
      assert.deepEqual((await at('b.example.com', 'TXT')).map(txtOf), ['onetwo']);
      gets(await update(['update add b.example.com 300 TXT "three"'], ['-v']), null);
      gets(await update(['update delete b.example.com TXT "onetwo"']), null);
      assert.deepEqual((await at('b.example.com', 'TXT')).map(txtOf), ['three']);
      gets(await update(['update delete b.example.com TXT', 'update add b.example.com 60 TXT "four"']), null);
      assert.deepEqual(await ask(world.pdns.dnsPort, 'b.example.com', 'TXT'), [{ ttl: 60, rdata: '"four"' }]);
      gets(await update(['update delete b.example.com']), null);
      assert.deepEqual([...(await at('b.example.com', 'TXT')), ...(await at('b.example.com', 'MX'))], []);
      // the client finds the zone by itself
      gets(
        await nsupdate(port, key, [
          'update add c.example.com 300 DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=',
        ]),
        null,
      );
      assert.equal((await at('c.example.com', 'DHCID')).length, 1);
      await world.agree();
      const [set] = done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list;
      assert.deepEqual([set?.door, set?.door_key], ['door', 'rfc2136']);
      const entry = (await logOf(world)).find(({ action }) => action.startsWith('record.'));
      assert.deepEqual([entry?.door, entry?.result], ['rfc2136', 'ok']);
    });

    it('gives a value that takes the place of another one no end', async () => {
      const old = { host: 'ends', type: 'A', value: '192.0.2.1', ttl: 300, expires_at: '2099-01-01T00:00:00.000Z' };
      const { id } = made(await world.admin.post(world.records, old));
      gets(await update(['update delete ends.example.com A', 'update add ends.example.com 300 A 192.0.2.2']), null);
      const { value, expires_at } = done(await world.admin.get(`${world.records}/${id}`));
      assert.deepEqual([value, expires_at], ['192.0.2.2', null]);
      gets(await update(['update delete ends.example.com']), null);
    });

    it('adds an MX or SRV beside one that has its target and another priority', async () => {
      const mx = (priority: number) => `update add pr.example.com 300 MX ${priority} a.example.com.`;
      gets(await update([mx(10)]), null);
      gets(await update([mx(20)]), null);
      assert.deepEqual(await at('pr.example.com', 'MX'), ['10 a.example.com.', '20 a.example.com.']);
      gets(await update(['update delete pr.example.com MX 10 a.example.com.']), null);
      assert.deepEqual(await at('pr.example.com', 'MX'), ['20 a.example.com.']);
      const srv = (priority: number) => `update add _x._tcp.pr.example.com 300 SRV ${priority} 5 443 a.example.com.`;
      gets(await update([srv(1), srv(2)]), null);
      gets(await update([srv(3), srv(1)]), null);
      const all = [1, 2, 3].map((priority) => `${priority} 5 443 a.example.com.`);
      assert.deepEqual(await at('_x._tcp.pr.example.com', 'SRV'), all);
    });

    it('refuses to delete or compare one record whose data it cannot read', async () => {
      const bytes = 'update delete odd.example.com TXT "\\255"';
      gets(await update(['update add odd.example.com 300 TXT "text"']), null);
      gets(await update([bytes]), 'REFUSED');
      const compared = bytes.replace('update delete', 'prereq yxrrset');
      gets(await update([compared, 'update add odd2.example.com 300 A 192.0.2.1']), 'REFUSED');
      assert.deepEqual([await at('odd.example.com', 'TXT'), await at('odd2.example.com', 'A')], [['"text"'], []]);
      // where there is no such set there is nothing to confuse it with
      gets(await update([bytes.replace('odd', 'noodd')]), null);
      gets(await update([compared.replace('odd', 'noodd')]), 'NXRRSET');
      gets(await update(['update delete odd.example.com TXT']), null);
      assert.deepEqual(await at('odd.example.com', 'TXT'), []);
    });

    it('takes services and locations, tells them by their data, and transfers them', async () => {
      const serial = async () =>
        Number((await dig(port, key, 'example.com', 'SOA')).output.match(/\. (\d+) 3600/)?.[1]);
      const before = await serial();
      const own = { host: 'svc', type: 'HTTPS', value: '1 . alpn="h2" port=8443 ipv6hint=2001:db8::1', ttl: 300 };
      made(await world.admin.post(`/api/domains/${world.domain}/records`, own as never));
      const same = 'svc.example.com HTTPS 1 . ipv6hint=2001:DB8:0::1 alpn=h2 port=8443';
      gets(await update([`prereq yxrrset ${same}`, `update add ${same.replace('HTTPS', '600 HTTPS')}`]), null);
      const [held] = await ask(world.pdns.dnsPort, 'svc.example.com', 'HTTPS');
      assert.equal(held?.ttl, 600);
      gets(
        await update([
          'update add svc.example.com 600 HTTPS 2 svc.example.net. key7=/q{?dns} key667=x ech=AAEC mandatory=key7',
          'update add _s.example.com 300 SVCB 0 svc.example.net.',
          'update add loc.example.com 300 LOC 52 22 23 N 4 53 32 E -2m 1m 10000m 10m',
        ]),
        null,
      );
      const { output } = await dig(port, key, 'example.com', 'AXFR');
      assert.doesNotMatch(output, /Transfer failed/);
      // BIND takes the zone as it was transferred, and PowerDNS answers what stands in it
      const zone = output.split('\n').filter((line) => line && !/^;|\sTSIG\s/.test(line));
      zone.splice(
        zone.findLastIndex((line) => /\sSOA\s/.test(line)),
        1,
      );
      const args = ['-q', '-i', 'none', '-k', 'ignore', '-D', '-o', '-', 'example.com', '-'];
      const read = await run('named-checkzone', args, `${zone.join('\n')}\n`);
      assert.ok(read.ok, read.output);
      const told = linesOf(read.output);
      for (const [name, type] of [
        ['svc', 'HTTPS'],
        ['_s', 'SVCB'],
        ['loc', 'LOC'],
      ] as const) {
        const wires = (rdata: string[]) => rdata.map((one) => rdataToWire(type, one).toString('hex')).toSorted();
        const here = told.filter(({ owner, type: of }) => owner === `${name}.example.com.` && of === type);
        assert.deepEqual(wires(here.map(({ rdata }) => rdata)), wires(await at(`${name}.example.com`, type)), name);
        assert.equal(here.length, name === 'svc' ? 2 : 1);
      }
      const since = linesOf((await dig(port, key, 'example.com', `IXFR=${before}`)).output);
      assert.deepEqual(
        since
          .map(({ type }) => type)
          .filter((type) => !['SOA', 'TSIG'].includes(type))
          .toSorted(),
        ['HTTPS', 'HTTPS', 'LOC', 'SVCB'],
      );
      gets(
        await update(['prereq yxrrset svc.example.com HTTPS 1 . alpn=h3', 'update delete svc.example.com']),
        'NXRRSET',
      );
      gets(
        await update([
          `update delete ${same}`,
          'update delete loc.example.com LOC 52 22 23.000 N 4 53 32.000 E -2m',
          'update delete _s.example.com SVCB 0 svc.example.net.',
        ]),
        null,
      );
      const left = await at('svc.example.com', 'HTTPS');
      assert.ok(left.length === 1 && left[0]?.startsWith('2 '), left.join());
      assert.deepEqual([await at('_s.example.com', 'SVCB'), await at('loc.example.com', 'LOC')], [[], []]);
      // data that is none of its type
      const bad = { ...record('bad', 'HTTPS', '1 . alpn=h2'), rdata: Buffer.from('0001000001', 'hex') };
      const answer = await overUdp(port, signedUpdate(key, 'example.com', [[], [bad]]));
      assert.equal(answer && decode(answer).rcode, RCODE.FORMERR);
      gets(await update(['update delete svc.example.com']), null);
      await world.agree();
    });

    it('changes nothing where a prerequisite does not hold', async () => {
      gets(
        await update(['update add p.example.com 300 A 192.0.2.1', 'update add p.example.com 300 A 192.0.2.2']),
        null,
      );
      const table: [string[], string | null][] = [
        [['prereq yxdomain p.example.com'], null],
        [['prereq yxdomain nobody.example.com'], 'NXDOMAIN'],
        [['prereq yxdomain example.com'], null],
        [['prereq nxdomain nobody.example.com'], null],
        [['prereq nxdomain p.example.com'], 'YXDOMAIN'],
        [['prereq yxrrset p.example.com A'], null],
        [['prereq yxrrset p.example.com AAAA'], 'NXRRSET'],
        [['prereq yxrrset example.com SOA'], null],
        [['prereq nxrrset p.example.com AAAA'], null],
        [['prereq nxrrset p.example.com A'], 'YXRRSET'],
        [['prereq yxrrset p.example.com A 192.0.2.1', 'prereq yxrrset p.example.com A 192.0.2.2'], null],
        [['prereq yxrrset p.example.com A 192.0.2.1'], 'NXRRSET'],
        [['prereq yxrrset p.example.com A 192.0.2.1', 'prereq yxrrset p.example.com A 192.0.2.9'], 'NXRRSET'],
        [['prereq nxdomain nobody.example.com', 'prereq nxrrset p.example.com A'], 'YXRRSET'],
        [['prereq yxdomain www.example.net'], 'NOTZONE'],
      ];
      for (const [i, [lines, word]] of table.entries()) {
        const name = `q${i}.example.com`;
        gets(await update([...lines, `update add ${name} 300 A 192.0.2.1`]), word);
        assert.deepEqual(await at(name, 'A'), word === null ? ['192.0.2.1'] : [], lines.join());
      }
    });

    it('judges prerequisites by what the provider holds, not by what was read of it', async () => {
      const records = [{ content: '192.0.2.77', disabled: false }];
      const rrset = { name: 'foreign.example.com.', type: 'A', ttl: 60, changetype: 'REPLACE', records };
      await world.pdns.api('PATCH', '/zones/example.com.', { rrsets: [rrset] });
      gets(
        await update(['prereq nxdomain foreign.example.com', 'update add foreign.example.com 300 A 192.0.2.1']),
        'YXDOMAIN',
      );
      gets(
        await update([
          'prereq yxrrset foreign.example.com A 192.0.2.77',
          'update delete foreign.example.com A',
          'update add foreign.example.com 300 A 192.0.2.78',
        ]),
        null,
      );
      assert.deepEqual(await at('foreign.example.com', 'A'), ['192.0.2.78']);
    });

    it('lets one of many win that all ask for the same absent name', async () => {
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, i) =>
          update(['prereq nxdomain race.example.com', `update add race.example.com 300 A 192.0.2.${i + 1}`], ['-v']),
        ),
      );
      assert.equal(all.filter(({ ok }) => ok).length, 1);
      assert.equal(all.filter(({ output }) => /YXDOMAIN/.test(output)).length, 5);
      assert.equal((await at('race.example.com', 'A')).length, 1);
    });

    it('carries out all of an update or nothing', async () => {
      for (const [line, word] of [
        ['update add example.com 300 SOA a. b. 1 2 3 4 5', 'REFUSED'],
        ['update add z.example.com 300 TYPE65280 \\# 1 00', 'REFUSED'],
        ['update add www.example.net 300 A 192.0.2.1', 'NOTZONE'],
        // values that a name server does not load
        ['update add *.example.com 300 NS ns1.example.net.', 'REFUSED'],
        [`update add example.com 300 DS 1 13 2 ${'ab'.repeat(32)}`, 'REFUSED'],
        ['update add z.example.com 300 TLSA 3 1 1 abab', 'REFUSED'],
        ['update add z.example.com 300 CNAME z.example.com.', 'REFUSED'],
        ['update add z.example.com 300 MX 5 .', 'REFUSED'],
      ] as const) {
        gets(await update(['update add half.example.com 300 A 192.0.2.1', line]), word);
        assert.deepEqual(await at('half.example.com', 'A'), [], line);
      }
      const before = writes();
      gets(
        await update([
          'update add w1.example.com 300 A 192.0.2.1',
          'update add w2.example.com 300 A 192.0.2.1',
          'update delete p.example.com A 192.0.2.2',
        ]),
        null,
      );
      assert.equal(writes() - before, 1);
    });

    it('keeps the rules of RFC 2136 for CNAME, the apex and TTLs', async () => {
      const ns = await at('example.com', 'NS');
      gets(
        await update([
          'update delete example.com',
          'update delete example.com NS',
          `update delete example.com NS ${ns[0]}`,
          'update delete example.com SOA',
        ]),
        null,
      );
      assert.deepEqual(await at('example.com', 'NS'), ns);
      gets(await update(['update add p.example.com 300 CNAME a.example.com.']), null);
      assert.deepEqual(await at('p.example.com', 'CNAME'), []);
      gets(await update(['update add cn.example.com 300 CNAME a.example.com.']), null);
      gets(
        await update([
          'update add cn.example.com 300 A 192.0.2.1',
          'update add cn.example.com 300 CNAME p.example.com.',
        ]),
        null,
      );
      assert.deepEqual(
        [await at('cn.example.com', 'CNAME'), await at('cn.example.com', 'A')],
        [['p.example.com.'], []],
      );
      gets(await update(['update delete cn.example.com CNAME', 'update add cn.example.com 300 A 192.0.2.1']), null);
      assert.deepEqual(await at('cn.example.com', 'A'), ['192.0.2.1']);
      gets(await update(['update add p.example.com 77 A 192.0.2.1']), null);
      assert.deepEqual(await ask(world.pdns.dnsPort, 'p.example.com', 'A'), [{ ttl: 77, rdata: '192.0.2.1' }]);
      // a TTL of 0 is one
      gets(await update(['update add p.example.com 0 A 192.0.2.1']), null);
      assert.deepEqual(await ask(world.pdns.dnsPort, 'p.example.com', 'A'), [{ ttl: 0, rdata: '192.0.2.1' }]);
      await world.agree();
    });

    it('says what is wrong with a key or a clock', async () => {
      const line = 'update add t.example.com 300 A 192.0.2.1';
      gets(await update([line], [], null), 'REFUSED');
      gets(await update([line], [], { ...key, name: 'nobody' }), 'NOTAUTH\\(BADKEY\\)');
      gets(await update([line], [], { ...key, secret: Buffer.alloc(32).toString('base64') }), 'NOTAUTH\\(BADSIG\\)');
      gets(await update([line], [], { ...key, algorithm: 'hmac-sha512' }), 'NOTAUTH\\(BADKEY\\)');
      // nsupdate does not run under faketime
      const client = [
        'import dns.query, dns.tsigkeyring, dns.update',
        `ring = dns.tsigkeyring.from_text({"${key.name}": ("${key.algorithm}", "${key.secret}")})`,
        'one = dns.update.UpdateMessage("example.com", keyring=ring)',
        'one.add("t", 300, "A", "192.0.2.1")',
        `print(dns.query.tcp(one, "127.0.0.1", port=${port}, timeout=10).rcode())`,
      ].join('\n');
      for (const [seconds, words] of [
        [0, /^0$/m],
        [-3600, /PeerBadTime/],
        [3600, /PeerBadTime/],
      ] as const)
        assert.match((await run('/usr/bin/python3', ['-c', client], '', offBy(seconds))).output, words);
      gets(await update(['update delete t.example.com']), null);
      assert.deepEqual(await at('t.example.com', 'A'), []);
    });

    it('takes the algorithm that a key was made for, cut to half, too', async () => {
      for (const algorithm of ['hmac-md5', 'hmac-sha1', 'hmac-sha224', 'hmac-sha384', 'hmac-sha512']) {
        const own = await keyOf();
        const id = (await rowsOf(world, `SELECT token_id FROM tsig_keys WHERE name = '${own.name}'`))[0]?.token_id;
        const other = await makeKey(Number(id), { algorithm });
        assert.equal(other.algorithm, algorithm);
        gets(await update(['update add algorithm.example.com 300 A 192.0.2.1'], ['-v'], other), null);
        gets(await update(['update delete algorithm.example.com'], [], own), 'NOTAUTH\\(BADKEY\\)');
      }
      const cut = { ...key, algorithm: 'hmac-sha256-128' };
      gets(await update(['update add cut.example.com 300 A 192.0.2.1'], [], cut), null);
    });

    it('lets a key do what its token may, and nothing else', async () => {
      await world.pdns.createZone(`${kind}.example.org`);
      const foreign = await addDomain(world.admin, world.account, `${kind}.example.org`);
      const rules = [{ effect: 'allow', hosts: ['_acme-challenge.www'], types: ['TXT'] }];
      const only = await makeToken({ allowed_domains: [world.domain], rules });
      const narrow = await makeKey(only);
      const by = (lines: string[]) => update(lines, [], narrow);
      const own = '_acme-challenge.www.example.com';
      gets(
        await by([`prereq nxrrset ${own} TXT`, `update delete ${own} TXT`, `update add ${own} 60 TXT "token"`]),
        null,
      );
      assert.deepEqual((await at(own, 'TXT')).map(txtOf), ['token']);
      for (const line of [
        'update add www.example.com 60 TXT "x"',
        `update add ${own} 60 CNAME a.example.com.`,
        'update delete a.example.com',
        'update delete nobody.example.com',
        `update delete ${own}`,
        // whether they hold is not for it to know
        'prereq yxdomain a.example.com',
        'prereq nxdomain nobody.example.com',
        'prereq yxrrset a.example.com A',
      ])
        gets(await by([line, `update add ${own} 60 TXT "second"`]), 'REFUSED');
      const [entry] = await logOf(world, '&action=record.update');
      assert.deepEqual([entry?.door, entry?.result, entry?.domain], ['rfc2136', 'failed', 'example.com']);
      assert.deepEqual((await at(own, 'TXT')).map(txtOf), ['token']);
      const elsewhere = (zone: string) =>
        nsupdate(port, narrow, [`zone ${zone}`, `update add x.${zone} 60 A 192.0.2.1`]);
      gets(await elsewhere(`${kind}.example.org`), 'REFUSED');
      gets(await elsewhere('example.net'), 'NOTAUTH');
      gets(await elsewhere('www.example.com'), 'NOTAUTH');
      assert.deepEqual(await failedBy(narrow, 'example.com'), [RCODE.REFUSED]);
      assert.deepEqual(await failedBy(narrow, `${kind}.example.org`), [RCODE.REFUSED]);
      // what it may changes with its token, at once
      const path = `/api/tokens/${only}` as '/api/tokens/{id}';
      done(await world.admin.put(path, { allowed_cidrs: ['198.51.100.0/24'] } as never));
      gets(await by([`update add ${own} 60 TXT "third"`]), 'REFUSED');
      done(await world.admin.put(path, { allowed_cidrs: [], allowed_services: ['acme'] } as never));
      gets(await by([`update add ${own} 60 TXT "third"`]), 'REFUSED');
      const status = `/api/tokens/${only}/status` as '/api/tokens/{id}/status';
      done(await world.admin.patch(status, { is_active: false }));
      gets(await by([`update add ${own} 60 TXT "third"`]), 'NOTAUTH\\(BADKEY\\)');
      assert.match((await dig(port, narrow, 'example.com', 'SOA')).output, /BADKEY/);
      done(await world.admin.delete(path));
      assert.deepEqual(await rowsOf(world, `SELECT id FROM tsig_keys WHERE name = '${narrow.name}'`), []);
      done(await world.admin.delete(`/api/domains/${foreign}` as '/api/domains/{domain_id}'));
    });

    it('tells clients with EDNS why, and what to do', async () => {
      const said = async (host: string) => {
        const raw = await overUdp(
          port,
          signedUpdate(key, 'example.com', [[], [record(host, 'A', '192.0.2.1')]]),
          20_000,
        );
        assert.ok(raw);
        return { rcode: decode(raw).rcode, ...extendedError(raw) };
      };
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
      const away = await said('ede1');
      assert.deepEqual([away.rcode, away.code], [RCODE.SERVFAIL, 22]);
      assert.match(away.text ?? '', /503/);
      // the provider takes it at no time
      world.proxy.fault = async () => ({ status: 422, body: '{"error": "never so"}' });
      const never = await said('ede0');
      assert.deepEqual([never.rcode, never.code], [RCODE.REFUSED, 18]);
      assert.match(never.text ?? '', /never so/);
      world.proxy.fault = null;
      const until = new Date(Date.now() + 3_600_000).toISOString();
      const rules = `/api/domains/${world.domain}` as const;
      done(await world.admin.put(rules, { freeze: { from: '2020-01-01T00:00Z', until, reason: 'release' } }));
      const ice = await said('ede2');
      assert.deepEqual([ice.rcode, ice.code], [RCODE.REFUSED, 18]);
      assert.ok(ice.text);
      done(await world.admin.put(rules, { freeze: null }));
      assert.deepEqual(
        [
          ...(await at('ede0.example.com', 'A')),
          ...(await at('ede1.example.com', 'A')),
          ...(await at('ede2.example.com', 'A')),
        ],
        [],
      );
      assert.equal((await said('ede3')).rcode, RCODE.NOERROR);
    });

    it('takes a large update, and tells a large zone in many signed messages', async () => {
      const lines = Array.from(
        { length: 1500 },
        (_, i) => `update add n${i}.big.example.com 300 A 198.51.100.${i % 250}`,
      );
      const before = writes();
      gets(await update(lines, ['-v']), null);
      assert.ok(writes() - before <= 2);
      const messages = await transferred(port, key, 'example.com');
      assert.ok(messages.length > 2, `${messages.length} messages`);
      const names = new Set(messages.flatMap(({ sections: [answer] }) => answer.map(({ name }) => name)));
      for (let i = 0; i < 1500; i++) assert.ok(names.has(`n${i}.big.example.com.`));
      // a record that no message holds
      const add = { host: 'huge', type: 'TXT', value: 'x'.repeat(65_100), ttl: 300 };
      const path = `/api/domains/${world.domain}/records` as const;
      made(await world.admin.post(path, add as never));
      const ends = async () => (await transferred(port, key, 'example.com')).at(-1)?.rcode;
      assert.equal(await ends(), RCODE.SERVFAIL);
      gets(await update(['update delete huge.example.com']), null);
      assert.equal(await ends(), RCODE.NOERROR);
      gets(await update(['update delete n7.big.example.com', 'update delete n8.big.example.com A']), null);
    });

    it('bears what nobody should send', async () => {
      let state = createHash('sha256').update('rfc2136').digest();
      const noise = (size: number) => {
        const parts: Buffer[] = [];
        for (let left = size; left > 0; left -= 32) {
          state = createHash('sha256').update(state).digest();
          parts.push(state);
        }
        return Buffer.concat(parts).subarray(0, size);
      };
      const good = signedUpdate(key, 'example.com', [[], [record('noise', 'A', '192.0.2.1')]]);
      const spoilt = (i: number) => {
        const bytes = Buffer.from(good);
        bytes.writeUInt8(i & 255, 2 + (i % (bytes.length - 2)));
        return i % 3 ? bytes.subarray(0, 1 + (i % bytes.length)) : noise(1 + (i % 700));
      };
      const socket = (await import('node:dgram')).createSocket('udp4');
      for (let i = 0; i < 3000; i++) {
        await new Promise((sent) => socket.send(spoilt(i), port, '127.0.0.1', sent));
        if (i % 50 === 0)
          assert.ok(await overUdp(port, encode(i, OPCODE.QUERY, { name: 'example.com', type: 6 })), `${i}`);
      }
      socket.close();
      for (let i = 0; i < 200; i++) {
        const connection = await tcp(port);
        connection.end(i % 2 ? noise(5 + i * 7) : Buffer.concat([Buffer.from([0, 40]), spoilt(i)]));
        if (i % 20 === 0) await new Promise((closed) => connection.resume().once('close', closed));
      }
      gets(await update(['update add after.example.com 300 A 192.0.2.1'], ['-v']), null);
      assert.deepEqual(await at('noise.example.com', 'A'), []);
      assert.doesNotMatch(world.server.log, /internal error|unhandled/i);
    });

    it('answers one network only so often that nobody is flooded by its answers', async () => {
      done(await world.admin.put('/api/settings/security', { rate_limits: { public: 1 } }));
      const question = encode(1, OPCODE.QUERY, { name: 'example.com', type: 6 });
      assert.ok(await overUdp(port, question));
      assert.equal(await overUdp(port, question, 500), null);
      // who signs is counted by the token
      gets(await update(['update add signed.example.com 300 A 192.0.2.1']), null);
      done(await world.admin.put('/api/settings/security', { rate_limits: { public: 0 } }));
    });
  });
