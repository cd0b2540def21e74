import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of a file that nobody else can read. */
function readPrivate(file, insecure) {
  const handle = openSync(file, 'r');
  try {
    const others = process.platform === 'win32' ? 0 : fstatSync(handle).mode & 0o077;
    if (others && !insecure) throw new Error(`others can read or change ${file}: chmod 600 ${file}, or say --insecure`);
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

/** Fields of a kind in a file, which holds them by kind or alone. No message quotes what the file holds. */
export function credentialsIn(file, kind, insecure) {
  const text = readPrivate(file, insecure);
  let all;
  try {
    all = JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON`);
  }
  if (!isObject(all)) throw new Error(`${file} holds no object`);
  if (isObject(all[kind])) return all[kind];
  if (Object.values(all).some(isObject)) throw new Error(`${file} holds nothing of ${kind}`);
  return all;
}

/** Fields of a kind in the environment: `CHECK_API_TOKEN` for `api_token`. */
export const credentialsOf = (env, definition) =>
  Object.fromEntries(
    definition.credentials.flat().flatMap(({ key }) => {
      const value = env[`CHECK_${key.toUpperCase()}`];
      return value ? [[key, value]] : [];
    }),
  );
