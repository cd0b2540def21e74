// Preloaded into a service on SQLite (`NODE_OPTIONS=--import=…`): tells each statement that it runs on standard output, as `[query] SELECT …`.
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';

const { query } = BetterSqlite3QueryRunner.prototype;
BetterSqlite3QueryRunner.prototype.query = function (sql, ...rest) {
  process.stdout.write(`[query] ${sql.replace(/\s+/g, ' ')}\n`);
  return query.call(this, sql, ...rest);
};
