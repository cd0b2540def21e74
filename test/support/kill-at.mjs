// Loaded into a service by `node --import`: kills its process with SIGKILL at a statement sent to the database. The
// file KILL_AT_FILE, deleted when read, selects the statement, counted from then on: `before 12` kills before sending
// the twelfth, `after 12` when its answer has arrived but is not yet processed, `never 0` disables it. KILL_AT does the
// same for statements counted from the start. `pause 12` stops the process with SIGSTOP instead, at the twelfth step:
// before a statement, when its answer has arrived, or when an outgoing request is about to be sent, has been sent, or
// is being answered. When the process continues, its clock shows that it slept longer than leases last: on SQLite the
// monotonic clock; with a database server, whose time the service derives from the monotonic clock, the wall clock,
// until all leases of that time were renewed or lost.
import { subscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync, rmSync } from 'node:fs';

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
  // the signal may be delivered with a delay
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

const before =
  (first, then) =>
  (...answer) => {
    first();
    then(...answer);
  };

function counted(prototype, method) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    look();
    if (when === 'pause') step();
    else if (left === 0 || --left > 0) return original.apply(this, args);
    else if (when === 'before') die();
    const end = when === 'pause' ? step : die;
    const told = args.findIndex((arg) => typeof arg === 'function');
    if (told >= 0) return original.apply(this, args.with(told, before(end, args[told])));
    const answer = original.apply(this, args);
    answer instanceof Promise ? answer.then(end, end) : answer.once('end', end);
    return answer;
  };
}

const observed = new Set();
/** Counts the statements of a class of a driver, once for all of its instances. */
function countOnce(prototype, ...methods) {
  if (observed.has(prototype)) return;
  observed.add(prototype);
  for (const method of methods) counted(prototype, method);
}

subscribe('zoneward:data-source', (source) => {
  const { driver } = source;
  if (driver.postgres) return countOnce(driver.postgres.Client.prototype, 'query');
  if (driver.mysql) return countOnce(driver.mysql.Connection.prototype, 'query', 'execute');
  countOnce(driver.createQueryRunner('master').constructor.prototype, 'query');
  countOnce(source.constructor.prototype, 'single');
});
for (const channel of [
  'undici:request:create',
  'undici:client:connected',
  'undici:request:bodySent',
  'undici:request:headers',
])
  subscribe(channel, step);
