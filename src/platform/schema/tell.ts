import type { QueryRunner } from 'typeorm';
import { createLogger } from '../common/logger.js';

/** What happens while a database is opened, for the log. */
export type Tell = (fields: object, words: string, level?: 'info' | 'warn') => void;

/** What a migration tells, which TypeORM makes: to whom the application said, else on standard output. */
export function tellBy(runner: QueryRunner): Tell {
  const { tell } = runner.data as { tell?: Tell };
  return tell ?? ((fields, words, level = 'info') => createLogger('info')[level](fields, words));
}
