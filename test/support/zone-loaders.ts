import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fullName } from '../../src/dns/names.js';
import { type DnsRecord, rdataOf } from '../../src/dns/record.js';
import { connectProvider } from '../../src/providers/connect.js';
import { powerdns } from '../../src/providers/powerdns/declaration.js';
import { connectOptions } from './connect-options.js';
import type { Powerdns } from './powerdns.js';

/** Loads records as a zone into a name server. @returns the complaint of the server; null when it serves the zone */
export type Load = (zone: string, records: readonly DnsRecord[]) => Promise<string | null>;

/** The file of a zone with its SOA and NS. */
function zoneFileOf(zone: string, records: readonly DnsRecord[]): string {
  const line = (record: DnsRecord) => {
    const owner = `${fullName(record.host, zone)}. ${record.ttl} IN`;
    // a DS record belongs to a delegation
    const delegation = record.type === 'DS' ? `${owner} NS ns.example.net.\n` : '';
    return `${delegation}${owner} ${record.type} ${rdataOf(record)}`;
  };
  const head = ['$TTL 600', `${zone}. IN SOA localhost. hostmaster.example.net. 1 3600 600 86400 300`];
  return [...head, `${zone}. IN NS localhost.`, ...records.map(line), ''].join('\n');
}

/** Runs a function with the file of a zone in a folder of its own. */
async function withFile<T>(
  zone: string,
  records: readonly DnsRecord[],
  run: (folder: string, file: string) => T | Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'zoneward-load-'));
  const file = join(folder, 'values.zone');
  try {
    await writeFile(file, zoneFileOf(zone, records), 'latin1');
    return await run(folder, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a program that checks a zone. @returns what it prints when it fails */
function complaintOf(program: string, args: readonly string[]): string | null {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  return status === 0 ? null : `${error ?? ''}${stdout}${stderr}`.slice(-4000);
}

/** BIND 9 with its default `check-names`, which rejects names that `named-checkzone` only warns of. */
export const loadInBind: Load = (zone, records) =>
  withFile(zone, records, async (folder, file) => {
    const configuration = `options { directory "${folder}"; listen-on { none; }; listen-on-v6 { none; };
pid-file none; session-keyfile none; recursion no; dnssec-validation no; notify no; empty-zones-enable no; };
controls { };
zone "${zone}" { type primary; file "${file}"; };
`;
    await writeFile(join(folder, 'named.conf'), configuration);
    const args = ['-g', '-n', '1', '-c', join(folder, 'named.conf')];
    const log = await logUntil(spawn('named', args, { stdio: ['ignore', 'ignore', 'pipe'] }), / running$/m);
    const lines = log.split('\n').filter((line) => line.includes(zone) || line.includes(file));
    return / loaded serial 1$/m.test(log) ? null : lines.join('\n');
  });

/** What a process logs until some words; then it is stopped. */
async function logUntil(child: ChildProcess, words: RegExp): Promise<string> {
  let log = '';
  const ended = once(child, 'exit');
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString('latin1');
    if (words.test(log)) child.kill('SIGTERM');
  });
  await ended;
  return log;
}

export const loadInKnot: Load = (zone, records) =>
  withFile(zone, records, async (folder, file) => {
    const path = join(folder, 'knot.conf');
    await writeFile(path, `zone:\n  - domain: "${zone}"\n    storage: "${folder}"\n    file: "${file}"\n`);
    return complaintOf('knotc', ['-c', path, 'zone-check', zone]);
  });

export const loadInNsd: Load = (zone, records) =>
  withFile(zone, records, (_folder, file) => complaintOf('nsd-checkzone', [zone, file]));

/** Writes to PowerDNS through its provider, then reads the zone: PowerDNS stores values that it cannot serve. */
export function loadInPowerdns(server: Powerdns): Load {
  const provider = connectProvider(
    powerdns,
    { url: server.url, api_key: server.apiKey },
    { ...connectOptions(60_000), installation: {} },
  );
  return async (zone, records) => {
    const remote = { id: `${zone.replaceAll('/', '=2F')}.`, name: zone };
    await server.api('POST', '/zones', { name: `${zone}.`, kind: 'Native', nameservers: ['ns1.example.net.'] });
    try {
      const changes = records.map((after) => ({ op: 'create' as const, after }));
      const outcomes = await provider.apply(remote, changes, { atomic: true });
      const failed = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error.message]));
      if (failed.length) return [...new Set(failed)].join('\n');
      const held = await provider.listRecords(remote);
      const lost = held.filter(({ readOnly }) => readOnly).map(({ host, type, value }) => `${host} ${type} ${value}`);
      return lost.length ? `read-only: ${lost.join()}` : null;
    } catch (error) {
      return String(error);
    } finally {
      await server.api('DELETE', `/zones/${remote.id}`);
    }
  };
}

/** The records of a list, one by one, that a server does not load, and its complaint of the first one. */
export async function unloadable(
  load: Load,
  zone: string,
  records: readonly DnsRecord[],
  most = 5,
): Promise<{ record: DnsRecord; complaint: string }[]> {
  const complaint = await load(zone, records);
  if (complaint === null) return [];
  const [record] = records;
  if (records.length === 1 && record) return [{ record, complaint }];
  const half = Math.ceil(records.length / 2);
  const first = await unloadable(load, zone, records.slice(0, half), most);
  if (first.length >= most) return first;
  const second = await unloadable(load, zone, records.slice(half), most - first.length);
  return [...first, ...second];
}
