import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { newRecord } from '../../src/changes/edits/record-rules.js';
import { misnamesIn } from '../../src/changes/gate/names.js';
import { type DnsRecord, EXTRA_TYPES, RECORD_TYPES, type RecordType } from '../../src/dns/record.js';
import { InvalidRecord } from '../../src/platform/common/errors.js';
import { powerdns } from '../../src/providers/powerdns/declaration.js';
import type { ProviderDefinition } from '../../src/providers/provider.js';
import { zonefile } from '../../src/providers/zonefile/declaration.js';
import { missing } from '../support/bind.js';
import { noPowerdns, startPowerdns } from '../support/powerdns.js';
import { seedOf } from '../support/seed.js';
import { atEndOfTest, describeUnless, thorough } from '../support/suites.js';
import { type Load, loadInBind, loadInKnot, loadInNsd, loadInPowerdns, unloadable } from '../support/zone-loaders.js';
import { Dice } from './dice.js';
import { hostOf, MAKE } from './values.js';

const SEED = seedOf('values of records');
/** values of one run */
const COUNT = thorough ? 20_000 : 1000;
const PER_ZONE = 1000;
const ZONES = ['values.example', '0/25.2.0.192.in-addr.arpa', '8.b.d.0.1.0.0.2.ip6.arpa'];
const TYPES: readonly RecordType[] = [...RECORD_TYPES, ...EXTRA_TYPES];

interface Batch {
  zone: string;
  records: DnsRecord[];
}

/** Generates values of each type, and selects those that an account of a kind accepts without `force`. */
function acceptedBy(definition: ProviderDefinition): { batches: Batch[]; counts: Map<string, [number, number]> } {
  const dice = new Dice(SEED);
  const batches: Batch[] = [];
  const counts = new Map<string, [number, number]>(TYPES.map((type) => [type, [0, 0]]));
  for (let i = 0; i < COUNT; i++) {
    if (i % PER_ZONE === 0) batches.push({ zone: ZONES[batches.length % ZONES.length] as string, records: [] });
    const { zone, records } = batches.at(-1) as Batch;
    const type = TYPES[i % TYPES.length] as RecordType;
    const count = counts.get(type) as [number, number];
    const record = readOrNull(definition, zone, { host: hostOf(dice, type, `v${i}`), type, ...MAKE[type](dice) });
    count[record ? 0 : 1]++;
    if (record && !misnamesIn(record, zone).length) records.push(record);
  }
  return { batches, counts };
}

function readOrNull(...of: Parameters<typeof newRecord>): DnsRecord | null {
  try {
    return newRecord(...of);
  } catch (error) {
    if (error instanceof InvalidRecord) return null;
    throw error;
  }
}

/** Asserts that a server loads all zones, and names the values that it does not load. */
async function assertLoads(
  load: Load,
  definition: ProviderDefinition,
  isExcepted: (record: DnsRecord) => boolean = () => false,
): Promise<void> {
  const wrong: string[] = [];
  for (const { zone, records } of acceptedBy(definition).batches)
    for (const { record, complaint } of await unloadable(
      load,
      zone,
      records.filter((one) => !isExcepted(one)),
    ))
      wrong.push(`${record.host} ${record.type} ${record.value} (${record.priority}) in ${zone}: ${complaint}`);
  assert.deepEqual(wrong, []);
}

/**
 * Whether PowerDNS 4.7 rejects a location with 422, which RFC 1876 and the other servers allow, since its API compares
 * the value with what it prints: it counts centimetres in 32 bits (far more than 40 000 km), has `S` and `W` for zero,
 * and prints some whole minutes as 60 seconds.
 */
const isMisprinted = ({ type, value }: DnsRecord): boolean =>
  type === 'LOC' &&
  (/\b0 0 0\.000 [NE]|\b[1-9]\d? 0\.000 [NSEW]/.test(value) ||
    [...value.matchAll(/([\d.]+)m/g)].some(([, metres]) => Number(metres) > 40_000_000));

const TIMEOUT_MS = 600_000;

describe(`${COUNT} generated values`, () => {
  const atEnd = atEndOfTest();

  it('are both accepted and rejected in each type', () => {
    for (const [type, [accepted, rejected]] of acceptedBy(zonefile).counts)
      if (type !== 'ALIAS')
        assert.ok(accepted >= 2 && rejected >= 2, `${type}: ${accepted} accepted, ${rejected} rejected`);
  });

  const FILES: [string, string, Load][] = [
    ['named', 'BIND', loadInBind],
    ['knotc', 'Knot', loadInKnot],
    ['nsd-checkzone', 'NSD', loadInNsd],
  ];
  for (const [program, name, load] of FILES)
    describeUnless(missing(program))(name, () => {
      it(`loads every value that is accepted without force`, () => assertLoads(load, zonefile), TIMEOUT_MS);
    });

  describeUnless(noPowerdns)('PowerDNS', () => {
    it(
      'loads every value that is accepted without force',
      async () => {
        const server = await startPowerdns();
        atEnd(() => server.stop());
        await assertLoads(loadInPowerdns(server), powerdns, isMisprinted);
      },
      TIMEOUT_MS,
    );
  });
});
