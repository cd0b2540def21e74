import { Injectable } from '@nestjs/common';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { allPools } from '../common/fair-pool.js';

/** Reads the numbers of a gauge, by the values of its label, when the metrics are read. */
type Read = () => Record<string, number> | Promise<Record<string, number>>;

const GAUGES = {
  zoneward_change_sets: { help: 'lists of changes without a known end', label: 'state' },
  zoneward_jobs: {
    help: 'jobs by state; those that failed wait for somebody, those that are failing come again by themselves',
    label: 'state',
  },
  zoneward_database_connections: { help: 'connections of the pool, and who waits for one', label: 'state' },
  zoneward_domains: { help: 'domains by how long ago their cache followed the provider', label: 'synced' },
  zoneward_cached_records: { help: 'cached records by how long ago they were compared', label: 'synced' },
  zoneward_failover_rules: { help: 'rules of failover by what they serve, and those on hold', label: 'state' },
  zoneward_in_doubt_seconds: { help: 'how long ago the oldest change in doubt was sent', label: 'of' },
  zoneward_redis: {
    help: 'what this process finds of Redis, 1 of up and away; nothing where it is not used',
    label: 'state',
  },
  zoneward_audit_broken: {
    help: '1 where the last verification at this process, or its checkpoint, found that the audit log was changed',
    label: 'by',
  },
  zoneward_accounts_paused: { help: 'accounts whose provider wants no calls for a while', label: 'kind' },
  zoneward_failover_checks_stopped: {
    help: 'rules of failover whose checks nobody has made for three of their intervals',
    label: 'of',
  },
  zoneward_clock_offset_seconds: {
    help: 'seconds by which the clock of this machine is ahead of that of the database, which all processes go by',
    label: 'from',
  },
  zoneward_event_streams: { help: 'who listens to events at this process', label: 'kind' },
} as const;

/** What all applications of one process share: memory, garbage collection, the delay of the event loop. */
let ofProcess: Registry | undefined;

/** The metrics of one application. Their labels have few values, all of them known in advance. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();
  private readonly reads = new Map<string, Read>();

  readonly requestSeconds = new Histogram({
    name: 'zoneward_http_request_duration_seconds',
    help: 'answered requests by pattern of their route; streams are not counted',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers: [this.registry],
  });

  readonly providerSeconds = new Histogram({
    name: 'zoneward_provider_call_duration_seconds',
    help: 'calls of providers, with what they waited for; outcome: ok, or the kind of the failure',
    labelNames: ['kind', 'verb', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers: [this.registry],
  });

  readonly queueSeconds = new Histogram({
    name: 'zoneward_provider_queue_wait_seconds',
    help: 'what requests to a provider wait for the limits of their account',
    labelNames: ['kind'],
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 120],
    registers: [this.registry],
  });

  readonly recordChanges = new Counter({
    name: 'zoneward_record_changes_total',
    help: 'changes of records by what became of them',
    labelNames: ['state'],
    registers: [this.registry],
  });

  readonly failoverChecks = new Counter({
    name: 'zoneward_failover_checks_total',
    help: 'health checks by what the checkers say together; none: they cannot say',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly logins = new Counter({
    name: 'zoneward_logins_total',
    help: 'sign-ins that succeeded, and those that failed',
    labelNames: ['result'],
    registers: [this.registry],
  });

  private readonly remembered = new Counter({
    name: 'zoneward_remembered_total',
    help: 'questions that this process answered from memory (hit), or had to ask for (miss)',
    labelNames: ['what', 'result'],
    registers: [this.registry],
  });

  private readonly info = new Gauge({
    name: 'zoneward_build_info',
    help: 'always 1',
    labelNames: ['version'],
    registers: [this.registry],
  });

  constructor() {
    this.addProvided();
    this.addPools();
  }

  /** Registers the source of a gauge; when it fails, the gauge has no numbers. */
  provide(name: keyof typeof GAUGES, read: Read): void {
    this.reads.set(name, read);
  }

  /** Counts a look-up in a cache of this application. */
  countRemembered(what: 'connections' | 'zones' | 'issuers', hit: boolean): void {
    this.remembered.inc({ what, result: hit ? 'hit' : 'miss' });
  }

  /** Begins to measure the process itself. */
  measureProcess(version: string): void {
    this.info.set({ version }, 1);
    if (ofProcess) return;
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }

  /** All of them, with those of the process where it is measured. */
  get all(): Registry {
    return ofProcess ? Registry.merge([this.registry, ofProcess]) : this.registry;
  }

  private addProvided(): void {
    const { reads } = this;
    const registers = [this.registry];
    for (const [name, { help, label }] of Object.entries(GAUGES)) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        async collect() {
          this.reset();
          const read = reads.get(name);
          let found: Record<string, number> = {};
          try {
            found = (await read?.()) ?? {};
          } catch {
            // the database is unavailable
          }
          for (const [value, n] of Object.entries(found)) this.set({ [label]: value }, n);
        },
      });
    }
  }

  private addPools(): void {
    const registers = [this.registry];
    new Gauge({
      name: 'zoneward_pool_in_use',
      help: 'places of the pools that users share which are taken in this process',
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, { inUse }] of allPools()) this.set({ pool }, inUse);
      },
    });

    new Gauge({
      name: 'zoneward_pool_waiting',
      help: 'who waits for a place of a pool',
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, { waiting }] of allPools()) this.set({ pool }, waiting);
      },
    });

    new Counter({
      name: 'zoneward_pool_refused_total',
      help: 'who was refused since a pool and its line of who waits were full',
      labelNames: ['pool'],
      registers,
      collect() {
        this.reset();
        for (const [pool, { refused }] of allPools()) this.inc({ pool }, refused);
      },
    });
  }
}
