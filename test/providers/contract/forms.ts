import assert from 'node:assert/strict';
import type { RecordType } from '../../../src/dns/record.js';
import type { Change, DnsRecord, RemoteRecord } from '../../../src/providers/provider.js';
import type { Bench } from './bench.js';

/** Values of a type, each of which differs from the one before it in one field. */
const FIELD_BY_FIELD: Partial<Record<RecordType, readonly string[]>> = {
  NAPTR: [
    '100 50 "s" "SIP+D2U" "" _sip._udp.example.net',
    '101 50 "s" "SIP+D2U" "" _sip._udp.example.net',
    '101 51 "s" "SIP+D2U" "" _sip._udp.example.net',
    '101 51 "u" "SIP+D2U" "" _sip._udp.example.net',
    '101 51 "u" "E2U+sip" "" _sip._udp.example.net',
    '101 51 "u" "E2U+sip" "!^(.*)$!sip:\\\\1@example.net!" _sip._udp.example.net',
    '101 51 "u" "E2U+sip" "!^(.*)$!sip:\\\\1@example.net!" .',
  ],
  CAA: [
    '0 issue "ca.example.net"',
    '0 issuewild "ca.example.net"',
    '0 issuewild "ca2.example.net"',
    '128 issuewild "ca2.example.net"',
  ],
};

/** What is one value and what are two, fields that change by themselves, and zones of many records. */
export function forms(bench: Bench): void {
  for (const [type, values] of Object.entries(FIELD_BY_FIELD)) {
    if (!bench.writes(type)) continue;
    bench.check(`${type}: a change of one field changes that field`, async () => {
      const make = (value: string) => bench.record('fields', type, { value });
      const flagged = () => make(values.at(-1) as string);
      const isCut = type === 'CAA' && !(await bench.can(['CAA with flag 128'], flagged));
      const tried = isCut ? values.slice(0, -1) : values;
      const sibling = make(type === 'CAA' ? '0 iodef "mailto:a@example.net"' : '1 1 "a" "x" "" other.example.net');
      await bench.create(make(tried[0] as string), sibling);
      for (const [i, value] of tried.entries()) {
        const [now] = await bench.shows('fields', type, [make(value), sibling]);
        const next = tried[i + 1];
        if (next) await bench.done({ op: 'update', before: now as RemoteRecord, after: make(next) });
      }
      await bench.clear(await bench.at('fields', type));
    });
  }

  bench.check('a target in another case is the same one', async () => {
    const lower = bench.record('case', 'CNAME', { value: 'target.example.net' });
    const [id] = await bench.create(lower);
    const upper = bench.record('CASE', 'CNAME', { value: 'TARGET.Example.NET.' });
    assert.deepEqual(upper, lower);
    assert.deepEqual(await bench.create(upper), [id]);
    const [before] = await bench.shows('case', 'CNAME', [lower]);
    assert.deepEqual(await bench.done({ op: 'update', before: before as RemoteRecord, after: upper }), [id]);
    await bench.clear(await bench.shows('case', 'CNAME', [lower]));
  });

  bench.check('texts that differ in their case are two', async () => {
    const make = (value: string) => bench.record('case', 'TXT', { value });
    const [mixed, lower, upper] = [make('Key=AbC'), make('key=abc'), make('KEY=ABC')];
    const ids = await bench.create(mixed, lower);
    assert.notEqual(ids[0], ids[1]);
    const [before] = await bench.shows('case', 'TXT', [mixed, lower]);
    await bench.done({ op: 'update', before: before as RemoteRecord, after: upper });
    const list = await bench.shows('case', 'TXT', [upper, lower]);
    await bench.clear(list.slice(0, 1));
    await bench.clear(await bench.shows('case', 'TXT', [lower]));
  });

  const { atomic, chunk } = bench.capabilities;
  bench.check(
    'zones of 601 and of 1201 records are listed whole, beside others',
    async () => {
      const { setPages } = bench.target;
      if (!setPages) return bench.tell('zones of 601 and of 1201 records', 'its pages are tried with short ones');
      setPages('long');
      const others = await bench.list();
      const made: DnsRecord[] = [];
      const size = Math.min(chunk, 200);
      const inLists = async (changes: Change[]) => {
        for (let i = 0; i < changes.length; i += size) await bench.done(...changes.slice(i, i + size));
      };
      for (const length of [601, 1201]) {
        const more = Array.from({ length: length - made.length }, (_, i) =>
          bench.a(`many${made.length + i}`, '192.0.2.1'),
        );
        made.push(...more);
        await inLists(more.map((after): Change => ({ op: 'create', after })));
        const all = await bench.list();
        const key = ({ host, type, value }: DnsRecord) => `${host} ${type} ${value}`;
        assert.deepEqual(all.map(key).sort(), [...others, ...made].map(key).sort());
        assert.equal(new Set(all.map((r) => r.remoteId)).size, all.length, 'each record has an id of its own');
      }
      const list = (await bench.list()).filter((r) => /^many\d+$/.test(r.host));
      await inLists(list.map((before): Change => ({ op: 'delete', before })));
      setPages('short');
    },
    !atomic && 'no lists of changes in one call',
  );
}
