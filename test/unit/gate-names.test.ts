import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { guardsOf, modeOf, type Row, told } from '../../src/changes/gate/guards.js';
import { misnamesIn } from '../../src/changes/gate/names.js';
import type { Change } from '../../src/changes/gate/planned.js';
import type { ChangeRules, GuardKey } from '../../src/domains/change-rules/change-rules.js';
import { changeRulesOf } from '../../src/domains/change-rules/change-rules.js';
import { row as stored } from '../support/rows.js';

const ZONE = 'case.example';
const RULES: ChangeRules = changeRulesOf({ change_rules: null });

const row = (host: string, type: string, value: string, more: Partial<Row> = {}): Row =>
  stored(more.id ?? 1, { host, type, value, ...more });

async function met(after: Row | null, before: Row | null = null, rows: readonly Row[] = [], name = ZONE) {
  const zone = { name, records: 1, rows, held: new Map(), elsewhere: new Map(), ttlFloor: 60, emptied: false };
  const change = { op: 'update', recordId: before?.id ?? null, before, after } as Change;
  const keys = new Set<GuardKey>(['not_a_host_name', 'short_target']);
  return (await guardsOf(zone, [change], keys)).flat();
}

/** Records with the names that the default `check-names` of BIND rejects. */
const NAMES: [host: string, type: string, value: string, names: string[], zone?: string][] = [
  ['www', 'A', '192.0.2.1', []],
  ['*', 'A', '192.0.2.1', []],
  ['*.a', 'MX', 'mail.example.net', []],
  ['foo_bar', 'A', '192.0.2.1', ['foo_bar.case.example']],
  ['-x', 'AAAA', '2001:db8::1', ['-x.case.example']],
  ['x-', 'A', '192.0.2.1', ['x-.case.example']],
  ['a/b', 'A', '192.0.2.1', ['a/b.case.example']],
  ['*.a_b', 'A', '192.0.2.1', ['*.a_b.case.example']],
  ['gc._msdcs', 'A', '192.0.2.1', []],
  ['gc._msdcs', 'MX', 'mail.example.net', ['gc._msdcs.case.example']],
  ['_m', 'MX', '_mail.example.net', ['_m.case.example', '_mail.example.net']],
  ['@', 'MX', '.', []],
  ['_sip._tcp', 'SRV', '0 0 80 a_b.example.net', ['a_b.example.net']],
  ['_sip._tcp', 'SRV', '0 80 sip.example.net', []],
  ['_sub', 'NS', '_ns.example.net', ['_ns.example.net']],
  ['_x', 'TXT', 'a_b', []],
  ['_x', 'CNAME', 'a_b.example.net', []],
  ['_x', 'PTR', 'a_b.example.net', []],
  ['1', 'PTR', 'a_b.example.net', ['a_b.example.net'], '2.0.192.in-addr.arpa'],
  ['1', 'PTR', 'a_b.example.net', ['a_b.example.net'], '8.b.d.0.1.0.0.2.ip6.arpa'],
  ['b._dns-sd._udp', 'PTR', '_http._tcp.example.net', [], '2.0.192.in-addr.arpa'],
  ['w', 'RP', '_admin.example.net .', []],
  ['w', 'RP', 'a\\.b.ex_ample.net .', ['a\\.b.ex_ample.net']],
  ['w', 'RP', '. .', []],
  ['w', 'RP', '_admin .', []],
  ['_w', 'HTTPS', '1 _x.example.net alpn=h2', ['_x.example.net']],
  ['_w', 'SVCB', '1 . alpn=h2', []],
  ['_w', 'SVCB', '0 _x.example.net', []],
  ['w', 'A', '192.0.2.1', ['w.0/25.2.0.192.in-addr.arpa'], '0/25.2.0.192.in-addr.arpa'],
];

