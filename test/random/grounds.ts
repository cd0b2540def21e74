import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fullName } from '../../src/dns/names.js';
import { fromRdata, type RemoteRecord, shownValue } from '../../src/dns/record.js';
import { cloudflare } from '../../src/providers/cloudflare/declaration.js';
import { connectProvider } from '../../src/providers/connect.js';
import { powerdns } from '../../src/providers/powerdns/declaration.js';
import type { Credentials, DnsProvider, ProviderDefinition } from '../../src/providers/provider.js';
import { rfc2136 } from '../../src/providers/rfc2136/declaration.js';
import { zonefile } from '../../src/providers/zonefile/declaration.js';
import { bindMissing, type NameServer, startBind, zoneText } from '../support/bind.js';
import { startCloudflare } from '../support/cloudflare.js';
import { connectOptions } from '../support/connect-options.js';
import { linesOf } from '../support/dig.js';
import { knotMissing, startKnot } from '../support/knot.js';
import { noPowerdns, startPowerdns } from '../support/powerdns.js';
import { type HttpProxy, type Reply, startProxy, startTcpProxy } from '../support/proxy.js';
import { sleep } from '../support/sleep.js';
import type { Dice } from './dice.js';

/** ms that the service waits for a provider, and so many later an answer or a change is late */
export const TIMEOUT_MS = 600;
const LATE_MS = TIMEOUT_MS + 250;
/** zones of the servers that cannot make one */
const ZONES = ['one.example', 'two.example', 'three.example'];

/** One record as all sides of a comparison say it: the words of the API. */
export interface Told {
  host: string;
  type: string;
  value: string;
  priority: number | null;
  ttl: number;
  enabled: boolean;
  proxied: boolean;
  /** of ours alone: providers have none */
  remark?: string;
}

/** What goes wrong at a provider from now on, and how often; null: nothing. */
export type Trouble = { dice: Dice; chance: number } | null;

/** A provider that random lists are sent to. */
export interface Ground {
  name: string;
  definition: ProviderDefinition;
  credentials: Record<string, unknown>;
  /** A zone with nothing in it but what the server needs. @returns its name */
  fresh(dataDir: string): Promise<string>;
  /** All that it holds of a zone, asked past the service. */
  held(zone: string, dataDir: string): Promise<Told[]>;
  /** The same provider, past the service. */
  direct(dataDir: string): DnsProvider;
  trouble(trouble: Trouble, dataDir: string): void;
  stop(): Promise<unknown>;
}

export const told = (record: Omit<RemoteRecord, 'remoteId'>): Told => {
  const { host, type, priority, ttl, enabled, proxied } = record;
  return { host, type, value: shownValue(record, record.readOnly), priority, ttl, enabled, proxied };
};

const connected = (definition: ProviderDefinition, credentials: object, root = '/nonexistent'): DnsProvider =>
  connectProvider(definition, credentials as Credentials, {
    ...connectOptions(10_000),
    installation: { zonefile: { root } },
  });

const FAILURES = [
  'before',
  'after',
  'limited',
  'limited with a time',
  '500',
  '500 after',
  'slow',
  'cut',
  'late',
  'broken',
];

const FAILED = { status: 500, body: '{}' };
const REFUSALS: Record<string, Reply | undefined> = {
  limited: { status: 429, body: '{}' },
  'limited with a time': { status: 429, body: '{}', headers: { 'retry-after': '1' } },
  '500': FAILED,
};

/** Faults of HTTP: more of them meet what writes. */
function httpTrouble(proxy: HttpProxy, trouble: Trouble): void {
  if (!trouble) {
    proxy.fault = null;
    return;
  }
  const { dice, chance } = trouble;
  proxy.fault = async ({ method }, forward) =>
    dice.chance(method === 'GET' ? chance / 3 : chance) ? fail(dice.of(FAILURES), forward) : forward();
}

async function fail(kind: string, forward: () => Promise<Reply>): Promise<Reply | 'close'> {
  if (kind === 'before') return 'close';
  // it comes when nobody waits for it any more
  if (kind === 'broken') {
    void sleep(LATE_MS).then(forward, () => undefined);
    return 'close';
  }
  const refusal = REFUSALS[kind];
  if (refusal) return refusal;
  if (kind === 'late') await sleep(LATE_MS);
  const reply = await forward();
  if (kind === 'after') return 'close';
  if (kind === '500 after') return FAILED;
  if (kind === 'cut') return { ...reply, cut: Math.floor(reply.body.length / 2) };
  if (kind === 'slow') await sleep(LATE_MS);
  return reply;
}

async function powerdnsGround(): Promise<Ground> {
  const server = await startPowerdns();
  const proxy = await startProxy(server.url);
  const direct = connected(powerdns, { url: server.url, api_key: server.apiKey });
  let zones = 0;
  return {
    name: 'powerdns',
    definition: powerdns,
    credentials: { url: proxy.url, api_key: server.apiKey },
    async fresh() {
      const zone = `zone${++zones}.example`;
      await server.createZone(zone);
      return zone;
    },
    async held(zone) {
      const { rrsets } = await server.zone(zone);
      return rrsets.flatMap(({ name, type, ttl, records }) =>
        records.flatMap(({ content, disabled }) => {
          const record = fromRdata(name, type, content, ttl, zone);
          return record ? told({ ...record, enabled: !disabled }) : [];
        }),
      );
    },
    direct: () => direct,
    trouble: (trouble) => httpTrouble(proxy, trouble),
    stop: () => Promise.all([proxy.stop(), server.stop()]),
  };
}

