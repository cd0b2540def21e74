// Preloaded into a service (`NODE_OPTIONS=--import=…`): tells each statement that it sends to its database on standard output, as `[statement] {sql, values}`.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';

const require = createRequire(import.meta.url);
const Mysql = require(join(dirname(require.resolve('mysql2')), 'lib/base/connection.js'));

const tell = (prototype, method) => {
  const original = prototype[method];
  prototype[method] = function (query, values, ...rest) {
    const sql = query?.text ?? query?.sql ?? query;
    const bound = Array.isArray(values) ? values : (query?.values ?? []);
    if (typeof sql === 'string') process.stdout.write(`[statement] ${JSON.stringify({ sql, values: bound })}\n`);
    return original.call(this, query, values, ...rest);
  };
};
tell(BetterSqlite3QueryRunner.prototype, 'query');
tell(pg.Client.prototype, 'query');
tell(Mysql.prototype, 'query');
tell(Mysql.prototype, 'execute');
