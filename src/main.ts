import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { configureLogger, log } from './common/logger.js';
import { StartRefused } from './common/start-refused.js';
import { VERSION } from './common/version.js';
import { ConfigError, parseConfig, readEnvironment } from './config/config.js';
import { shownConfig } from './config/shown.js';
import { createApp } from './create-app.js';
import { DatabaseService } from './database/database.service.js';
import { InitService } from './init/init.service.js';
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

async function main(): Promise<void> {
  const config = parseConfig(readEnvironment(process.cwd()));
  configureLogger(config.logLevel);
  const app = await createApp(config);
  // 0 after an orderly end, instead of dying of the signal; from here on, since as the first process of a container
  // the service would not die of it, however long a database lets it wait
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => log().info({ signal }, 'stopping'));
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
