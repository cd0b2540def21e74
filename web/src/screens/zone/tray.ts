import { newKey } from '../../api/new-key.js';
import { changedFields, type Fields, fieldsOf, type RecordRow } from './fields.js';

/** One change that waits to be published: without `before` a new record, without `after` one that goes. */
export interface Edit {
  /** of this edit, for as long as it lies in the tray */
  key: string;
  /** of the record; null: it is new */
  id: number | null;
  before: Fields | null;
  after: Fields | null;
}

/** Something that is being published: kept, so that a page that is loaded again finds what became of it. */
export interface Publishing {
  plan: number;
  /** `Idempotency-Key` of the application */
  key: string;
  /** the edits that are in it; none: it is no plan of the tray */
  edits: string[];
  /** guards that are meant */
  force: string[];
  /** why it is made in spite of a freeze */
  override?: string;
  /** it takes back this change set */
  undoes?: number;
  /** it is of a file, or of the text of the zone */
  document?: boolean;
  /** it waits for an approval */
  waits?: boolean;
}

/** What a user is about to change in a domain. */
export interface Tray {
  edits: Edit[];
  publishing: Publishing | null;
  /** the zone as text, as somebody left it half done */
  draft?: string | undefined;
}

export const EMPTY: Tray = { edits: [], publishing: null };
/** As many edits as lie in a tray; more are a file to be imported. */
export const MAX_EDITS = 2000;

const isFull = ({ edits }: Tray, more: number) => edits.length + more > MAX_EDITS;

/** Puts an edit in the place of the one with its key, or record, or behind all. @returns null when the tray is full */
function put(tray: Tray, edit: Edit): Tray | null {
  const at = tray.edits.findIndex(({ key, id }) => key === edit.key || (id !== null && id === edit.id));
  const nothing = edit.before && edit.after && changedFields(edit.before, edit.after).length === 0;
  if (at < 0) return nothing ? tray : isFull(tray, 1) ? null : { ...tray, edits: [...tray.edits, edit] };
  const edits = nothing
    ? tray.edits.toSpliced(at, 1)
    : tray.edits.with(at, { ...edit, key: tray.edits[at]?.key ?? edit.key });
  return { ...tray, edits };
}

/** The record is to become so; what it was when it was first edited stays known. */
export function change(tray: Tray, row: RecordRow, after: Fields): Tray | null {
  const before = tray.edits.find(({ id }) => id === row.id)?.before ?? fieldsOf(row);
  return put(tray, { key: newKey(), id: row.id, before, after });
}

/** A record is to be made. @param key of the edit that becomes so */
export const add = (tray: Tray, after: Fields, key = newKey()): Tray | null =>
  put(tray, { key, id: null, before: null, after });

/** The record is to go. */
export function remove(tray: Tray, row: RecordRow): Tray | null {
  const before = tray.edits.find(({ id }) => id === row.id)?.before ?? fieldsOf(row);
  return put(tray, { key: newKey(), id: row.id, before, after: null });
}

/** Takes edits out of the tray. */
export const withdraw = (tray: Tray, keys: readonly string[]): Tray => ({
  ...tray,
  edits: tray.edits.filter(({ key }) => !keys.includes(key)),
});

/** A change as the API takes it, only with what changes. */
export type Change = { op: 'create' | 'update' | 'delete'; record_id?: number } & Partial<Fields>;

function changeOf({ id, before, after }: Edit): Change {
  const record_id = id ?? 0;
  if (!after) return { op: 'delete', record_id };
  if (before)
    return {
      op: 'update',
      record_id,
      ...Object.fromEntries(changedFields(before, after).map((field) => [field, after[field]])),
    };
  const { host, type, value, ttl, ...more } = after;
  const told = Object.entries(more).filter(
    ([key, text]) => text !== null && text !== '' && text !== (key === 'enabled'),
  );
  // no TTL: that of the set, or of the settings
  return { op: 'create', host, type, value, ...(ttl && { ttl }), ...Object.fromEntries(told) };
}

const RANK = { delete: 0, update: 1, create: 2 };

/**
 * The edits as one list of changes. It is judged one change after the other: what goes makes room for what comes.
 * @returns the edits in that order, too
 */
export function changesOf(edits: readonly Edit[]): { changes: Change[]; ordered: Edit[] } {
  const pairs = edits.map((edit) => ({ edit, change: changeOf(edit) }));
  pairs.sort((a, b) => RANK[a.change.op] - RANK[b.change.op]);
  return { changes: pairs.map(({ change }) => change), ordered: pairs.map(({ edit }) => edit) };
}
