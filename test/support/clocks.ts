import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's library folder is named after the architecture. */
const LIB = '/usr/lib';
const folders = existsSync(LIB) ? readdirSync(LIB).filter((name) => name.includes('linux')) : [];
const library = folders.map((name) => join(LIB, name, 'faketime/libfaketimeMT.so.1')).find((path) => existsSync(path));

/** Why processes cannot be started with a wrong clock here, if so. */
export const noFaketime = library ? undefined : 'not installed: faketime';

/** Environment of a process whose clock is off by so many seconds; its timers and monotonic clock are correct. */
export const offBy = (seconds: number): Record<string, string> => ({
  LD_PRELOAD: library as string,
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});
