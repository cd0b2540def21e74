import { relativeName, toAscii } from '../../dns/names.js';
import { TYPE_NAMES } from '../../dns/types.js';
import { errors } from '../../platform/common/errors.js';
import { say } from '../../platform/common/words/field-text.js';

/** What is neither the name of a record type nor of records that the caller may read. */
export const unknownType = (type: string) =>
  errors.field('type', say('"{type}" is no record type', { type: type.slice(0, 16) }), 'choice', {
    values: TYPE_NAMES,
  });

/**
 * The host that a filter names. @param zone null: of any zone
 * @throws AppError 400001 for a full name outside of the zone, and for what no name can be
 */
export function storedHost(text: string, zone: string | null, path: string): string {
  const ascii = toAscii(text);
  if (ascii === '' && text.trim() !== '') throw errors.field(path, say('"{name}" is no name', { name: text }));
  if (zone === null && ascii.endsWith('.'))
    throw errors.field(path, say('"{name}" is a full name: give the host only', { name: text }));
  const host = zone !== null && ascii.endsWith('.') ? relativeName(ascii, zone) : ascii || '@';
  if (host === null)
    throw errors.field(path, say('"{name}" is not inside the zone {zone}', { name: text, zone: zone as string }));
  return host;
}