async function cloudflareGround(): Promise<Ground> {
  const server = await startCloudflare();
  const proxy = await startProxy(server.url);
  const direct = connected(cloudflare, { api_token: 'a-token', endpoint: server.url });
  let zones = 0;
  return {
    name: 'cloudflare',
    definition: cloudflare,
    credentials: { api_token: 'a-token', endpoint: proxy.url },
    async fresh() {
      const zone = `cloud${++zones}.example`;
      server.zones.set(zone, []);
      return zone;
    },
    held: async (zone) => (await direct.listRecords({ id: zone, name: zone })).map(told),
    direct: () => direct,
    trouble: (trouble) => httpTrouble(proxy, trouble),
    stop: () => Promise.all([proxy.stop(), server.stop()]),
  };
}

/** A name server that takes updates. */
async function updatesGround(name: string, start: (zones: string[]) => Promise<NameServer>): Promise<Ground> {
  const server = await start(ZONES);
  const proxy = await startTcpProxy(server.port);
  const { tsig } = server;
  const key = { tsig_name: tsig.name, tsig_algorithm: tsig.algorithm, tsig_secret: tsig.secret };
  const at = (port: number) => ({ server: '127.0.0.1', port: String(port), zones: ZONES.join(','), ...key });
  const direct = connected(rfc2136, at(server.port));
  let used = 0;
  return {
    name,
    definition: rfc2136,
    credentials: at(proxy.port),
    async fresh() {
      const zone = ZONES[used++ % ZONES.length] as string;
      const records = await direct.listRecords({ id: zone, name: zone });
      const isServer = (r: RemoteRecord) => r.host === '@' && r.type === 'NS';
      const servers = new Set(records.filter(isServer).map(({ value }) => value.replace(/\.$/, '')));
      // BIND refuses an update after which a name server of the zone has no address in it
      const needed = (r: RemoteRecord) =>
        isServer(r) || (/^A(AAA)?$/.test(r.type) && servers.has(fullName(r.host, zone)));
      const old = records.filter((r) => !needed(r));
      const outcomes = await direct.apply(
        { id: zone, name: zone },
        old.map((before) => ({ op: 'delete', before })),
      );
      for (const outcome of outcomes) assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.message);
      return zone;
    },
    async held(zone) {
      const sign = ['-y', `${tsig.algorithm}:${tsig.name}:${tsig.secret}`];
      const options = ['-p', String(server.port), '+noall', '+answer', '+nosplit', '+onesoa', zone, 'AXFR'];
      const { stdout } = await promisify(execFile)('dig', ['@127.0.0.1', ...sign, ...options]);
      assert.match(stdout, /\sSOA\s/, `the transfer of ${zone}`);
      return linesOf(stdout).flatMap(({ owner, type, rdata, ttl }) => {
        const record = fromRdata(owner, type, rdata, ttl, zone);
        return record ? told(record) : [];
      });
    },
    direct: () => direct,
    trouble(trouble) {
      if (!trouble) {
        proxy.fault = () => 'pass';
        return;
      }
      const { dice, chance } = trouble;
      const late = (breaks: boolean) => ({ held: sleep(LATE_MS), breaks });
      proxy.fault = ({ update }) =>
        dice.chance(update ? chance : chance / 4)
          ? dice.of(['before', 'after', late(false), late(true)] as const)
          : 'pass';
    },
    stop: () => Promise.all([proxy.stop(), server.stop()]),
  };
}

/** What a write of zone files runs afterwards, by the words in a file: it fails, or takes too long. */
const SCRIPT = 'case "$(cat "$0.mode" 2>/dev/null)" in fail) exit 1;; slow) exec sleep 2;; esac\n';
export const reloadScript = (dataDir: string): string => join(dataDir, 'reload.sh');
export const writeReloadScript = (dataDir: string): void => writeFileSync(reloadScript(dataDir), SCRIPT);

async function filesGround(): Promise<Ground> {
  let zones = 0;
  const folder = (dataDir: string) => join(dataDir, 'zones');
  const direct = (dataDir: string) => connected(zonefile, {}, folder(dataDir));
  return {
    name: 'zone files',
    definition: zonefile,
    credentials: {},
    async fresh(dataDir) {
      const zone = `files${++zones}.example`;
      writeFileSync(join(folder(dataDir), `${zone}.zone`), zoneText(zone));
      return zone;
    },
    held: async (zone, dataDir) => (await direct(dataDir).listRecords({ id: zone, name: zone })).map(told),
    direct,
    trouble(trouble, dataDir) {
      const mode = trouble?.dice.chance(trouble.chance) ? trouble.dice.of(['fail', 'slow']) : '';
      writeFileSync(`${reloadScript(dataDir)}.mode`, mode);
    },
    stop: async () => undefined,
  };
}

/** All providers that can be had here. @param names only these of them */
export async function startGrounds(names?: readonly string[]): Promise<Ground[]> {
  const wanted = process.env.TEST_GROUND;
  const starts: [string, string | false | undefined, () => Promise<Ground>][] = [
    ['powerdns', noPowerdns, powerdnsGround],
    ['bind', bindMissing(), () => updatesGround('bind', (zones) => startBind({ zones }))],
    ['knot', knotMissing(), () => updatesGround('knot', (zones) => startKnot({ zones }))],
    ['zone files', false, filesGround],
    ['cloudflare', false, cloudflareGround],
  ];
  const able = starts.filter(
    ([name, missing]) => !missing && (!wanted || wanted === name) && (!names || names.includes(name)),
  );
  // one after the other: two servers that look for a free port at once may find the same
  const grounds: Ground[] = [];
  for (const [, , start] of able) grounds.push(await start());
  return grounds;
}
