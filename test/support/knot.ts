import { missing, type NameServer, startNameServer } from './bind.js';

/** Why Knot DNS cannot be tested here, if so. */
export const knotMissing = (): string | undefined => missing('knotd', 'dig');

/** Knot DNS as primary of the zones. */
export const startKnot = ({ zones }: { zones: string[] }): Promise<NameServer> =>
  startNameServer({
    zones,
    command: (file) => ['knotd', ['-c', file]],
    configuration: (folder, port, tsig) => `
server:
    rundir: ${folder}
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${folder}
    journal-db-max-size: 16M
    journal-db-mode: asynchronous
    timer-db-max-size: 1M
    kasp-db-max-size: 5M
    catalog-db-max-size: 5M
log:
  - target: stderr
    any: info
key:
  - id: ${tsig.name}
    algorithm: ${tsig.algorithm}
    secret: ${tsig.secret}
acl:
  - id: edit
    key: ${tsig.name}
    action: [transfer, update]
template:
  - id: default
    storage: ${folder}
    file: "%s.zone"
    acl: edit
    zonefile-sync: -1
    zonefile-load: difference
    journal-content: changes
zone:
${zones.map((zone) => `  - domain: ${zone}`).join('\n')}
`,
  });
