// Starts the service of this checkout in this process, so that signals reach it; builds first if needed. At a terminal
// it prints the address of the console, and logs warnings and errors only, unless LOG_LEVEL says otherwise.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import './build-when-needed.mjs';

/** Whether the user has chosen a level. */
function hasLogLevel() {
  if (process.env.LOG_LEVEL) return true;
  try {
    return Boolean(parseEnv(readFileSync('.env', 'utf8')).LOG_LEVEL);
  } catch {
    // without the file, there is no level; the service reports one that cannot be read
    return false;
  }
}

const { isTTY } = process.stdout;
if (isTTY && !hasLogLevel()) process.env.LOG_LEVEL = 'warn';
const { running } = await import('../dist/zoneward.cjs');
const url = await running;
if (isTTY) process.stdout.write(`Zoneward is ready: ${url}\n`);
