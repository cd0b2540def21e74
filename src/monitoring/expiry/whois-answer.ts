import { toUnicode } from '../../dns/names.js';
import { MAX_WAIT_MS, RegistrySilence } from './answers.js';
import { momentOf } from './moment.js';
import type { WhoisFormat } from './whois-formats.js';

const MOST_LINES = 2000;
const LONGEST_LINE = 400;

const either = (...parts: RegExp[]): string => parts.map(({ source }) => source).join('|');

/** What registries answer when they were asked too often. */
const LIMITS = new RegExp(
  either(
    /access control limit|only \d+ requests? per second|limit exceeded|whois-limit|server too busy/,
    /maximum queries per hour|excessive quer|grace period|too many (?:requests|connections)|connection limit/,
    /quota [^\n]{0,80}exceeded|exceeded (?:your|the maximum|its) (?:allowable )?(?:quota|query limit|number)?/,
    /exceeded the maximum allowable|please go away for|query limit controls|allotted number/,
    /maximum (?:daily connection limit|query rate)|allowed queries exceeded/,
  ),
  'i',
);

/** What registries answer about unknown names, at the beginning of a line. */
const UNKNOWN = either(
  /no match|no found\b|not found\b|no entries found|no data found|no information available|no matching record/,
  /no object found|domain [^\r\n]{0,80}not found|domain not found|object_not_found/,
  /the queried object does not exist|the domain has not been registered|available\b/,
  /status:[ \t]*(?:available|free)\b|data not found/,
  /[^\r\n]{0,253}(?:is not registered|is free|no existe|not found\.)/,
);
const NONE = new RegExp(String.raw`^[ \t%#*>.-]{0,40}(?:${UNKNOWN})`, 'im');

/** What a server answers that no longer serves a top level domain. */
const RETIRED = /TLD is not supported/i;

/** A field of a date without a date. */
const EMPTY = /^[ \t]*(?:validity|expires|expire|Expiry Date|Expiration Date):[ \t]*(?:N\/A|-|none)?[ \t]*\r?$/im;

/**
 * The end of a registration in a registry's answer on port 43; null where its field is empty. The date is taken only
 * from the field of this registry, as a whole line, in an answer that names the domain. Of all else limits are looked
 * for first, since some registries print "No entries found" below theirs.
 * @throws RegistrySilence
 */
export function readWhois(answer: string, name: string, { lines, zone, guessed }: WhoisFormat): string | null {
  const text = tidied(answer);
  const found = lines.flatMap((line) => [...text.matchAll(line)].map(({ groups }) => momentOf(groups ?? {}, zone)));
  const dates = new Set(found);
  if (mentions(text, name) && found.length) {
    if (dates.has(null)) throw new RegistrySilence('unreadable', 'its date of expiry is none');
    if (dates.size > 1) throw new RegistrySilence('unreadable', 'it names several dates of expiry');
    return found[0] as string;
  }
  if (LIMITS.test(text)) throw new RegistrySilence('limited', 'it takes no more questions now', waitIn(text));
  if (RETIRED.test(text))
    throw new RegistrySilence('unreadable', 'it does not answer for this top level domain any more');
  if (NONE.test(text)) throw new RegistrySilence('unregistered', 'it knows no such registration');
  if (!mentions(text, name)) throw new RegistrySilence('unreadable', 'its answer is not about the name');
  if (EMPTY.test(text)) return null;
  const words = 'its answer has no date of expiry where this registry writes it';
  throw new RegistrySilence(guessed ? 'dateless' : 'unreadable', words);
}

/**
 * The part of an answer that is looked at: anybody on the network may have written it, and very long or very many lines
 * must not hold up the service.
 */
function tidied(answer: string): string {
  return answer
    .split('\n', MOST_LINES)
    .map((line) => line.slice(0, LONGEST_LINE))
    .join('\n');
}

/** Whether a text names a domain, and not only one with the same end. */
function mentions(text: string, name: string): boolean {
  const names = [name, toUnicode(name)].map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`(?:^|[^\\p{L}\\p{N}.-])(?:${names.join('|')})\\.?(?=$|[^\\p{L}\\p{N}-])`, 'imu').test(text);
}

/** `replenished in 50 seconds`, `go away for 13 Seconds` */
function waitIn(text: string): number | null {
  const [, count, unit = ''] = /\b(?:in|for|wait|of) (\d{1,6}) ?(s|m|h)(?:ec|in|our|\b)/i.exec(text) ?? [];
  if (!count) return null;
  const ms = Number(count) * ({ s: 1000, m: 60_000, h: 3_600_000 }[unit.toLowerCase()] ?? 1000);
  return Math.min(MAX_WAIT_MS, Math.max(1000, ms));
}

/** The server that whois.iana.org names for a top level domain; null: none. */
export function referredServer(answer: string): string | null {
  const [, host = ''] = /^[ \t]*whois:[ \t]*([a-z0-9.-]{1,247}(?::\d{1,5})?)?[ \t]*\r?$/im.exec(tidied(answer)) ?? [];
  return /[a-z0-9]/i.test(host) ? host.toLowerCase() : null;
}
