import { type FieldText, say } from '../platform/common/words/field-text.js';
import { isSubstitution } from './substitution.js';
import { tokens } from './tokens.js';

/** What a canonical value is rejected for: a name server would not load the zone; null: nothing. */
type Limit = (value: string) => FieldText | null;

const STRING_OCTETS = 255;
/** Bytes of a text: BIND 9.18 loads rdata of 65510 octets at most, of which one in 256 is a length. */
export const MAX_TEXT = 65_254;
/** Characters of other values, for the same reason. */
export const MAX_CHARACTERS = 65_000;
/** Characters of the tag of a CAA record. */
export const MAX_TAG = 15;
export const LOCATION_RANGE = 'must have an altitude from -100000.00m to 42849672.95m, and sizes up to 90000000.00m';

/** @param by word that selects the length @param octets length of the last word by the number in that word */
const digest =
  (by: number, part: string, octets: Readonly<Record<string, number>>): Limit =>
  (value) => {
    const words = value.split(' ');
    const size = octets[words[by] as string];
    const given = (words.at(-1) as string).length / 2;
    return size === undefined || size === given
      ? null
      : say('{part} must have {size} octets, not {given}', { part, size, given });
  };

/** Limits of values by type, in addition to their form. */
export const LIMITS: Readonly<Partial<Record<string, Limit>>> = {
  // RFC 4255 section 3.1.2, RFC 6594
  SSHFP: digest(1, 'fingerprint', { 1: 20, 2: 32 }),
  // RFC 4509, RFC 5933, RFC 6605
  DS: digest(2, 'digest', { 1: 20, 2: 32, 3: 32, 4: 48 }),
  // RFC 6698 section 2.1.3
  TLSA: digest(2, 'certificate data', { 1: 32, 2: 64 }),
  SMIMEA: digest(2, 'certificate data', { 1: 32, 2: 64 }),
  NAPTR: (value) => {
    const strings = (tokens(value) ?? []).slice(2, 5).map(({ bytes }) => bytes);
    if (strings.some(({ length }) => length > STRING_OCTETS))
      return say('has a string of more than {max} octets', { max: STRING_OCTETS });
    return isSubstitution(strings[2]?.toString('latin1') ?? '')
      ? null
      : 'has a regexp that is not a substitution such as !^.*$!sip:info@example.net!';
  },
  // RFC 7553 section 4.4
  URI: (value) => (value.endsWith(' ""') ? 'must have a target that is not empty' : null),
};
