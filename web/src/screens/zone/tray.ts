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
  /** it took the place of an edit that is being published, which makes the record so; null: which deletes it */
  sent?: Fields | null;
}

/** The zone as text, as somebody left it half done. */
export interface Draft {
  /** of this text: another one has another key */
  key: string;
  text: string;
  /** the zone when the text was begun */
  base: string;
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
  /** key of the draft that it is of */
  draft?: string;
  /** it waits for an approval */
  waits?: boolean;
}

/** What a user is about to change in a domain. */
export interface Tray {
  edits: Edit[];
  publishing: Publishing | null;
  draft?: Draft | undefined;
}

export const EMPTY: Tray = { edits: [], publishing: null };
/** As many edits as lie in a tray; more are a file to be imported. */
export const MAX_EDITS = 2000;

const isFull = ({ edits }: Tray, more: number) => edits.length + more > MAX_EDITS;

const isNothing = ({ before, after }: Edit) => before && after && changedFields(before, after).length === 0;

/**
 * Puts an edit in the place of the one with its key, or record, or behind all. One that is being published is another
 * one from then on: its end is not that of what was edited since.
 * @returns null when the tray is full
 */
function put(tray: Tray, edit: Edit): Tray | null {
  const at = tray.edits.findIndex(({ key, id }) => key === edit.key || (id !== null && id === edit.id));
  const held = tray.edits[at];
  if (!held) return isNothing(edit) ? tray : isFull(tray, 1) ? null : { ...tray, edits: [...tray.edits, edit] };
  const next: Edit = tray.publishing?.edits.includes(held.key)
    ? { ...edit, key: newKey(), sent: held.after }
    : { ...held, before: edit.before, after: edit.after };
  const goes = isNothing(next) && next.sent === undefined;
  return { ...tray, edits: goes ? tray.edits.toSpliced(at, 1) : tray.edits.with(at, next) };
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

/** A change that was made, as far as it matters to the tray. */
export interface Made {
  op: string;
  record_id: number | null;
  after: Fields | null;
}

/** What an edit became of which a change was made, when it took the place of that one. */
function onTopOf({ sent, ...edit }: Edit, made: readonly Made[]): Edit[] {
  const near = made.filter(({ op, record_id, after }) =>
    edit.id === null
      ? op === 'create' && sent && after?.host === sent.host && after.type === sent.type
      : record_id === edit.id,
  );
  const is = near.find(({ after }) => after?.value === sent?.value) ?? near[0];
  const now: Edit = !is
    ? edit
    : is.after
      ? { ...edit, id: is.record_id, before: { ...fieldsOf(is.after), value: wholeOf(is.after.value, sent) } }
      : { ...edit, id: null, before: null };
  return isNothing(now) || (!now.before && !now.after) ? [] : [now];
}

/** A value of which lists of changes have the beginning, where it is very long. */
const wholeOf = (shown: string, sent: Fields | null | undefined): string =>
  sent && isSameValue(sent.value, shown) ? sent.value : shown;

/** Whether a value is the one that a plan, or a list of changes, shows: of very long ones that has the beginning. */
export const isSameValue = (value: string, shown: string): boolean =>
  value === shown || (shown.length > 200 && value.startsWith(shown.slice(0, 200)));

/**
 * The tray when what was published has come to its end.
 * @param left keys of the edits that were not made
 * @param made the changes that were
 * @param isWhole whether nothing failed
 */
export function published(
  tray: Tray,
  publishing: Publishing,
  left: readonly string[],
  made: readonly Made[],
  isWhole: boolean,
): Tray {
  const done = publishing.edits.filter((key) => !left.includes(key));
  const { draft, ...rest } = withdraw(tray, done);
  const edits = rest.edits.flatMap((edit) => (edit.sent === undefined ? [edit] : onTopOf(edit, made)));
  // a text that was changed since is another one
  const isDone = isWhole && draft?.key === publishing.draft;
  return { ...rest, edits, publishing: null, ...(!isDone && draft && { draft }) };
}

/** Puts edits back that were taken out, but for those of records that were edited since, and what is too much. */
export function putBack(tray: Tray, edits: readonly Edit[]): Tray {
  const ids = new Set(tray.edits.map(({ id }) => id));
  const back = edits.filter(({ id }) => id === null || !ids.has(id));
  const room = Math.max(0, MAX_EDITS - tray.edits.length);
  return { ...tray, edits: [...back.slice(0, room), ...tray.edits] };
}

/** A change as the API takes it, only with what changes. */
export type Change = { op: 'create' | 'update' | 'delete'; record_id?: number; ttl?: number } & Partial<
  Omit<Fields, 'ttl'>
>;

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
  return { op: 'create', host, type, value, ...(ttl !== null && { ttl }), ...Object.fromEntries(told) };
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
