import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApp } from './create-app.js';
import { InitService } from './init/init.service.js';
import { configureLogger, log } from './platform/common/logger.js';
import { StartRefused } from './platform/common/start-refused.js';
import { VERSION } from './platform/common/version.js';
import { ConfigError, parseConfig, readEnvironment } from './platform/config/config.js';
import { shownConfig } from './platform/config/shown.js';
import { DatabaseService } from './platform/database/database.service.js';
import type { FastExpressAdapter } from './platform/http/express-adapter.js';
import { UsersService } from './users/users.service.js';

/** files and connections that the service may have open at once: its pools together, and room for clients */
const OPEN_FILES = 8192;

/** How many files this process may have open; Infinity where nobody tells. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft ? Number(soft) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Ends the service in order, and the process with 0. SIGTERM: `/health/ready` turns red at once, requests are taken for
 * `drainMs` more, each answer ends its connection, then the port closes. SIGINT, or a second signal: without the wait.
 */
function stopOn(app: NestExpressApplication, drainMs: number): void {
  const adapter = app.getHttpAdapter() as unknown as FastExpressAdapter;
  const waits = new AbortController();
  const stop = async (signal: NodeJS.Signals) => {
    // one at whose port nobody asks has nothing to wait for
    const ms = signal === 'SIGTERM' && app.getHttpServer().listening ? drainMs : 0;
    log().info({ signal, ms }, 'stopping');
    if (ms) await adapter.drain(ms, waits.signal);
    await app.close();
    process.exit(0);
  };
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) return waits.abort();
    stopping = true;
    stop(signal).catch((err) => {
      log().error({ err }, 'the service did not end in order');
      process.exit(1);
    });
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

async function main(): Promise<void> {
  const config = parseConfig(readEnvironment(process.cwd()));
  configureLogger(config.logLevel);
  const app = await createApp(config);
  // from here on, since as the first process of a container the service would not die of a signal, however long a
  // database lets it wait
  stopOn(app, config.drainMs);
  const database = app.get(DatabaseService);
  database.whenRefused = () => process.exit(1);
  await database.start();
  const { presetProblem } = app.get(InitService);
  if (presetProblem) throw presetProblem;
  // one that is refused says why in one line, and no more
  log().info({ version: VERSION, node: process.version, pid: process.pid, config: shownConfig(config) }, 'starting');
  for (const { name, meant } of config.misspelt) log().warn({ name, meant }, 'a variable that nobody reads is set');
  const files = openFilesLimit();
  if (files < OPEN_FILES) log().warn({ files, needed: OPEN_FILES }, 'few files may be open (ulimit -n)');
  // before the logger takes its leave
  process.prependOnceListener('exit', (code) => log().info({ version: VERSION, code }, 'stopped'));
  await app.listen(config.port, config.host);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = config.baseUrl ?? `http://localhost:${port}`;
  log().info({ port, url }, 'listening');
  if (!database.open || !(await app.get(UsersService).someExist()))
    log().info({ url: `${url}/api/docs` }, 'not initialised: set it up here');
}

try {
  await main();
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else if (error instanceof StartRefused) log().fatal(error.message);
  else log().fatal({ err: error }, 'the start failed');
  process.exit(1);
}
