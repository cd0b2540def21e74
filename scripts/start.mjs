// Starts the service of this checkout in this process, so that signals reach it; builds first if needed. At a terminal
// it prints the address of the console, and logs warnings and errors only, unless LOG_LEVEL says otherwise.
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import './build-when-needed.mjs';

const { LOG_LEVEL } = { ...(existsSync('.env') && parseEnv(readFileSync('.env', 'utf8'))), ...process.env };
const { isTTY } = process.stdout;
if (isTTY && !LOG_LEVEL) process.env.LOG_LEVEL = 'warn';
const { running } = await import('../dist/zoneward.cjs');
const url = await running;
if (isTTY) process.stdout.write(`Zoneward is ready: ${url}\n`);
