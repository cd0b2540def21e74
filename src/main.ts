import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApp, listen } from './create-app.js';
import { InitService } from './init/init.service.js';
import { createLogger } from './platform/common/logger.js';
import { StartRefused } from './platform/common/start-refused.js';
import { VERSION } from './platform/common/version.js';
import { ConfigError, parseConfig, readEnvironment } from './platform/config/config.js';
import { shownConfig } from './platform/config/shown.js';
import { DatabaseService } from './platform/database/database.service.js';
import type { FastExpressAdapter } from './platform/http/express-adapter.js';
import { UsersService } from './users/users.service.js';

/** Open files and connections that the service may need: all pools, and clients. */
const OPEN_FILES = 8192;

/** Until the configuration is read. */
let logger = createLogger('info');

/** Open-file limit of this process; Infinity if unknown. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft ? Number(soft) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Shuts the service down and exits with 0. SIGTERM: `/health/ready` turns red at once, requests are served for
 * `drainMs` more with connections closed after each answer, then the port closes. SIGINT or a second signal: no wait.
 */
function stopOn(app: NestExpressApplication, drainMs: number): void {
  const adapter = app.getHttpAdapter() as unknown as FastExpressAdapter;
  const waits = new AbortController();
  const stop = async (signal: NodeJS.Signals) => {
    // without a listening port there is nothing to drain
    const ms = signal === 'SIGTERM' && app.getHttpServer().listening ? drainMs : 0;
    logger.info({ signal, ms }, 'stopping');
    if (ms) await adapter.drain(ms, waits.signal);
    await app.close();
    process.exit(0);
  };
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) return waits.abort();
    stopping = true;
    stop(signal).catch((err) => {
      logger.error({ err }, 'the service did not end in order');
      process.exit(1);
    });
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

/** @returns the address of the console: its setup page until there is an administrator */
async function main(): Promise<string> {
  const config = parseConfig(readEnvironment(process.cwd()));
  logger = createLogger(config.logLevel);
  const app = await createApp(config, logger);
  // handle signals from here on: as PID 1 of a container the service would ignore them while it waits for a database
  stopOn(app, config.drainMs);
  const database = app.get(DatabaseService);
  database.whenRefused = () => process.exit(1);
  await database.start();
  const { presetProblem } = app.get(InitService);
  if (presetProblem) throw presetProblem;
  // after the checks above: a refused start logs only its reason
  logger.info({ version: VERSION, node: process.version, pid: process.pid, config: shownConfig(config) }, 'starting');
  for (const { name, meant } of config.misspelt) logger.warn({ name, meant }, 'a variable that nobody reads is set');
  const files = openFilesLimit();
  if (files < OPEN_FILES) logger.warn({ files, needed: OPEN_FILES }, 'few files may be open (ulimit -n)');
  // before the logger shuts down
  process.prependOnceListener('exit', (code) => logger.info({ version: VERSION, code }, 'stopped'));
  await listen(app, config);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const needsSetup = !database.open || !(await app.get(UsersService).someExist());
  const url = `${config.baseUrl ?? `http://localhost:${port}`}${needsSetup ? '/setup' : ''}`;
  const { powerdnsPort } = config;
  logger.info({ port, url, ...(powerdnsPort !== null && { powerdnsPort }) }, 'listening');
  return url;
}

/** Resolves with the address of the console when the service listens. After a failed start the process exits. */
export const started = main().catch((error): never => {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else if (error instanceof StartRefused) logger.fatal(error.message);
  else logger.fatal({ err: error }, 'the start failed');
  return process.exit(1);
});
