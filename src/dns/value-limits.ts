import { InvalidRecord } from '../platform/common/errors.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { locationFromWire, locationText, locationToWire, readLocation } from './location.js';
import { storedParams } from './service-params.js';
import { isSubstitution } from './substitution.js';
import { tokens } from './tokens.js';

/**
 * Limits of new values, in addition to the form that `rdata.ts` reads. A value that a provider holds is not judged by
 * them, so that a record which a name server does not load can still be edited and deleted.
 */

/** Why name servers would not load the zone with a canonical value; null: they do. */
type Limit = (value: string) => FieldText | null;

const STRING_OCTETS = 255;
/** Maximum bytes of a text: BIND 9.18 loads up to 65510 octets of rdata, and each 255 bytes have a length octet. */
const MAX_TEXT = 65_254;
/** Characters of other values, for the same reason. */
const MAX_CHARACTERS = 65_000;
/** Characters of the tag of a CAA record. */
const MAX_TAG = 15;
const LOCATION_RANGE = 'must have an altitude from -100000.00m to 42849672.95m, and sizes up to 90000000.00m';

/** @param by index of the word that selects the length @param octets required length by that word */
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

const LIMITS: Readonly<Partial<Record<string, Limit>>> = {
  // RFC 6844 section 5.1; NSD reads no longer ones
  CAA: (value) =>
    (value.split(' ')[1] as string).length <= MAX_TAG
      ? null
      : say('must have a tag of 1 to {max} letters and digits', { max: MAX_TAG }),
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

/** @throws InvalidRecord at `value` */
function loadableService(value: string): string {
  const [priority, target, ...params] = value.split(' ');
  // PowerDNS reads no parameters in AliasMode, where clients ignore them (RFC 9460 section 2.4.2)
  if (priority === '0' && params.length)
    throw new InvalidRecord('value', 'must not have parameters next to the priority 0 (AliasMode)');
  return [priority, target, ...storedParams(params)].join(' ');
}

/** Sizes have one digit in DNS: name servers return others than were written. @throws InvalidRecord at `value` */
function loadableLocation(value: string): string {
  const location = readLocation(value);
  const held = location && locationFromWire(locationToWire(location) ?? Buffer.alloc(0));
  if (!held) throw new InvalidRecord('value', LOCATION_RANGE);
  return locationText(held);
}

const FORMS: Readonly<Partial<Record<string, (value: string) => string>>> = {
  SVCB: loadableService,
  HTTPS: loadableService,
  LOC: loadableLocation,
};

/**
 * The form of a new value that name servers load and return.
 * @param value canonical
 * @throws InvalidRecord at `value`
 */
export function loadableValue(type: string, value: string): string {
  if (type === 'TXT' && Buffer.byteLength(value) > MAX_TEXT)
    throw new InvalidRecord('value', 'is longer than a TXT record can be (65 254 bytes)', 'length', { max: MAX_TEXT });
  if (type !== 'TXT' && value.length > MAX_CHARACTERS) {
    const words = say('is longer than {max} characters', { max: MAX_CHARACTERS });
    throw new InvalidRecord('value', words, 'length', { max: MAX_CHARACTERS });
  }
  const mistake = LIMITS[type]?.(value) ?? null;
  if (mistake !== null) throw new InvalidRecord('value', mistake);
  return FORMS[type]?.(value) ?? value;
}
