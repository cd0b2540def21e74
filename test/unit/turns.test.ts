import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { difference } from '../../src/cache/reconcile.js';
import { type Entry, type FileEntry, parseEntries } from '../../src/dns/zonefile-entries.js';
import { wantedOf } from '../../src/doors/external-dns/endpoints.js';
import { ExternalDnsService } from '../../src/doors/external-dns/external-dns.service.js';
import { plainText } from '../../src/http/request-context.js';
import type { AppError } from '../../src/platform/common/errors.js';
import { due, turn } from '../../src/platform/common/turns.js';
import { setsAt } from '../../src/providers/kit/rrsets/plain-sets.js';
import { providerOf } from '../../src/providers/registry.js';
import { bytesOf, replaceSetsIn, setsIn } from '../../src/providers/zonefile/edit.js';
import { parseMasterFile } from '../../src/providers/zonefile/masterfile.js';
import { countLooks } from '../support/counting-clock.js';

const ZONE = 'example.com';

/** How many turns the event loop makes while something is done. */
async function turnsOf<T>(work: () => Promise<T>): Promise<[number, T]> {
  let turns = 0;
  let handle = setImmediate(function again() {
    turns++;
    handle = setImmediate(again);
  });
  try {
    const done = await work();
    return [turns, done];
  } finally {
    clearImmediate(handle);
  }
}

describe('long work', () => {
  let undo: () => void;
  beforeAll(() => {
    undo = countLooks();
  });
  afterAll(() => undo());

  it('is done a piece a turn of the event loop, however much of it there is, and by each in his turn', async () => {
    let loop = 0;
    let handle = setImmediate(function again() {
      loop++;
      handle = setImmediate(again);
    });
    const pieces: { loop: number; who: number }[] = [];
    const long = async (who: number) => {
      for (let i = 0; i < 1000; i++) {
        if (!due()) continue;
        await turn();
        pieces.push({ loop, who });
      }
    };
    await Promise.all([0, 1, 2, 3].map(long));
    clearImmediate(handle);
    assert.ok(pieces.length > 20, String(pieces.length));
    assert.equal(new Set(pieces.map((piece) => piece.loop)).size, pieces.length, 'never two in one turn');
    assert.deepEqual(
      pieces.slice(0, 8).map((piece) => piece.who),
      [0, 1, 2, 3, 0, 1, 2, 3],
    );
  });

  it('comes first where others wait for what it holds', async () => {
    const order: string[] = [];
    const wait = async (name: string, holds = false) => {
      await turn(holds);
      order.push(name);
    };
    await Promise.all([wait('a'), wait('b'), wait('holds', true)]);
    assert.deepEqual(order, ['holds', 'a', 'b']);
  });

  it('is what is done with a body of many small values, before anybody knows who sent it', async () => {
    const check = (body: object) =>
      turnsOf(() => new Promise<unknown>((done) => plainText({ url: '/', body } as Request, {} as Response, done)));
    const [looking, fine] = await check({ list: Array.from({ length: 20_000 }, () => [0]) });
    assert.ok(looking > 100, `looking: ${looking}`);
    assert.equal(fine, undefined);
    const pathOf = async (body: object) => ((await check(body))[1] as AppError).message.split(':')[0];
    assert.equal(await pathOf({ a: [0, { b: ['x', 'y\0'] }] }), 'a.1.b.1');
    assert.equal(await pathOf({ a: { '\ud800': 1 } }), 'a');
    assert.equal(await pathOf({ '\0': 1 }), 'body');
    const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    assert.equal((await check(nested(32)))[1], undefined);
    assert.match(String((await check(nested(34)))[1]), /nested too deeply/);
  });

  it('is what is done with zones of more than 2 000 records', async () => {
    const lines = Array.from({ length: 2500 }, (_, i) => `h${i} A 192.0.2.${i % 256} ; ${i}\n`).join('');
    const text = `$TTL 60\n@ SOA ns. mail. 1 2 3 4 5\n@ NS ns.example.net.\n${lines}`;
    const [parsing, entries] = await turnsOf(() => parseMasterFile(text, ZONE));
    assert.ok(parsing > 5, `parsing: ${parsing}`);
    const [reading, [set]] = await turnsOf(() => setsIn(entries, ZONE, [{ host: 'h7', type: 'A' }]));
    assert.ok(reading > 5, `reading: ${reading}`);
    assert.ok(set);
    const wanted = [{ ...set, ttl: 90 }];
    const [editing, edited] = await turnsOf(() => replaceSetsIn(entries, ZONE, wanted, '\n', new Date()));
    assert.ok(editing > 10, `editing: ${editing}`);
    const [printing, bytes] = await turnsOf(() => bytesOf(edited));
    assert.ok(printing > 5, `printing: ${printing}`);
    assert.match(bytes.toString(), /\nh7\.example\.com\. 90 IN A 192\.0\.2\.7\n/);
    const remote = Array.from({ length: 2500 }, (_, i) => ({
      ...{ host: `h${i}`, type: 'A', value: '192.0.2.1', ttl: 60, priority: null, weight: null, line: 'default' },
      ...{ proxied: false, enabled: true, readOnly: false, remoteId: `r${i}` },
    }));
    const [comparing, { insert }] = await turnsOf(() => difference([], remote));
    assert.ok(comparing > 5, `comparing: ${comparing}`);
    assert.equal(insert.length, remote.length);
  });

  it('is what is done with a request of ExternalDNS for more than 2 000 names', async () => {
    const names = Array.from({ length: 2500 }, (_, i) => `h${i}`);
    const create = names.map((host) => ({ dnsName: `${host}.${ZONE}`, recordType: 'A', targets: ['192.0.2.1'] }));
    const [reading, { made }] = await turnsOf(() => wantedOf({ create }));
    assert.equal(made.length, names.length);
    assert.ok(reading > 50, `reading: ${reading}`);
    let editing = 0;
    let edits: unknown[] = [];
    const domain = { id: 1, name: ZONE, provider: 'powerdns' };
    const door = new ExternalDnsService(
      ...([
        { list: async () => ({ total: 1, list: [domain] }) },
        { open: async () => domain },
        ...[{}, {}, {}],
        { of: async () => ({ definition: providerOf('powerdns'), zone: ZONE, defaultTtl: 60 }) },
        {
          async preview(_me: unknown, _domain: unknown, { of }: { of: (rows: []) => Promise<unknown[]> }) {
            [editing, edits] = await turnsOf(async () => of([]));
            return { planned: [] };
          },
        },
        { whole: async () => ({ results: [] }) },
        {},
      ] as unknown as ConstructorParameters<typeof ExternalDnsService>),
    );
    const [asking] = await turnsOf(() => door.apply({ principal: {} } as never, { create }));
    assert.equal(edits.length, names.length);
    assert.ok(editing > 50, `working out what is to be done: ${editing}`);
    assert.ok(asking - editing - reading > 50, `finding the zone of each: ${asking}`);
    const keys = names.map((host) => ({ host, type: 'A' }));
    const [asked, sets] = await turnsOf(() => setsAt(keys, [], ZONE));
    assert.equal(sets.length, keys.length);
    assert.ok(asked > 50, `what the provider holds of each: ${asked}`);
  });
});

