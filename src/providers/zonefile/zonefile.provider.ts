import { hostmasterOf, zoneName } from '../../dns/names.js';
import { DEFAULT_TTL, fromRdata } from '../../dns/record.js';
import { timeMs } from '../../platform/common/clock.js';
import { InvalidRecord } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { atMost } from '../kit/http/deadline-context.js';
import { fromRrsets, type RrsetVerbs } from '../kit/rrsets/from-rrsets.js';
import { derivedId, type RecordSet, type SetKey } from '../kit/rrsets/record-set.js';
import {
  type Connect,
  type DnsProvider,
  type ProviderContext,
  ProviderError,
  type RemoteRecord,
  type RemoteZone,
} from '../provider.js';
import { bytesOf, nextSerial, replaceSetsIn, setsIn, soaOf } from './edit.js';
import { type Entry, parseMasterFile } from './masterfile.js';
import { reload, type ZoneFile, ZoneFiles } from './store.js';

/** Master files on this machine, `<zone>.zone` each, for any name server that reads them. Needs no account anywhere. */
// reading, editing and writing a file must not meet another one that does the same
export const connect: Connect = (credentials, context) =>
  new Zonefile(new ZoneFiles(rootOf(context), credentials.endpoint || credentials.directory || '.'), context);

/** The absolute directory under which all zone files live. */
function rootOf({ installation: { root } }: ProviderContext): string {
  if (!root) throw new ProviderError('rejected', 'The installation names no directory for zone files');
  return root;
}

const isZoneName = (name: string): boolean => {
  try {
    // it becomes an argument of the reload command, which would take a hyphen for an option
    return zoneName(name) === name && !name.startsWith('-');
  } catch (error) {
    if (error instanceof InvalidRecord) return false;
    throw error;
  }
};

/** What some bytes are. */
interface Parsed {
  zone: string;
  bytes: Buffer;
  entries: readonly Entry[];
}

class Zonefile implements DnsProvider, RrsetVerbs {
  readonly apply = fromRrsets(this);
  /** the file that was read or written last: `apply` reads it, and again before it writes */
  private last: Parsed | null = null;

  constructor(
    private readonly files: ZoneFiles,
    private readonly context: ProviderContext,
  ) {}

  async check(): Promise<void> {
    this.files.ensureDirectory();
  }

  /** By file name alone: a broken file fails when it is read, and takes no other zone with it. */
  async listZones(): Promise<RemoteZone[]> {
    return this.files
      .names()
      .filter(isZoneName)
      .map((name) => ({ id: name, name }));
  }

  async listRecords(zone: RemoteZone): Promise<RemoteRecord[]> {
    const records = new Map<string, RemoteRecord>();
    for (const { record: entry } of (await this.open(zone.name)).entries) {
      if (due()) await turn();
      if (!entry) continue;
      const read = fromRdata(entry.owner, entry.type, entry.rdata, entry.ttl, zone.name);
      if (!read) continue;
      const record = { ...read, enabled: entry.enabled };
      const remoteId = derivedId(record);
      // the same value twice, or once enabled and once disabled, is one record
      if (!records.has(remoteId) || record.enabled) records.set(remoteId, { ...record, remoteId });
    }
    return [...records.values()];
  }

  async readSets(zone: RemoteZone, keys: SetKey[]): Promise<RecordSet[]> {
    return setsIn((await this.open(zone.name)).entries, zone.name, keys);
  }

  async replaceSets(zone: RemoteZone, sets: RecordSet[], was: RecordSet[]): Promise<boolean> {
    const { entries, file } = await this.open(zone.name);
    const now = await setsIn(entries, zone.name, was);
    if (JSON.stringify(now) !== JSON.stringify(was)) return false;
    const lineEnd = file.bytes.includes('\r\n') ? '\r\n' : '\n';
    const edited = await replaceSetsIn(entries, zone.name, sets, lineEnd, new Date(timeMs()));
    const bytes = await bytesOf(edited);
    if (!(await this.files.write(zone.name, bytes, file))) return false;
    this.last = { zone: zone.name, bytes, entries: edited };
    await this.reload(zone.name);
    return true;
  }

  /** The NS is a placeholder that every checker accepts, since an account of files knows no server's name. */
  async createZone(name: string): Promise<RemoteZone> {
    if (!isZoneName(name)) throw new ProviderError('rejected', `"${name}" is not a zone name`);
    const serial = nextSerial(1980010100, Number(new Date(timeMs()).toISOString().slice(0, 10).replaceAll('-', '')));
    const content = [
      `$ORIGIN ${name}.`,
      `$TTL ${DEFAULT_TTL}`,
      `@ IN SOA localhost. ${hostmasterOf(name)} ${serial} 3600 600 1209600 300`,
      '@ IN NS localhost.',
      '',
    ].join('\n');
    if (!(await this.files.write(name, Buffer.from(content, 'latin1'), null))) {
      throw new ProviderError('rejected', `There is a zone file for ${name} already`);
    }
    await this.reload(name);
    return { id: name, name };
  }

  /** The file as it is now: what was made of its very bytes before is not made again. */
  private async open(zone: string): Promise<{ file: ZoneFile; entries: readonly Entry[] }> {
    if (!isZoneName(zone)) throw new ProviderError('not_found', `"${zone}" is not a zone name`);
    const file = await this.files.read(zone);
    const { last } = this;
    if (last?.zone === zone && last.bytes.equals(file.bytes)) return { file, entries: last.entries };
    const entries = await parseMasterFile(file.bytes.toString('latin1'), zone);
    soaOf(entries, zone);
    this.last = { zone, bytes: file.bytes, entries };
    return { file, entries };
  }

  private reload(zone: string): Promise<void> {
    return reload(this.context.installation.reloadCommand ?? null, zone, atMost(this.context.timeoutMs));
  }
}
