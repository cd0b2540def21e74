// Loaded into a service by `node --import`: ends its process by SIGKILL at a statement that it sends to its database.
// The file KILL_AT_FILE, taken away when it is read, says at which one counted from then on: `before 12` kills instead
// of sending the twelfth, `after 12` when its answer is there and nobody has heard it yet, `never 0` not at all any
// more. KILL_AT says the same for the statements from the start on.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import mysql from 'mysql2';
import pg from 'pg';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';

const FILE = process.env.KILL_AT_FILE;
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

function counted(prototype, method) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    look();
    if (left === 0 || --left > 0) return original.apply(this, args);
    if (when === 'before') die();
    const done = args.findIndex((arg) => typeof arg === 'function');
    if (done >= 0) args[done] = die;
    const answer = original.apply(this, args);
    if (done < 0) answer instanceof Promise ? answer.then(die, die) : answer.once('end', die);
    return answer;
  };
}

counted(BetterSqlite3QueryRunner.prototype, 'query');
counted(pg.Client.prototype, 'query');
for (const method of ['query', 'execute']) counted(mysql.Connection.prototype, method);
