import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, it } from '@jest/globals';
import { bindMissing, missing, startBind } from '../support/bind.js';
import { databases, type Kind } from '../support/databases.js';
import { noPowerdns, startPowerdns } from '../support/powerdns.js';
import { type Client, type Server, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { until } from '../support/until.js';
import { addAccount, addDomain, ask, done, made, type Published, published, refused, txtOf } from '../support/world.js';

const run = promisify(execFile);

interface Case {
  type: string;
  values: [string, string];
  /** before and after; for MX and SRV */
  priorities?: [number, number];
  rdata(value: string, priority?: number): string;
}

const CASES: Case[] = [
  { type: 'A', values: ['192.0.2.1', '192.0.2.2'], rdata: (v) => v },
  { type: 'AAAA', values: ['2001:db8::1', '2001:db8::2'], rdata: (v) => v },
  { type: 'CNAME', values: ['one.example.net', 'two.example.net'], rdata: (v) => `${v}.` },
  { type: 'MX', values: ['mx1.example.net', 'mx2.example.net'], priorities: [20, 5], rdata: (v, p) => `${p} ${v}.` },
  { type: 'TXT', values: ['v=spf1 -all', 'a "quoted"; back\\slash'], rdata: (v) => v },
  { type: 'NS', values: ['ns8.example.net', 'ns9.example.net'], rdata: (v) => `${v}.` },
  {
    type: 'SRV',
    values: ['5 5060 sip.example.net', '0 443 web.example.net'],
    priorities: [10, 0],
    rdata: (v, p) => `${p} ${v}.`,
  },
  { type: 'CAA', values: ['0 issue "ca.example.net"', '128 iodef "mailto:a@example.net"'], rdata: (v) => v },
];

// a zone for each kind of host, so that a wildcard does not show through where a name is gone
const HOSTS = { '@': 'apex.test', www: 'name.test', '*': 'star.test', _name: 'under.test' };
const SHARED = 'shared.test';
const ZONES = [...Object.values(HOSTS), SHARED];

/** A place that publishes zones, and how to see what it publishes. */
interface Place {
  provider: string;
  credentials: object;
  create: boolean;
  look(name: string, type: string): Promise<Published[]>;
  stop(): Promise<unknown>;
}

const PLACES: Record<string, { skip: string | false; kinds: Kind[]; start(server: Server): Promise<Place> }> = {
  PowerDNS: {
    skip: noPowerdns,
    kinds: ['sqlite', 'postgresql', 'mysql'],
    async start() {
      const pdns = await startPowerdns();
      for (const zone of ZONES) await pdns.createZone(zone);
      return {
        provider: 'powerdns',
        credentials: { url: pdns.url, api_key: pdns.apiKey },
        create: false,
        look: (name, type) => ask(pdns.dnsPort, name, type),
        stop: () => pdns.stop(),
      };
    },
  },
  BIND: {
    skip: bindMissing() ?? false,
    kinds: ['sqlite'],
    async start() {
      const bind = await startBind({ zones: ZONES });
      const { name, algorithm, secret } = bind.tsig;
      const key = { tsig_name: name, tsig_algorithm: algorithm, tsig_secret: secret };
      return {
        provider: 'rfc2136',
        credentials: { server: '127.0.0.1', port: bind.port, zones: ZONES, ...key },
        create: false,
        look: (host, type) => ask(bind.port, host, type),
        stop: () => bind.stop(),
      };
    },
  },
  'zone files': {
    skip: missing('named-checkzone') ?? false,
    kinds: ['sqlite'],
    start: async (server) => ({
      provider: 'zonefile',
      credentials: {},
      create: true,
      // BIND's own reader says what it would publish
      async look(name, type) {
        const zone = ZONES.find((z) => name.endsWith(z)) as string;
        const lenient = ['-k', 'ignore', '-i', 'none', '-n', 'ignore', '-r', 'ignore'];
        const file = join(server.dataDir, 'zones', `${zone}.zone`);
        const { stdout } = await run('named-checkzone', [...lenient, '-q', '-D', zone, file]);
        return published(stdout, name, type);
      },
      stop: async () => undefined,
    }),
  },
};

for (const { kind, skip } of databases('one')) {
  for (const [label, { skip: absent, kinds, start }] of Object.entries(PLACES)) {
    if (kinds.includes(kind))
      describeUnless(skip || absent)(`records at ${label}, on ${kind}`, () => suite(kind, start));
  }
}

function suite(kind: Kind, start: (server: Server) => Promise<Place>): void {
  let admin: Client;
  let place: Place;
  let account: number;
  const domains = new Map<string, number>();
  let stopService: () => Promise<void>;

  beforeAll(async () => {
    const service = await startService(kind);
    stopService = service.stop;
    admin = service.admin;
    place = await start(service.server);
    account = await addAccount(admin, place.provider, place.credentials);
    for (const zone of ZONES) domains.set(zone, await addDomain(admin, account, zone, place.create));
  });
  afterAll(async () => {
    await stopService?.();
    await place?.stop();
  });

  const recordsOf = (zone: string) => `/api/domains/${domains.get(zone) as number}/records` as const;
  const look = async (name: string, type: string) =>
    (await place.look(name, type)).map((p) => (type === 'TXT' ? { ...p, rdata: txtOf(p.rdata) } : p));
  const values = async (name: string, type: string) => (await look(name, type)).map((p) => p.rdata).toSorted();
  /** That the name server answers just this, which it may do a moment later: what is lost stays lost. */
  const publishes = (name: string, type: string, wanted: string[]) =>
    until(`${name} ${type} is ${wanted}`, async () => isDeepStrictEqual(await values(name, type), wanted));

  async function lifeOf(host: string, zone: string, { type, values: [first, second], priorities, rdata }: Case) {
    const name = host === '@' ? zone : `${host}.${zone}`;
    const what = `${host} ${type}`;
    const records = recordsOf(zone);
    const expectPublished = async (wanted: Published, gone: string[] = []) => {
      const seen = await look(name, type);
      assert.deepEqual(
        seen.find((p) => p.rdata === wanted.rdata),
        wanted,
        `${what} in ${JSON.stringify(seen)}`,
      );
      assert.ok(!seen.some((p) => gone.includes(p.rdata)), `${what}: ${gone} is gone`);
    };
    const expectGone = async (lost: string) => {
      const seen = await look(name, type);
      assert.ok(!seen.some((p) => p.rdata === lost), `${what}: ${lost} is gone from ${JSON.stringify(seen)}`);
      if (type !== 'NS' || host !== '@') assert.deepEqual(seen, []);
    };
    const [before, later] = priorities ?? [undefined, undefined];
    const body = { host, type, value: first, ttl: 300, priority: before };
    const { id } = made(await admin.post(`${records}?force=not_a_host_name`, body));
    await expectPublished({ ttl: 300, rdata: rdata(first, before) });

    assert.equal(done(await admin.put(`${records}/${id}`, { value: second })).value, second, what);
    await expectPublished({ ttl: 300, rdata: rdata(second, before) }, [rdata(first, before)]);
    assert.equal(done(await admin.put(`${records}/${id}`, { ttl: 900 })).ttl, 900);
    await expectPublished({ ttl: 900, rdata: rdata(second, before) });
    if (priorities) {
      assert.equal(done(await admin.put(`${records}/${id}`, { priority: later })).priority, later);
      await expectPublished({ ttl: 900, rdata: rdata(second, later) }, [rdata(second, before)]);
    }

    const off = done(await admin.patch(`${records}/${id}/status`, { enabled: false }));
    assert.deepEqual([off.id, off.enabled, off.value], [id, false, second]);
    await expectGone(rdata(second, later));
    done(await admin.patch(`${records}/${id}/status?force=not_a_host_name`, { enabled: true }));
    const back = done(await admin.get(`${records}/${id}`));
    assert.deepEqual([back.id, back.enabled, back.value, back.ttl], [id, true, second, 900]);
    await expectPublished({ ttl: 900, rdata: rdata(second, later) });

    done(await admin.delete(`${records}/${id}`));
    refused(await admin.get(`${records}/${id}`), 404, 404001);
    await expectGone(rdata(second, later));
  }

  for (const [host, zone] of Object.entries(HOSTS)) {
    it(`every type lives and dies at ${host}`, async () => {
      for (const one of CASES) {
        if (one.type === 'CNAME' && host === '@') continue;
        if (one.type === 'NS' && host === '*') continue;
        await lifeOf(host, zone, one);
      }
    });
  }

  it('a CNAME at the root of a domain is refused', async () => {
    const answer = await admin.post(recordsOf('apex.test'), { host: '@', type: 'CNAME', value: 'a.example.net' });
    assert.equal(refused(answer, 400, 400001).data.errors[0].path, 'type');
  });

  it('a wildcard answers for names that do not exist', async () => {
    const { id } = made(await admin.post(recordsOf(SHARED), { host: '*.wild', type: 'A', value: '192.0.2.77' }));
    const asked = place.create ? `*.wild.${SHARED}` : `anything.wild.${SHARED}`;
    await publishes(asked, 'A', ['192.0.2.77']);
    done(await admin.delete(`${recordsOf(SHARED)}/${id}`));
    await publishes(asked, 'A', []);
  });

  it('an NS below the root is a delegation', async () => {
    const records = recordsOf(SHARED);
    const { id } = made(await admin.post(records, { host: 'child', type: 'NS', value: 'ns1.example.net' }));
    made(await admin.post(records, { host: 'child', type: 'NS', value: 'ns2.example.net' }));
    await publishes(`child.${SHARED}`, 'NS', ['ns1.example.net.', 'ns2.example.net.']);
    done(await admin.patch(`${records}/${id}/status`, { enabled: false }));
    await publishes(`child.${SHARED}`, 'NS', ['ns2.example.net.']);
  });

  it('what happens to one value of a name leaves the others alone', async () => {
    const records = recordsOf(SHARED);
    const pairs: [string, string, string, string][] = [
      ['A', '192.0.2.10', '192.0.2.11', '192.0.2.12'],
      ['TXT', 'first', 'second', 'third'],
      ['CAA', '0 issue "a.example.net"', '0 issue "b.example.net"', '0 issue "c.example.net"'],
    ];
    for (const [type, one, two, three] of pairs) {
      const create = async (value: string) =>
        made(await admin.post(records, { host: 'pair', type, value, ttl: 300 })).id;
      const [a, b] = [await create(one), await create(two)];
      const sees = (wanted: string[]) => publishes(`pair.${SHARED}`, type, wanted);
      await sees([one, two]);
      done(await admin.put(`${records}/${a}`, { value: three }));
      await sees([two, three].toSorted());
      done(await admin.patch(`${records}/${a}/status`, { enabled: false }));
      await sees([two]);
      // the disabled one survives what happens to the one that is live
      done(await admin.put(`${records}/${b}`, { value: one, ttl: 450 }));
      assert.deepEqual(await look(`pair.${SHARED}`, type), [{ ttl: 450, rdata: one }]);
      done(await admin.post(`/api/accounts/${account}/sync`));
      const kept = done(await admin.get(`${records}/${a}`));
      assert.deepEqual([kept.value, kept.enabled], [three, false]);
      done(await admin.patch(`${records}/${a}/status`, { enabled: true }));
      await sees([one, three].toSorted());
      done(await admin.delete(`${records}/${a}`));
      await sees([one]);
      assert.equal(done(await admin.get(`${records}/${b}`)).value, one);
      done(await admin.delete(`${records}/${b}`));
      await sees([]);
    }
  });

  it('a TXT comes back as it was sent, whatever is in it', async () => {
    const records = recordsOf(SHARED);
    const mixed = 'say "hi"; C:\\dir\\; ключ=значение ünï 🎉 100% (x) ';
    const texts = [
      '',
      'x'.repeat(255),
      'y'.repeat(256),
      // 254 bytes, then letters of two bytes: the cut falls into one
      `${'z'.repeat(254)}üü`,
      mixed.repeat(50).slice(0, 2000).padEnd(2000, '\\'),
      '"'.repeat(2000),
      ' leading and trailing ',
      'a line\nand\ta tab',
      '"unclosed',
      '\\',
    ];
    const ids: number[] = [];
    for (const [i, value] of texts.entries()) {
      const { id } = made(await admin.post(records, { host: `txt${i}`, type: 'TXT', value }));
      ids.push(id);
      assert.equal(done(await admin.get(`${records}/${id}`)).value, value);
      await publishes(`txt${i}.${SHARED}`, 'TXT', [value]);
    }
    done(await admin.post(`/api/accounts/${account}/sync`));
    for (const [i, value] of texts.entries()) {
      const after = done(await admin.get(`${records}/${ids[i]}`));
      assert.deepEqual([after.value, after.read_only], [value, false], `text ${i} after a sync`);
      done(await admin.put(`${records}/${ids[i]}`, { ttl: 1234 }));
      assert.deepEqual(await look(`txt${i}.${SHARED}`, 'TXT'), [{ ttl: 1234, rdata: value }]);
    }
  });
}
