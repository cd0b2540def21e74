import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's folder of libraries is named after the processor. */
const LIB = '/usr/lib';
const folders = existsSync(LIB) ? readdirSync(LIB).filter((name) => name.includes('linux')) : [];
const library = folders.map((name) => join(LIB, name, 'faketime/libfaketimeMT.so.1')).find((path) => existsSync(path));

/** Why no process can be given a wrong clock here, if so. */
export const noFaketime = library ? undefined : 'not installed: faketime';

/** The environment of a process whose clock is off by so many seconds; its timers and its monotonic clock are right. */
export const offBy = (seconds: number): Record<string, string> => ({
  LD_PRELOAD: library as string,
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});
