import { MAX_BYTES, MAX_EXTRA_BYTES, MAX_TTL, type RemoteRecord, ROOM } from '../../../dns/record.js';
import type { Outcome } from '../../provider.js';
import { clipped, storable } from '../http/errors.js';
import { idInRoom, unreadable } from './unreadable.js';

const isText = (text: unknown): text is string =>
  typeof text === 'string' && !text.includes('\0') && text.isWellFormed();
const isShort = (text: unknown, most: number): boolean => isText(text) && text.length <= most;
/** Three bytes are the most of a unit of a text. */
const isLong = (text: string): boolean => text.length * 3 > MAX_BYTES && Buffer.byteLength(text) > MAX_BYTES;
const isSmall = (extra: string): boolean => Buffer.byteLength(JSON.stringify(extra)) <= MAX_EXTRA_BYTES;
const isNumber = (number: unknown, least: number): boolean =>
  Number.isInteger(number) && (number as number) >= least && (number as number) <= MAX_TTL;

/** The parts of a record that not every database can hold, each with its test. */
const PARTS: readonly [string, (record: RemoteRecord) => boolean][] = [
  ['an id', ({ remoteId }) => remoteId !== '' && isShort(remoteId, ROOM.remoteId)],
  ['a name', ({ host }) => isShort(host, ROOM.host)],
  ['a type', ({ type }) => isShort(type, ROOM.type)],
  ['a value', ({ value }) => isText(value) && !isLong(value)],
  ['a TTL', ({ ttl }) => isNumber(ttl, 0)],
  ['a priority', ({ priority }) => priority === null || isNumber(priority, -MAX_TTL)],
  ['a weight', ({ weight }) => weight === null || isNumber(weight, -MAX_TTL)],
  ['a line', ({ line }) => isShort(line, ROOM.line)],
  ['a state', ({ enabled, proxied }) => typeof enabled === 'boolean' && typeof proxied === 'boolean'],
  ['settings', ({ extra }) => extra === undefined || extra === null || (isText(extra) && isSmall(extra))],
];

/** Why a record cannot be kept as it is; null: it can. */
function misfit(record: RemoteRecord): string | null {
  for (const [part, fits] of PARTS) if (!fits(record)) return `It has ${part} of a form that cannot be kept here`;
  return null;
}

/**
 * A record as it is kept here: read-only where its type cannot be written, its remark no longer than there is room. One
 * with a part that no column holds is shown as it came, and takes no other with it.
 */
export function kept(record: RemoteRecord, zone: string, writable: ReadonlySet<string>): RemoteRecord {
  const why = misfit(record);
  if (why !== null) {
    const { readOnly: _readOnly, readOnlyReason: _reason, ...parts } = record;
    return { ...unreadable(parts, zone, record.remoteId ? idInRoom(record.remoteId) : null), readOnlyReason: why };
  }
  const { type, remark } = record;
  const shown = typeof remark === 'string' ? storable(remark.slice(0, ROOM.remark)) : undefined;
  const readOnly = record.readOnly || !writable.has(type);
  if (!readOnly && shown === remark) return record;
  const { remark: _remark, readOnlyReason: told, ...rest } = record;
  const own = record.readOnly ? 'It is managed at the provider' : `It is of type ${type}, which is not written here`;
  const readOnlyReason = storable(clipped(told ?? own, ROOM.reason));
  return { ...rest, ...(shown !== undefined && { remark: shown }), readOnly, ...(readOnly && { readOnlyReason }) };
}

/** An outcome as it is kept here; of a record with a part that no column holds only the next list tells the state. */
export function keptOutcome(outcome: Outcome): Outcome {
  if (!outcome.ok || outcome.remoteId === null) return outcome;
  const { held } = outcome;
  const remoteId = idInRoom(outcome.remoteId);
  const fits = held && misfit({ ...held, remoteId, readOnly: false }) === null;
  const remark = held?.remark === undefined ? {} : { remark: storable(held.remark.slice(0, ROOM.remark)) };
  return { ok: true, remoteId, ...(fits && { held: { ...held, ...remark } }) };
}
