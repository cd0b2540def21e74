import { errors } from '../platform/common/errors.js';
import { MAX_ID, positiveId } from '../platform/common/validation.js';
import { zoneName } from './names.js';

/** How a request names a domain: by its id, or by its name in canonical form. */
export type DomainReference = number | string;

/** What such a text must be, in words. */
export const REFERENCE_FORM = 'must be an id, or the name of a domain (one of a single label has a final dot)';

/**
 * Reads the text that names a domain: digits are an id, everything else is a name, in A-label or U-label form, any
 * case, with or without a final dot. A name of a single label needs the dot: `undefined` is a mistake, `lan.` a zone.
 * Names with a slash (RFC 2317), and those that end in digits, are found by their id alone.
 * @param path of the text in the request
 * @throws AppError 400001 for what is neither
 */
export function domainReference(text: string, path = 'domain_id'): DomainReference {
  if (/^\d*$/.test(text)) return positiveId(text, path);
  const name = zoneName(text, path);
  const [last, ...others] = name.split('.').reverse() as [string, ...string[]];
  const isWhole = others.length > 0 || text.endsWith('.');
  if (!isWhole || name.includes('/') || /^\d+$/.test(last)) throw errors.field(path, REFERENCE_FORM);
  return name;
}

/** How the OpenAPI description says what `domainReference` reads. */
export const REFERENCE_SCHEMA = {
  anyOf: [
    { type: 'integer', minimum: 1, maximum: MAX_ID },
    { type: 'string', pattern: '^[^/]*[^/0-9][^/]*$', maxLength: 255 },
  ],
};
