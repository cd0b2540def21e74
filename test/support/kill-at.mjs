// Loaded into a service by `node --import`: ends its process by SIGKILL at a statement that it sends to its database.
// The file KILL_AT_FILE, taken away when it is read, says at which one counted from then on: `before 12` kills instead
// of sending the twelfth, `after 12` when its answer is there and nobody has heard it yet, `never 0` not at all any
// more. KILL_AT says the same for the statements from the start on. `pause 12` stops the process by SIGSTOP instead, at
// the twelfth step: before a statement, when its answer is there, when a request is about to go out to somebody, has
// gone out, or is being answered. Where it goes on, its clock says that it slept for longer than locks last: on SQLite
// the monotonic one; where the time that counts is a server's, which the service tells by that one, the machine's,
// until all locks of that time were renewed or lost.
import { subscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import mysql from 'mysql2';
import pg from 'pg';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';

const FILE = process.env.KILL_AT_FILE;
const SLEPT_MS = 40_000;
const RENEWED_MS = 12_000;
const IS_SERVER = /^(postgres|mysql|mariadb)/.test(process.env.DATABASE_URL ?? '');
let [when, left] = read(process.env.KILL_AT ?? '');

function read(text) {
  const [word, count] = text.trim().split(' ');
  return [word, Number(count ?? 0)];
}

function look() {
  if (!existsSync(FILE)) return;
  [when, left] = read(readFileSync(FILE, 'utf8'));
  rmSync(FILE);
}

const die = () => process.kill(process.pid, 'SIGKILL');

const clock = performance.now.bind(performance);
let slept = 0;
performance.now = () => clock() + slept;
const wall = Date.now.bind(Date);
let ahead = 0;
let timer;
Date.now = () => wall() + ahead;

/** One of the steps at which the process may be stopped. */
function step() {
  if (when !== 'pause' || left === 0 || --left > 0) return;
  const begun = clock();
  process.kill(process.pid, 'SIGSTOP');
  // the signal may take a moment
  while (clock() - begun < 5);
  if (!IS_SERVER) {
    slept += SLEPT_MS;
    return;
  }
  ahead += SLEPT_MS;
  clearTimeout(timer);
  timer = setTimeout(() => {
    ahead = 0;
  }, RENEWED_MS).unref();
}

function counted(prototype, method) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    look();
    if (when === 'pause') step();
    else if (left === 0 || --left > 0) return original.apply(this, args);
    else if (when === 'before') die();
    const end = when === 'pause' ? step : die;
    const done = args.findIndex((arg) => typeof arg === 'function');
    if (done >= 0) {
      const told = args[done];
      args[done] = (...answer) => {
        end();
        told(...answer);
      };
    }
    const answer = original.apply(this, args);
    if (done < 0) answer instanceof Promise ? answer.then(end, end) : answer.once('end', end);
    return answer;
  };
}

counted(BetterSqlite3QueryRunner.prototype, 'query');
counted(pg.Client.prototype, 'query');
for (const method of ['query', 'execute']) counted(mysql.Connection.prototype, method);
for (const channel of [
  'undici:request:create',
  'undici:client:connected',
  'undici:request:bodySent',
  'undici:request:headers',
])
  subscribe(channel, step);
