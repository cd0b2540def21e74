import { changedFields, type Fields } from '../fields.js';
import { type Edit, isSameValue } from '../tray.js';

interface Change {
  id: number;
  record_id: number | null;
  before: Fields | null;
}

/** Whether a record is still what it was when it was edited. */
const isSame = (edited: Fields, found: Fields) =>
  isSameValue(edited.value, found.value) && changedFields({ ...edited, value: found.value }, found).length === 0;

/** The changes of a plan whose record is no more what it was when it was edited, by their ids. */
export function changedByOthers(changes: readonly Change[], edits: readonly Edit[]): Set<number> {
  const known = new Map(edits.map(({ id, before }) => [id, before]));
  return new Set(
    changes.flatMap(({ id, record_id, before }) => {
      const edited = record_id !== null && known.get(record_id);
      return edited && before && !isSame(edited, before) ? [id] : [];
    }),
  );
}
