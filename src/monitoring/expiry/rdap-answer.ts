import { toAscii } from '../../dns/names.js';
import { parseJson } from '../../platform/common/json-weight.js';
import { RegistrySilence } from './answers.js';
import { rfc3339 } from './moment.js';

type Json = Record<string, unknown>;

const unreadable = (what: string) => new RegistrySilence('unreadable', `its answer cannot be read: ${what}`);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const plain = (value: unknown): string => (typeof value === 'string' ? value.trim().toLowerCase() : '');

/**
 * The end of a registration in an RDAP answer (RFC 9083); null where it has none, which is valid. An answer with
 * anything invalid is refused as a whole.
 * @param name A-labels, lower case
 * @throws RegistrySilence `unreadable`
 */
export function readRdap(body: string, name: string): string | null {
  let answer: unknown;
  try {
    answer = parseJson(body);
  } catch {
    throw unreadable('it is no JSON');
  }
  if (!isObject(answer)) throw unreadable('it is no object');
  if (answer.errorCode !== undefined) {
    const { errorCode: code } = answer;
    throw unreadable(typeof code === 'number' ? `it is an error, ${code}` : 'it is an error');
  }
  if (plain(answer.objectClassName) !== 'domain') throw unreadable('it is not about a domain');
  const told = plain(answer.ldhName).replace(/\.$/, '');
  // some registries give the U-labels only
  if ((told || toAscii(plain(answer.unicodeName)).replace(/\.$/, '')) !== name)
    throw unreadable('it is about another name');
  const { events = [] } = answer;
  if (!Array.isArray(events) || !events.every(isObject)) throw unreadable('its events are no list');
  const ends = events
    .filter(({ eventAction }) => plain(eventAction) === 'expiration')
    .map(({ eventDate }) => eventDate);
  const dates = new Set(ends.map((end) => (typeof end === 'string' ? rfc3339(end) : null)));
  if (dates.has(null)) throw unreadable('its date of expiration is none');
  if (dates.size > 1) throw unreadable('it names several dates of expiration');
  return [...dates][0] ?? null;
}
