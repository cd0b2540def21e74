import { timeMs } from '../platform/common/clock.js';

/** A session at a provider, and for how many seconds it is good from now on. */
export interface KnownSession {
  token: string;
  seconds: number;
}

/**
 * Sessions that cost something to open, such as a one-time code: one serves all connections, of all processes where the
 * installation has a database. Nothing here throws or takes long.
 */
export interface SharedSessions {
  /** @param key SHA-256 of the kind and the credentials */
  get(key: string): Promise<KnownSession | undefined>;
  set(key: string, session: KnownSession): Promise<void>;
  /** The provider refused it: it is forgotten, unless another one has taken its place. */
  forget(key: string, token: string): Promise<void>;
  /**
   * Takes a time step, whose one-time code is to be sent, for this caller alone.
   * @param key of whatever the codes are made of
   * @returns false when it, or a later one, was taken before
   */
  claim(key: string, step: number): Promise<boolean>;
}

/** Those of one process, where there is no database. */
export function memorySessions(): SharedSessions {
  const kept = new Map<string, { token: string; until: number }>();
  const steps = new Map<string, number>();
  return {
    async get(key) {
      const one = kept.get(key);
      if (!one || one.until <= timeMs()) return undefined;
      return { token: one.token, seconds: (one.until - timeMs()) / 1000 };
    },
    async set(key, { token, seconds }) {
      kept.set(key, { token, until: timeMs() + seconds * 1000 });
    },
    async forget(key, token) {
      if (kept.get(key)?.token === token) kept.delete(key);
    },
    async claim(key, step) {
      if (step <= (steps.get(key) ?? 0)) return false;
      steps.set(key, step);
      return true;
    },
  };
}
