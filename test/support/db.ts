import type { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { Db } from '../../src/platform/database/db.js';
import { Traces } from '../../src/platform/traces/traces.js';

/** SQL on a database without an application. */
export const dbOn = (source: AppDataSource): Db => new Db(source, new Traces());
