import { Injectable } from '@nestjs/common';
import type { Watched } from '../../domains/domain-ends.repository.js';
import { ZoneFacts } from '../../domains/zone-facts.service.js';
import { RegistrySilence } from './answers.js';
import { Bootstrap } from './bootstrap.service.js';
import { rfc3339 } from './moment.js';
import { RdapHttp } from './rdap.service.js';
import { readRdap } from './rdap-answer.js';
import { tldOf } from './registrable.js';
import { Whois } from './whois.service.js';
import { TELL_NOTHING } from './whois-formats.js';

export type Source = 'rdap' | 'whois' | 'provider';

/** The result of a look-up: a date with its source, or why there is none. */
export interface Looked {
  end: { expires_at: string; source: Source } | null;
  error: string | null;
  /** of the registry, where it gave no answer */
  failure: RegistrySilence | null;
}

type Zone = Pick<Watched, 'id' | 'name' | 'account_id' | 'remote_id'>;

/** Asks when a registration ends: RDAP, then WHOIS, then the provider. */
@Injectable()
export class Lookup {
  constructor(
    private readonly bootstrap: Bootstrap,
    private readonly rdap: RdapHttp,
    private readonly whois: Whois,
    private readonly facts: ZoneFacts,
  ) {}

  /**
   * @param zone of exactly this name, if any: its provider may be the registrar
   * @throws the signal's reason, when registries did not answer before
   */
  async of(name: string, zone: Zone | undefined, signal: AbortSignal): Promise<Looked> {
    let failure: RegistrySilence | null = null;
    try {
      const end = await this.registry(name, signal);
      if (end) return { end, error: null, failure: null };
    } catch (error) {
      if (!(error instanceof RegistrySilence)) throw error;
      failure = error;
    }
    const told = zone && (await this.provider(zone));
    if (told) return { end: { expires_at: told, source: 'provider' }, error: failure?.message ?? null, failure };
    const silent = `The registry of .${tldOf(name)} does not tell when registrations end: set expires_at by hand`;
    return { end: null, error: failure ? failure.message : silent, failure };
  }

  /** Null where the registry answers without a date. @throws RegistrySilence */
  private async registry(name: string, signal: AbortSignal): Promise<Looked['end']> {
    const tld = tldOf(name);
    const base = await this.bootstrap.baseOf(tld);
    const told = base ? await this.overRdap(base, name, signal) : undefined;
    if (typeof told === 'string') return { expires_at: told, source: 'rdap' };
    const failure = told instanceof RegistrySilence ? told : null;
    if (TELL_NOTHING.has(tld)) {
      if (failure) throw failure;
      return null;
    }
    try {
      const end = await this.whois.ask(name, signal);
      return end ? { expires_at: end, source: 'whois' } : null;
    } catch (error) {
      if (!(error instanceof RegistrySilence)) throw error;
      // RDAP answered without a date, and WHOIS has none; a WHOIS that fails may answer another time
      if (told === null && error.kind === 'dateless') return null;
      if (!failure) throw error;
      throw new RegistrySilence(error.kind, `RDAP: ${failure.message}; WHOIS: ${error.message}`, error.waitMs);
    }
  }

  /** The date, null where the answer has none, or why WHOIS is to be asked. @throws RegistrySilence where it is not */
  private async overRdap(
    { url, sure }: { url: string; sure: boolean },
    name: string,
    signal: AbortSignal,
  ): Promise<string | null | RegistrySilence> {
    try {
      return readRdap(await this.rdap.ask(url, name, signal), name) || null;
    } catch (error) {
      if (!(error instanceof RegistrySilence)) throw error;
      // limits often count RDAP and WHOIS together, and of a name that RDAP does not know WHOIS knows nothing either
      if (error.kind === 'limited' || (error.kind === 'unregistered' && sure)) throw error;
      return error;
    }
  }

  private async provider(zone: Zone): Promise<string | null> {
    // a provider that cannot be asked counts as one that knows no date
    const told = await this.facts.expiresAt(zone).catch(() => null);
    return told ? rfc3339(told) : null;
  }
}
