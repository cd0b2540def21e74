import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, missing, type NameServer, startNameServer } from './bind.js';

/** Addresses of name servers by name within the zone. */
type Hosts = Record<string, string>;

/**
 * A small DNS hierarchy on loopback: a root that also serves `test`, a resolver that starts there, and the two servers
 * of `shop.test`. Name servers listen on port 53.
 */
export interface Internet {
  zone: string;
  /** BIND as resolver, in the format of the settings: `127.0.0.1:5353`. */
  resolver: string;
  /** Its ports for DNS over TLS and HTTPS, with a certificate. */
  tls: { dot: number; doh: number };
  /** Accepts signed updates: BIND at 127.0.0.1, which only one test file can use, or Knot. */
  primary: NameServer & { address: string };
  /** Knot; serves the zone as of its last `refresh`. */
  secondary: { address: string; refresh(): Promise<void>; stop(): Promise<void> };
  /** Initial delegation: `ns1` and `ns2`. */
  hosts: Hosts;
  /** A loopback address of the test without listener; another one for each number from 10 on. */
  address(n: number): string;
  /** Changes the NS with glue and the DS of the zone at `test`. */
  delegate(hosts: Hosts, ds?: string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Why tests of delegations cannot run here, if so. */
export function internetMissing(): string | undefined {
  const absent = missing('named', 'knotd', 'knotc', 'dig');
  return absent ?? (process.getuid?.() === 0 ? undefined : 'not root: name servers listen on port 53');
}

const ZONE = 'shop.test';

const bindOptions = (folder: string, more: string) => `
options {
  directory "${folder}";
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  dnssec-validation no;
  notify no;
  ${more}
};
controls { };
`;

const named = (file: string): [string, string[]] => ['named', ['-g', '-n', '1', '-c', file]];
const knotd = (file: string): [string, string[]] => ['knotd', ['-c', file]];

const knotOptions = (folder: string, address: string, more: string) => `
server:
    rundir: ${folder}
    listen: ${address}@53
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${folder}
    journal-db-max-size: 16M
    timer-db-max-size: 1M
    kasp-db-max-size: 5M
    catalog-db-max-size: 5M
log:
  - target: stderr
    any: info
${more}`;

const shopText = (hosts: Hosts) =>
  [
    `$ORIGIN ${ZONE}.\n$TTL 300\n@ SOA ns1 hostmaster 1 86400 600 864000 1`,
    ...Object.entries(hosts).map(([name, address]) => `@ NS ${name}\n${name} A ${address}`),
    '',
  ].join('\n');

/**
 * @param net the two middle octets of the addresses, unique for the test file: `21.1`
 * @param signed Knot signs the zone
 * @param tls PEM of the resolver's certificate and key
 */
export async function startInternet(
  net: string,
  {
    primary = 'knot',
    signed = false,
    tls,
  }: { primary?: 'bind' | 'knot'; signed?: boolean; tls?: { key: string; cert: string } } = {},
): Promise<Internet> {
  const address = (n: number) => `127.${net}.${n}`;
  const root = address(1);
  const first = primary === 'bind' ? '127.0.0.1' : address(2);
  const second = address(3);
  const hosts = { ns1: first, ns2: second };
  const started: { stop(): Promise<unknown> }[] = [];
  const start = async (program: Parameters<typeof startNameServer>[0]) => {
    const server = await startNameServer(program).catch(async (error) => {
      for (const one of started) await one.stop();
      throw error;
    });
    started.push(server);
    return server;
  };
  let serial = 1;
  const testText = (delegated: Hosts, ds: readonly string[]) =>
    [
      `$ORIGIN test.\n$TTL 1\n@ SOA ns.test. hostmaster.test. ${serial} 3600 600 86400 1\n@ NS ns.test.\nns A ${root}`,
      ...Object.entries(delegated).map(([name, at]) => `${ZONE}. NS ${name}.${ZONE}.\n${name}.${ZONE}. A ${at}`),
      ...ds.map((rdata) => `${ZONE}. DS ${rdata}`),
      '',
    ].join('\n');
  const rootText = `$ORIGIN .\n$TTL 1\n@ SOA ns.test. hostmaster.test. 1 3600 600 86400 1\n@ NS ns.test.\ntest. NS ns.test.\nns.test. A ${root}\n`;
  const above = await start({
    zones: ['root', 'test'],
    address: root,
    ready: 'test',
    text: (name) => (name === 'test' ? testText(hosts, []) : rootText),
    command: knotd,
    configuration: (folder) =>
      knotOptions(
        folder,
        root,
        `zone:
  - domain: .
    file: ${folder}/root.zone
  - domain: test
    file: ${folder}/test.zone
    zonefile-load: difference-no-serial
    journal-content: all
`,
      ),
  });
  const ports = { dot: await freePort(), doh: await freePort() };
  const resolver = await start({
    zones: [],
    ready: 'test',
    files: {
      'root.hints': `. 1 NS ns.test.\nns.test. 1 A ${root}\n`,
      ...(tls ? { 'key.pem': tls.key, 'cert.pem': tls.cert } : {}),
    },
    command: named,
    configuration: (folder, port) => {
      const secure = `listen-on port ${ports.dot} tls own { 127.0.0.1; };
  listen-on port ${ports.doh} tls own http own { 127.0.0.1; };`;
      return `${tls ? 'tls own { key-file "key.pem"; cert-file "cert.pem"; };\nhttp own { endpoints { "/dns-query"; }; };' : ''}
${bindOptions(
  folder,
  `listen-on port ${port} { 127.0.0.1; };
  ${tls ? secure : ''}
  recursion yes;
  max-cache-ttl 1;
  max-ncache-ttl 1;`,
)}
zone "." { type hint; file "root.hints"; };`;
    },
  });
  const updates = await start({
    zones: [ZONE],
    address: first,
    text: () => shopText(hosts),
    command: primary === 'bind' ? named : knotd,
    configuration: (folder, _port, tsig) =>
      primary === 'bind'
        ? `key "${tsig.name}" { algorithm ${tsig.algorithm}; secret "${tsig.secret}"; };
${bindOptions(folder, `listen-on port 53 { ${first}; };\n  recursion no;\n  allow-transfer { any; };`)}
zone "${ZONE}" { type primary; file "${ZONE}.zone"; allow-update { key "${tsig.name}"; }; };`
        : knotOptions(
            folder,
            first,
            `key:
  - id: ${tsig.name}
    algorithm: ${tsig.algorithm}
    secret: ${tsig.secret}
acl:
  - id: edit
    key: ${tsig.name}
    action: [transfer, update]
  - id: everybody
    action: transfer
zone:
  - domain: ${ZONE}
    file: ${folder}/${ZONE}.zone
    acl: [edit, everybody]
    dnssec-signing: ${signed ? 'on' : 'off'}
    zonefile-sync: -1
    zonefile-load: difference
    journal-content: changes
`,
          ),
  });
  const follows = await start({
    zones: [],
    address: second,
    ready: ZONE,
    command: knotd,
    configuration: (folder) =>
      knotOptions(
        folder,
        second,
        `remote:
  - id: primary
    address: ${first}@53
zone:
  - domain: ${ZONE}
    storage: ${folder}
    master: primary
    refresh-min-interval: 3600
`,
      ),
  });
  const knotc = (folder: string, ...words: string[]) =>
    execFileSync('knotc', ['-s', `${folder}/knot.sock`, '-b', ...words], { stdio: 'ignore' });
  return {
    zone: ZONE,
    resolver: `127.0.0.1:${resolver.port}`,
    tls: ports,
    hosts,
    address,
    primary: { ...updates, address: first },
    secondary: {
      address: second,
      stop: () => follows.stop(),
      refresh: async () => void knotc(follows.folder, 'zone-refresh', ZONE),
    },
    delegate: async (delegated, ds = []) => {
      serial += 1;
      await writeFile(`${above.folder}/test.zone`, testText(delegated, ds));
      knotc(above.folder, 'zone-reload', 'test');
      // the resolver caches for a second
      await sleep(1100);
    },
    stop: async () => {
      for (const server of started.reverse()) await server.stop();
    },
  };
}
