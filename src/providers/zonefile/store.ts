import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFile,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { randomHex } from '../../platform/common/hash.js';
import { assertHeld } from '../kit/http/deadline-context.js';
import { ProviderError } from '../kit/http/errors.js';
import { directoryProblem } from './directory.js';

/**
 * The files of one account. What waits for the disk leaves the event loop; only the comparison and the rename are one
 * step, between which nothing else of this process may run.
 */

const SUFFIX = '.zone';
const MAX_FILE_BYTES = 256 * 1024 * 1024;

export interface ZoneFile {
  bytes: Buffer;
  stats: Stats;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** A failure of the file system as ProviderError; paths of the machine stay out of the message. */
const failed = (what: string, error: unknown): ProviderError =>
  error instanceof ProviderError ? error : new ProviderError('unavailable', `${what}: ${codeOf(error)}`, false);

export class ZoneFiles {
  /**
   * @param root absolute directory that nothing may lead out of
   * @param directory below it, relative
   * @throws ProviderError `rejected` when the directory is absolute or leads upwards
   */
  constructor(
    private readonly root: string,
    private readonly directory: string,
  ) {
    const problem = directoryProblem(directory);
    if (problem) throw new ProviderError('rejected', `directory: ${problem}`);
  }

  /** Creates the directory where it is missing. @throws ProviderError */
  ensureDirectory(): void {
    this.walk(true);
  }

  /**
   * Names of the zones that have a file, sorted.
   * @throws ProviderError when the directory cannot be read: it may not be mounted
   */
  names(): string[] {
    const folder = this.walk(false);
    try {
      return readdirSync(folder, { withFileTypes: true })
        .filter((file) => file.name.endsWith(SUFFIX) && !file.name.startsWith('.') && !file.isDirectory())
        .map((file) => file.name.slice(0, -SUFFIX.length).replaceAll('%2F', '/'))
        .sort();
    } catch (error) {
      throw failed('The directory cannot be read', error);
    }
  }

  /** @throws ProviderError `not_found` when there is no such file */
  async read(zone: string): Promise<ZoneFile> {
    let file: number | undefined;
    try {
      const { stats, ...opened } = this.open(zone);
      file = opened.file;
      return { bytes: await promisify(readFile)(file), stats };
    } catch (error) {
      throw unreadable(zone, error);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /**
   * Puts new bytes in place of those that were read: in a file of its own first, on disk, then renamed, so that
   * readers see one or the other.
   * @param was what the new bytes were made from; null to create the file
   * @returns false when the file is not (any more) what it was; nothing is changed then
   * @throws ProviderError when nothing was changed, or saying that it may have been
   */
  async write(zone: string, bytes: Buffer, was: ZoneFile | null): Promise<boolean> {
    const folder = this.walk(was === null);
    const path = this.path(zone, folder);
    // does not end as zone files do: what a crash leaves behind is never taken for a zone
    const temporary = join(folder, `.${randomHex(8)}.tmp`);
    let renamed = false;
    try {
      await writeDurably(temporary, bytes, was?.stats);
      if (was === null) linkSync(temporary, path);
      else {
        if (!this.holds(zone, was.bytes)) return false;
        assertHeld();
        renameSync(temporary, path);
      }
      renamed = true;
      await syncDirectory(folder);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      if (error instanceof ProviderError) throw error;
      throw failed(`The file of ${zone} cannot be written`, error).applied(renamed);
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** Whether the file is these bytes at this moment. @throws ProviderError */
  private holds(zone: string, bytes: Buffer): boolean {
    let file: number | undefined;
    try {
      const { stats, ...opened } = this.open(zone);
      file = opened.file;
      return stats.size === bytes.length && readFileSync(file).equals(bytes);
    } catch (error) {
      throw unreadable(zone, error);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Opens a file that is one. @throws what the file system says, ProviderError */
  private open(zone: string): { file: number; stats: Stats } {
    const path = this.path(zone, this.walk(false));
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (stats.isFile() && stats.size <= MAX_FILE_BYTES) return { file, stats };
    closeSync(file);
    const why = stats.isFile() ? 'larger than 256 MiB' : 'not a regular file';
    throw new ProviderError('rejected', `The file of ${zone} is ${why}`);
  }

  private path(zone: string, folder: string): string {
    return join(folder, `${zone.replaceAll('/', '%2F')}${SUFFIX}`);
  }

  /** The directory's real path, each step checked before it is taken: symbolic links must not lead out of the root. */
  private walk(create: boolean): string {
    const path = this.directory.split('/').filter((part) => part !== '' && part !== '.');
    let root: string;
    try {
      if (create) mkdirSync(this.root, { recursive: true });
      root = realpathSync(this.root);
    } catch (error) {
      throw failed(`ZONEFILE_DIR (${this.root}) cannot be opened`, error);
    }
    try {
      return path.reduce((folder, part) => {
        const next = join(folder, part);
        if (create && !lstatSync(next, { throwIfNoEntry: false })) mkdirSync(next);
        const real = realpathSync(next);
        if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep)) {
          throw new ProviderError('rejected', 'directory: leads out of the directory for zone files');
        }
        return real;
      }, root);
    } catch (error) {
      throw failed(`The directory "${this.directory}" cannot be opened`, error);
    }
  }
}

const unreadable = (zone: string, error: unknown): ProviderError => {
  if (codeOf(error) === 'ENOENT') return new ProviderError('not_found', `There is no zone file for ${zone}`);
  if (codeOf(error) === 'ELOOP') return new ProviderError('rejected', `The file of ${zone} is a symbolic link`);
  return failed(`The file of ${zone} cannot be read`, error);
};

async function writeDurably(path: string, bytes: Buffer, like: Stats | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    if (like) {
      await file.chmod(like.mode & 0o7777);
      try {
        await file.chown(like.uid, like.gid);
      } catch (error) {
        // only root may give files away; the name server can read the file as far as its mode allows
        if (codeOf(error) !== 'EPERM') throw error;
      }
    }
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(folder: string): Promise<void> {
  const directory = await open(folder);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Runs the configured command (no shell; words are split at blanks, `{zone}` is the zone's name) after a write.
 * @param timeoutMs after which it is ended
 * @throws ProviderError saying that the file is written all the same
 */
export async function reload(command: string | null, zone: string, timeoutMs: number): Promise<void> {
  const [program, ...args] = (command ?? '').split(/\s+/).filter(Boolean);
  if (!program) return;
  try {
    await promisify(execFile)(
      program,
      args.map((arg) => arg.replaceAll('{zone}', zone)),
      { timeout: timeoutMs },
    );
  } catch (error) {
    const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string };
    const why = killed ? `took longer than ${timeoutMs} ms` : `failed (${code}) ${(stderr ?? '').trim().slice(0, 500)}`;
    throw new ProviderError(
      'unavailable',
      `The zone file of ${zone} is written, but the reload command ${why.trim()}`,
      true,
    );
  }
}
