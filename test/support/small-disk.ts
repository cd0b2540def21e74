import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const run = (command: string, ...args: string[]) => spawnSync(command, args, { encoding: 'utf8' });

const MiB = 2 ** 20;
const STEPS = [MiB, 4096, 1];

/** A separate in-memory file system. */
export interface SmallDisk {
  path: string;
  /** Fills it completely. */
  fill(): void;
  free(): void;
  remove(): void;
}

/** Mounts one of this size, at a new folder or over an existing one. @throws Error when mounting is not allowed */
export function smallDisk(megabytes: number, at?: string): SmallDisk {
  const path = at ?? mkdtempSync(join(tmpdir(), 'zoneward-disk-'));
  const { status, stderr } = run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', path);
  if (status !== 0) throw new Error(`no disk can be mounted here: ${stderr}`);
  chmodSync(path, 0o777);
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      for (const step of STEPS) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(step));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    free: () => rmSync(filler, { force: true }),
    remove() {
      run('umount', '--lazy', path);
      if (!at) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Why none can be mounted here, if so: it needs root and the permission to mount. */
export function noSmallDisk(): string | undefined {
  try {
    smallDisk(1).remove();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
