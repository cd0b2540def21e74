import { Injectable } from '@nestjs/common';
import { now, sleep, timeMs } from '../../platform/common/clock.js';
import { storable } from '../../platform/outbound/outbound-error.js';
import { MAX_WAIT_MS, RegistrySilence } from './answers.js';
import { RegistryServersRepository, type ServerState } from './registry-servers.repository.js';

/** ms between two questions to one server, which registries that publish a limit bear */
const PACE_MS = 1000;
/** ms that a server is paused after the first failure; twice as long after each one more */
const PAUSE_MS = { limited: 600_000, unavailable: 60_000 };
const MAX_PAUSE_MS = 6 * 3_600_000;
/** ms that a server is remembered that is not asked: redirects lead to many */
const KEEP_MS = 30 * 24 * 3_600_000;

/**
 * When each RDAP or WHOIS server may be asked: once a second by all processes together, and not at all for a while
 * after it said that it was asked too often, or did not answer. Kept in the database, so that a restart forgets no
 * limit.
 */
@Injectable()
export class RegistryServers {
  constructor(private readonly repository: RegistryServersRepository) {}

  /**
   * Waits for the turn to ask a server.
   * @throws RegistrySilence `limited` or `unavailable`, with how long it is, while the server is paused; the signal's
   * reason
   */
  async turn(server: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const row = await this.repository.one(server);
      const wait = row ? Date.parse(row.next_at) - timeMs() : 0;
      if (row?.state && wait > 0)
        throw new RegistrySilence(row.state, `${row.reason}; asked again from ${row.next_at} on`, wait);
      // the loop's first line sees that the wait was aborted
      if (wait > 0) await sleep(wait, { signal });
      else if (await this.take(server, row?.next_at)) return;
    }
  }

  /** The server answered: its failures no longer count. */
  answered(server: string): Promise<void> {
    return this.repository.resetFailures(server);
  }

  /** Pauses a server for as long as it asked, or longer with each failure. @returns ms */
  async failed(server: string, kind: ServerState, reason: string, asked: number | null): Promise<number> {
    const failures = await this.repository.addFailure(server);
    const grown = Math.min(MAX_PAUSE_MS, PAUSE_MS[kind] * 2 ** Math.min(failures - 1, 16));
    const wait = Math.min(MAX_WAIT_MS, Math.max(PACE_MS, asked ?? grown));
    await this.repository.pause(server, now(wait), kind, storable(reason).slice(0, 200).toWellFormed());
    return wait;
  }

  /** Forgets servers that were not asked for a month. */
  tidy(): Promise<void> {
    return this.repository.removeIdleSince(now(-KEEP_MS));
  }

  private take(server: string, seen: string | undefined): Promise<boolean> {
    const next = now(PACE_MS);
    return seen === undefined ? this.repository.add(server, next) : this.repository.take(server, seen, next);
  }
}
