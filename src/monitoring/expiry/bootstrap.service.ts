import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { timeoutSignal, wallMs } from '../../platform/common/clock.js';
import { Logger } from '../../platform/common/logger.js';
import { writeSecretFile } from '../../platform/config/choice-file.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { type HttpAnswer, RdapHttp } from './rdap.service.js';
import { BUILT_IN } from './rdap-bases.js';

const FILE = 'rdap-bootstrap.json';
/** ms for which a copy is valid at least, and at most; and until the next try after a failure */
const KEEP_MS = 24 * 3_600_000;
const MAX_KEEP_MS = 7 * 24 * 3_600_000;
const AGAIN_MS = 3_600_000;
/** ms for the wait for a turn and the answer */
const LIMIT_MS = 30_000;

/** The list, as the data directory keeps it. */
interface Copy {
  url: string;
  etag: string | null;
  lastModified: string | null;
  /** ms of `wallMs()` */
  until: number;
  /** base URL by top level domain */
  bases: Record<string, string>;
}

/** An RDAP server; `sure`: named by IANA or the configuration, so what it does not know is not registered. */
export interface Base {
  url: string;
  sure: boolean;
}

/**
 * Which RDAP server is asked about a top level domain: the configured one, else that of IANA's list (RFC 9224), else,
 * as long as that was never fetched, the built-in one. The list is fetched when it is needed and outdated; an invalid
 * one never replaces a good copy.
 */
@Injectable()
export class Bootstrap {
  private copy: Copy | null | undefined;
  private again = 0;
  private fetching: Promise<void> | null = null;
  private readonly path: string;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly http: RdapHttp,
    private readonly logger: Logger,
  ) {
    this.path = join(config.dataDir, FILE);
  }

  /** Null where no server is known. */
  async baseOf(tld: string): Promise<Base | null> {
    const own = this.config.expiry.rdapServers[tld];
    if (own) return { url: own, sure: true };
    const copy = await this.fresh();
    const url = copy ? copy.bases[tld] : BUILT_IN.get(tld);
    return url ? { url, sure: copy !== null } : null;
  }

  private async fresh(): Promise<Copy | null> {
    this.copy ??= this.kept();
    const due = Math.max(this.copy?.until ?? 0, this.again);
    if (due <= wallMs()) {
      this.fetching ??= this.fetch().finally(() => {
        this.fetching = null;
      });
      await this.fetching;
    }
    return this.copy;
  }

  /** The copy in the data directory, unless it is of another URL. */
  private kept(): Copy | null {
    try {
      const copy = JSON.parse(readFileSync(this.path, 'utf8')) as Copy;
      return copy.url === this.config.expiry.bootstrapUrl && typeof copy.bases === 'object' ? copy : null;
    } catch {
      return null;
    }
  }

  private async fetch(): Promise<void> {
    const url = this.config.expiry.bootstrapUrl;
    const { copy = null } = this;
    try {
      const headers: Record<string, string> = { accept: 'application/json' };
      if (copy?.etag) headers['if-none-match'] = copy.etag;
      if (copy?.lastModified) headers['if-modified-since'] = copy.lastModified;
      // several callers may wait for the list: a signal of one of them must not end it
      const answer = await this.http.get(url, headers, timeoutSignal(LIMIT_MS));
      if (copy && answer.status === 304) this.copy = { ...copy, until: untilOf(answer) };
      else if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`);
      else {
        const bases = basesIn(answer.body);
        const [count, before] = [Object.keys(bases).length, Object.keys(copy?.bases ?? {}).length];
        if (count < before / 2) throw new Error(`it names ${count} top level domains, and named ${before} before`);
        const [etag, lastModified] = [answer.headers.etag, answer.headers['last-modified']].map((value) =>
          typeof value === 'string' ? value : null,
        );
        this.copy = { url, etag: etag ?? null, lastModified: lastModified ?? null, until: untilOf(answer), bases };
      }
      mkdirSync(this.config.dataDir, { recursive: true, mode: 0o700 });
      writeSecretFile(this.path, `${JSON.stringify(this.copy)}\n`);
    } catch (error) {
      this.again = wallMs() + AGAIN_MS;
      this.logger.warn({ url, err: (error as Error).message }, 'the list of RDAP servers could not be fetched');
    }
  }
}

/** A day, or longer where the server says so (RFC 9224: its caching headers rule). */
function untilOf({ headers }: HttpAnswer): number {
  const [, seconds = 0] = /\bmax-age=(\d{1,9})/i.exec(String(headers['cache-control'] ?? '')) ?? [];
  return wallMs() + Math.min(MAX_KEEP_MS, Math.max(KEEP_MS, Number(seconds) * 1000));
}

/** The address that is asked, https before http; undefined where there is none. */
function baseIn(urls: readonly string[]): string | undefined {
  const url = urls.find((one) => /^https:/i.test(one)) ?? urls.find((one) => /^http:/i.test(one));
  return url && URL.canParse(url) ? url.replace(/\/*$/, '/') : undefined;
}

/** Bases by top level domain. @throws Error for everything but such a list */
function basesIn(text: string): Record<string, string> {
  const { version, services } = JSON.parse(text) as { version?: unknown; services?: unknown };
  if (!/^1\./.test(String(version)) || !Array.isArray(services)) throw new Error('it is no list of RDAP servers');
  const texts = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
  const bases: Record<string, string> = {};
  for (const service of services) {
    const [tlds = [], urls = []] = Array.isArray(service) ? service.map(texts) : [];
    const base = baseIn(urls);
    if (base) for (const tld of tlds) if (/^[a-z0-9-]{2,63}$/i.test(tld)) bases[tld.toLowerCase()] = base;
  }
  if (!Object.keys(bases).length) throw new Error('it names no RDAP server');
  return bases;
}
