import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { readRdata, SIGNER_TYPES } from '../../src/dns/record.js';
import { rdataToWire } from '../../src/dns/wire-rdata.js';
import { parseEntries } from '../../src/dns/zonefile-entries.js';
import { parseDocument } from '../../src/documents/parse-document.js';
import { missing } from '../support/bind.js';
import { type Line, linesOf } from '../support/dig.js';
import { describeUnless } from '../support/suites.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zoneward-documents-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Published zone files, and the zone of each. */
const ZONES: [file: string, zone: string, records: number][] = [
  ['db.local', 'localhost', 3],
  ['db.127', '127.in-addr.arpa', 2],
  ['db.0', '0.in-addr.arpa', 1],
  ['db.empty', '10.in-addr.arpa', 1],
  ['rfc1035.isi.edu', 'isi.edu', 10],
  ['rfc1876.loc.example', 'loc.example', 6],
  ['rfc2317.2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa', 10],
  ['rfc2782.example.com', 'example.com', 13],
  ['rfc4034.example.com', 'example.com', 4],
  ['bind-arm.0.0.192.in-addr.arpa', '0.0.192.in-addr.arpa', 397],
  ['wikipedia.example.com', 'example.com', 14],
  ['quirks.example.com', 'example.com', 16],
];

const fileOf = (name: string) => join(import.meta.dirname, 'zones', name);
const textOf = (name: string) => readFileSync(fileOf(name), 'utf8');

/** What BIND makes of a file. */
function compiled(file: string, zone: string): Line[] {
  const lenient = ['-k', 'ignore', '-i', 'none', '-n', 'ignore', '-m', 'ignore', '-M', 'ignore', '-S', 'ignore'];
  const options = ['-q', ...lenient, '-r', 'ignore', '-o', '-', zone, file];
  return linesOf(execFileSync('named-compilezone', options, { stdio: 'pipe' }).toString('latin1'));
}

/** Lines as records, in an order of their own. */
const canonical = (lines: Line[], zone: string) =>
  lines
    .flatMap(({ owner, type, rdata, ttl }) => readRdata(owner, type, rdata, ttl, zone)?.record ?? [])
    .map(({ host, type, value, priority, ttl }) => JSON.stringify([host, type, value, priority, ttl]))
    .sort();

describeUnless(missing('named-compilezone'))('a published zone file is read as BIND reads it', () => {
  it.each(ZONES)('%s', async (file, zone, count) => {
    const { records, errors, leftAside } = await parseDocument('zonefile', textOf(file), zone);
    assert.deepEqual(errors, []);
    assert.equal(records.length, count);
    assert.equal(leftAside[0]?.type, 'SOA');
    const ours = records
      .map(({ record: { host, type, value, priority, ttl } }) => JSON.stringify([host, type, value, priority, ttl]))
      .sort();
    const theirs = compiled(fileOf(file), zone);
    const shown = theirs.filter(({ type }) => !SIGNER_TYPES.has(type));
    assert.deepEqual(ours, canonical(shown, zone));
    assert.equal(records.length + leftAside.length, theirs.length);
  });

  it('root.hints', () => {
    const { entries, errors } = parseEntries(textOf('root.hints'), '');
    assert.deepEqual(errors, []);
    const ours = entries.flatMap(({ record }) => record ?? []);
    assert.equal(ours.length, 39);
    // only a zone with a SOA is loaded
    const file = join(folder, 'root');
    writeFileSync(file, `. 9 SOA . . 1 2 3 4 5\n${textOf('root.hints')}`);
    const theirs = compiled(file, '.');
    const wire = ({ owner, ttl, type, rdata }: Line) =>
      `${owner.toLowerCase()} ${ttl} ${type} ${rdataToWire(type, rdata.toLowerCase()).toString('hex')}`;
    assert.deepEqual(
      ours.map(wire).sort(),
      theirs
        .filter(({ type }) => type !== 'SOA')
        .map(wire)
        .sort(),
    );
  });
});

describe('a document', () => {
  it('that is a zone file leaves aside what servers maintain', async () => {
    const { leftAside } = await parseDocument('zonefile', textOf('rfc4034.example.com'), 'example.com');
    assert.deepEqual(
      leftAside.map(({ type, line }) => [type, line]),
      [
        ['SOA', 2],
        ['DNSKEY', 6],
        ['RRSIG', 17],
        ['NSEC', 24],
      ],
    );
  });
});
