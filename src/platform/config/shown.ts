import type { Cidr } from '../common/cidr.js';
import type { Config } from './config.js';

const texts = (list: readonly Cidr[]) => list.map(([net, bits]) => `${net}/${bits}`);

/** The configuration for the log: only listed fields, without secrets. */
export function shownConfig(config: Config): Record<string, unknown> {
  const { database, port, host, baseUrl, dataDir, logLevel, zoneFiles, metrics } = config;
  return {
    port,
    host,
    dns: config.dns,
    baseUrl,
    dataDir,
    database:
      database &&
      (database.type === 'sqlite'
        ? { type: database.type, path: database.path }
        : { type: database.type, host: database.host, port: database.port, name: database.database }),
    databaseTimeoutMs: config.databaseTimeoutMs,
    redis: config.redisUrl !== null,
    keys: config.secretKeys.length,
    corsOrigins: config.corsOrigins,
    trustedProxies: texts(config.trustedProxies),
    outboundAllow: texts(config.outboundAllow),
    outboundDeny: texts(config.outboundDeny),
    logLevel,
    providerTimeoutMs: config.providerTimeoutMs,
    requestDeadlineMs: config.requestDeadlineMs,
    unclearAfterMs: config.unclearAfterMs,
    checkers: config.checkers,
    checkReferences: config.checkReferences,
    slowMs: config.slowMs,
    drainMs: config.drainMs,
    zoneFiles: zoneFiles.root,
    metrics: { on: metrics.on, port: metrics.port },
    traces: config.traces?.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
  };
}
