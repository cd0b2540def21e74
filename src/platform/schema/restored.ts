import type { EntityMetadata } from 'typeorm';

const FLEETING = new WeakSet<object>();

/**
 * Marks an entity whose rows mean something for a short time only, or to the processes that run now. They are left out
 * of backups: restored, they would do harm (a mail that is sent again, a session that was ended since).
 */
export const Fleeting =
  () =>
  (entity: object): void => {
    FLEETING.add(entity);
  };

export const isFleeting = (entity: object): boolean => FLEETING.has(entity);

const ENDED = new WeakMap<object, readonly string[]>();

/**
 * What is done with the rows of an entity once they are restored: what was under way at the moment of the backup has
 * ended since, nobody here knows how, and is not to be gone on with. @param statements SQL of all kinds
 */
export const EndedByRestore =
  (...statements: string[]) =>
  (entity: object): void => {
    ENDED.set(entity, statements);
  };

export const endings = (metadatas: readonly EntityMetadata[]): string[] =>
  metadatas.flatMap(({ target }) => ENDED.get(target as object) ?? []);