describe('the guard not_a_host_name', () => {
  for (const [host, type, value, names, zone = ZONE] of NAMES)
    it(`${names.length ? 'is met' : 'is not met'} by ${host} ${type} ${value} in ${zone}`, async () => {
      assert.deepEqual(misnamesIn(row(host, type, value), zone), names);
      const guards = await met(row(host, type, value), null, [], zone);
      assert.equal(guards.includes('not_a_host_name'), names.length > 0);
    });

  it('is met only where the change introduces the name', async () => {
    const bad = row('a_b', 'A', '192.0.2.1');
    assert.deepEqual(await met(row('a_b', 'A', '192.0.2.2', { id: 2 }), null, [bad]), []);
    assert.deepEqual(await met({ ...bad, ttl: 60 }, bad, [bad]), []);
    assert.deepEqual(await met(null, bad, [bad]), []);
    assert.deepEqual(await met({ ...bad, enabled: false }, bad, [bad]), []);
    const disabled = { ...bad, enabled: false };
    assert.deepEqual(await met(bad, disabled, [disabled]), ['not_a_host_name']);
    assert.deepEqual(await met({ ...bad, host: 'c_d' }, bad, [bad]), ['not_a_host_name']);
  });

  it('is force at zone files and dynamic updates and warn elsewhere, for plans and writes, unless it is set', () => {
    for (const way of ['plan', 'direct'] as const) {
      const mode = (provider: string, rules = RULES) => modeOf(rules, 'not_a_host_name', way, provider);
      assert.deepEqual(
        ['zonefile', 'rfc2136', 'powerdns', 'cloudflare'].map((kind) => mode(kind)),
        [...['force', 'force', 'warn', 'warn']],
      );
      assert.equal(mode('zonefile', { ...RULES, guards: { not_a_host_name: 'off' } }), 'off');
    }
  });

  it('names the names and the setting of BIND', () => {
    const change = { position: 4, guards: ['not_a_host_name'], after: row('foo_bar', 'A', '192.0.2.1') };
    const [one, ...more] = told([change], RULES, 'direct', { name: ZONE, provider: 'zonefile' });
    assert.deepEqual([one?.key, one?.mode, one?.change_ids, more], ['not_a_host_name', 'force', [4], []]);
    assert.match(one?.text ?? '', /^"foo_bar\.case\.example": not a host name.*check-names primary ignore/);
  });
});

describe('the guard short_target', () => {
  for (const [type, value] of [
    ['CNAME', 'www'],
    ['MX', 'mail'],
    ['NS', 'ns1'],
    ['SRV', '0 80 sip'],
    ['ALIAS', 'www'],
    ['DNAME', 'tree'],
    ['PTR', 'host'],
    ['HTTPS', '1 svc alpn=h2'],
    ['SVCB', '0 svc'],
  ] as const)
    it(`is met by ${type} ${value}, and not by a full name, the root or the zone`, async () => {
      const of = (name: string) => row('x', type, value.replace(/[a-z]+\d?(?= alpn|$)/, name));
      assert.deepEqual(await met(of('www')), ['short_target']);
      assert.deepEqual(await met(of('www.example.net')), []);
      assert.deepEqual(await met(of('.')), []);
      assert.deepEqual(await met(of('lan'), null, [], 'lan'), []);
      assert.deepEqual(await met({ ...of('www'), enabled: false }), []);
      assert.deepEqual(await met({ ...of('www'), ttl: 5 }, of('www'), [of('www')]), []);
      assert.deepEqual(await met(of('api'), of('www'), [of('www')]), ['short_target']);
    });

  it('is not met by types without a target', async () => {
    assert.deepEqual(await met(row('x', 'TXT', 'www')), []);
  });

  it('is warn for plans and writes, and suggests the full name', () => {
    const change = { position: 1, guards: ['short_target'], after: row('blog', 'CNAME', 'www') };
    for (const way of ['plan', 'direct'] as const) {
      const [one] = told([change], RULES, way, { name: ZONE, provider: 'zonefile' });
      assert.equal(one?.mode, 'warn');
      assert.match(one?.text ?? '', /"www"\. Probably meant: "www\.case\.example"$/);
    }
  });
});