describe('what was written', () => {
  const bare = (entries: readonly (Entry | FileEntry)[]) => entries.map(({ text, record }) => ({ text, record }));
  const TEXT = [
    '; by hand',
    '$TTL 1h',
    '@ 60 SOA ns1 hostmaster (',
    '  2024010105 ; serial',
    '  1h 10m 2w 5m )',
    '  NS ns1',
    'www 5m A 192.0.2.1 ; first',
    '\tA 192.0.2.2',
    '  AAAA 2001:db8::1',
    '$ORIGIN sub.example.com.',
    'deep TXT "one; two" ( "three"',
    '  "four" )',
    ';zoneward:disabled off.example.com. 60 IN A 192.0.2.9',
    '$ORIGIN example.com.',
    'ns1 A 192.0.2.53',
    ' A 192.0.2.54',
  ];
  const KEYS = [
    ...[
      { host: 'www', type: 'A' },
      { host: 'www', type: 'AAAA' },
      { host: 'deep.sub', type: 'TXT' },
    ],
    ...[
      { host: 'off', type: 'A' },
      { host: 'ns1', type: 'A' },
      { host: 'new', type: 'TXT' },
    ],
  ];

  for (const [form, lines] of [
    ['with a default TTL', TEXT],
    ['with TTLs taken from the line before', TEXT.filter((line) => line !== '$TTL 1h')],
  ] as const)
    for (const lineEnd of ['\n', '\r\n'])
      it(`is what would be read of it, ${form}, lines ended by ${JSON.stringify(lineEnd)}`, async () => {
        const text = lines.join(lineEnd);
        for (const key of KEYS)
          for (const values of [[], ['keep', 'more'], ['more']])
            for (const ttl of [60, 300, 3600]) {
              const entries = await parseMasterFile(text, ZONE);
              const [was] = await setsIn(entries, ZONE, [key]);
              assert.ok(was);
              const rdata = { A: '198.51.100.1', AAAA: '2001:db8::9', TXT: '"x; y" "\\195\\188"' }[key.type] as string;
              const members = [
                ...(values.includes('keep') ? was.members : []),
                ...(values.includes('more') ? [{ remoteId: '', rdata, enabled: ttl !== 300 }] : []),
              ];
              const edited = await replaceSetsIn(entries, ZONE, [{ ...was, ttl, members }], lineEnd, new Date());
              const written = (await bytesOf(edited)).toString('latin1');
              const { entries: read, errors } = parseEntries(written, ZONE);
              assert.deepEqual(errors, []);
              assert.deepEqual(bare(read), bare(edited), written);
              const others = (list: readonly Entry[]) =>
                list.flatMap(({ record: r }) =>
                  r && r.type !== 'SOA' && !(r.type === key.type && r.owner === `${key.host}.${ZONE}.`)
                    ? [`${r.owner} ${r.ttl} ${r.type} ${r.rdata} ${r.enabled}`]
                    : [],
                );
              assert.deepEqual(others(read), others(entries), 'all else is as it was');
              for (const line of lines.filter((one) => /^(; |\$)/.test(one))) assert.ok(written.includes(line), line);
            }
      });
});
