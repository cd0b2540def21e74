import { parseCidr } from '../platform/common/cidr.js';

/** characters of a picture that is written into the settings */
const MAX_PICTURE = 16_384;

/** An http(s) URL without user name, query and fragment. */
export function isHttpUrl(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 2048 || !URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}

/** An http(s) URL without user name and fragment; a query may be. */
export function isHookUrl(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 2048 || !URL.canParse(value)) return false;
  const { protocol, username, password, hash } = new URL(value);
  return /^https?:$/.test(protocol) && !username && !password && !hash;
}

/** what would end the attribute of a page or style sheet that an address is written into */
const ENDS_ADDRESS = /["'`()[\]<>{}\s\\\p{C}]/u;

/** A host without characters that end a source in a content security policy, such as `;`. */
const PLAIN_HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/** The serialized form of an https URL with a plain host; null for other values. */
export function pictureUrl(value: unknown): string | null {
  if (typeof value !== 'string' || !/^https:/i.test(value) || ENDS_ADDRESS.test(value) || !isHookUrl(value))
    return null;
  const { hostname, href } = new URL(value);
  return PLAIN_HOST.test(hostname) ? href : null;
}

/**
 * What a page may show as a picture: an https: or data:image/ URL, or a path of this service; never a script, nor a
 * path that leads to another host.
 */
export function isPicture(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_PICTURE || ENDS_ADDRESS.test(value)) return false;
  if (/^data:image\/[a-z0-9.+-]+[;,]/.test(value)) return true;
  return pictureUrl(value) !== null || (value.length <= 2048 && /^\/(?![/\\])[\w./~%-]*$/.test(value));
}

export function isCidr(value: unknown): boolean {
  try {
    return typeof value === 'string' && Boolean(parseCidr(value));
  } catch {
    return false;
  }
}

const ADDRESS = /^[^\s\p{C}@<>"(),:;[\]\\]{1,64}@[^\s\p{C}@<>"(),:;[\]\\]{1,253}$/u;

/** Text for people that stays on its line: no line ends of any kind, no control characters. */
export const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

/** One mail address: no lists, no comments, no line ends. */
export const isEmail = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 254 && value.toLowerCase().length <= 254 && ADDRESS.test(value);

/** `a@b` or `Name <a@b>`. */
export function isMailbox(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 320) return false;
  const address = /^[^\r\n<>"@,]*<([^<>]+)>$/.exec(value)?.[1] ?? value;
  return isEmail(address);
}
