import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { randomHex } from '../common/hash.js';

function read(from: () => string): string {
  try {
    return from();
  } catch {
    return ''; // not Linux
  }
}

/** The start of the kernel: host names and the first pid namespace are the same on many machines. */
const BOOT = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  .replace(/[^0-9a-f]/g, '')
  .slice(0, 16);
const NAMESPACE = read(() => readlinkSync('/proc/self/ns/pid')).replace(/\D/g, '');
const KNOWN = BOOT !== '' && NAMESPACE !== '';
const MACHINE = `${hostname().slice(0, 64)}/${NAMESPACE || '-'}/${BOOT || '-'}`;

/**
 * Names this process: host, pid namespace, start of the kernel, pid, and a nonce, since pids come again. At most 109
 * characters (64, 10, 16, 7 and 8, and the strokes), which leaves room for the nonce of a holding in a column of 128.
 */
export const PROCESS = `${MACHINE}/${process.pid}/${randomHex(4)}`;

/** What this process has under way, by owner: its name and a nonce. */
export const HOLDINGS = new Set<string>();

/** Whether it names a holding, not a process. */
export const isHolding = (owner: string): boolean => owner.split('/').length === 6;

/** The name of something that this process has under way until it is taken out of `HOLDINGS`. */
export function newHolding(): string {
  const owner = `${PROCESS}/${randomHex(4)}`;
  HOLDINGS.add(owner);
  return owner;
}

/**
 * True when the owner ran on this machine and is certainly gone. One elsewhere, and one of a version that did not write
 * the start of the kernel, is judged by its lease's expiry.
 */
export function isGone(owner: string): boolean {
  if (owner.startsWith(`${PROCESS}/`)) return !HOLDINGS.has(owner);
  const parts = owner.split('/');
  const pid = Number(parts[3]);
  if (!KNOWN || parts.length !== 6 || parts.slice(0, 3).join('/') !== MACHINE) return false;
  return pid === process.pid || !exists(pid);
}

/** By a signal that is none: other users' processes may be hidden in /proc. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH';
  }
}
