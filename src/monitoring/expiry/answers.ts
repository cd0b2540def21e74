/**
 * Why a registry's answer gives no date.
 * - `limited`: it takes no more questions now · `unavailable`: unreachable, too slow, failing
 * - `unreadable`: an answer that makes no sense, or not in the form that is known of this registry
 * - `unregistered`: the registry says that there is no such name
 * - `dateless`: the top level domain has no server, or one that answers in no known form and without a date
 */
export type Silence = 'limited' | 'unavailable' | 'unreadable' | 'unregistered' | 'dateless';

/** A registry's answer gives no date: what is known stays as it is. */
export class RegistrySilence extends Error {
  constructor(
    readonly kind: Silence,
    message: string,
    /** ms that the registry asks to wait; null: it does not say */
    readonly waitMs: number | null = null,
  ) {
    super(message);
  }
}

/** Longest wait that a server may ask for. */
export const MAX_WAIT_MS = 24 * 3_600_000;
