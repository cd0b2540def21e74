import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { Db } from '../../platform/database/db.js';
import type { Rule } from './rule.js';

/** rules that are written in one transaction */
const PIECE = 50;

/** The rule as it is now, or why it was not written. */
export type Outcome = Rule | Error;

/**
 * Writes many rules in few transactions.
 * @param work gets a piece of the list, and what comes after it
 * @returns the result of each, or why its transaction failed
 */
export async function inPieces<T>(
  db: Db,
  list: readonly T[],
  work: (piece: readonly T[], manager: EntityManager, rest: readonly T[]) => Promise<(Rule | null)[]>,
): Promise<(Outcome | null)[]> {
  const results: (Outcome | null)[] = [];
  for (let i = 0; i < list.length; i += PIECE) {
    const piece = list.slice(i, i + PIECE);
    const written = db.transaction((manager) => work(piece, manager, list.slice(i + PIECE)));
    results.push(...(await written.catch((error: Error) => piece.map(() => error))));
    await nextTurn();
  }
  return results;
}
