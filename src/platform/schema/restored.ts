import type { EntityMetadata } from 'typeorm';

const FLEETING = new WeakSet<object>();

/**
 * Marks an entity with short-lived or process-bound rows, which are excluded from backups: restoring them would do harm
 * (a mail sent twice, a session that has ended since).
 */
export const Fleeting =
  () =>
  (entity: object): void => {
    FLEETING.add(entity);
  };

export const isFleeting = (entity: object): boolean => FLEETING.has(entity);

const ENDED = new WeakMap<object, readonly string[]>();

/**
 * SQL that runs on an entity's rows after a restore: work in progress at the time of the backup has ended since with an
 * unknown result, and must not be continued. @param statements portable SQL
 */
export const EndedByRestore =
  (...statements: string[]) =>
  (entity: object): void => {
    ENDED.set(entity, statements);
  };

export const endings = (metadatas: readonly EntityMetadata[]): string[] =>
  metadatas.flatMap(({ target }) => ENDED.get(target as object) ?? []);
