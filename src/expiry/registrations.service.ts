import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { now, timeMs } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { FairPool, type Owner } from '../common/fair-pool.js';
import { log } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { Db, isDuplicate, marks, type SqlValue } from '../database/db.js';
import { DomainEndsRepository, type Watched } from '../domains/domain-ends.repository.js';
import type { DomainRow } from '../domains/domain-policy.js';
import { Events } from '../events/events.js';
import { Jobs } from '../jobs/jobs.js';
import { OutboundError, type OutboundErrorKind, storable } from '../outbound/outbound-error.js';
import type { Silence } from './answers.js';
import { type Looked, Lookup, type Source } from './lookup.service.js';
import { registrableOf, tldOf } from './registrable.js';
import { RegistryServers } from './registry-servers.service.js';

const DAY_MS = 24 * 3_600_000;
const TICK_MS = 15 * 60_000;
/** ms that one tick begins new questions */
const PIECE_MS = 10 * 60_000;
/** names that are asked about in one tick, of each top level domain the same share */
const MOST = 2000;
/** of one top level domain: one server does not answer more in a tick; and those that are shared among owners */
const MOST_OF_ONE = 600;
const MOST_SHARED = 20_000;
/** in so many days an end is near: asked four times a day */
const NEAR_DAYS = 7;
const NEAR_MS = 6 * 3_600_000;
/** ms until the next try after the first failure, and the longest */
const RETRY_MS = 3_600_000;
/** who asks again within so many ms gets what was found: registries count questions */
const SAME_MS = 60_000;
/** ms that whoever asks now waits */
const PATIENCE_MS = 20_000;
/** names that one statement names, and that one reads */
const CHUNK = 500;

interface Row {
  id: number;
  name: string;
  expires_at: string | null;
  source: Source | null;
  checked_at: string | null;
  next_at: string;
  failures: number;
  error: string | null;
}

/** What is known of a registration. */
export type Known = Pick<Row, 'name' | 'expires_at' | 'source' | 'checked_at' | 'error'>;

/** Of one question. */
type Outcome = Known & Pick<Looked, 'end' | 'failure'>;

/** What whoever asked now is told. */
const KINDS: Record<Silence, OutboundErrorKind> = {
  limited: 'rate_limit',
  unavailable: 'unavailable',
  unreadable: 'unavailable',
  unregistered: 'not_found',
  dateless: 'unavailable',
};

const COLUMNS = 'id, name, expires_at, source, checked_at, next_at, failures, error';

/** When registrations end: each registrable name is asked about once a day, and its zones follow what is told. */
@Injectable()
export class Registrations implements OnModuleInit {
  private readonly own: ReadonlySet<string>;
  private readonly pool = new FairPool('registry look-ups');
  private readonly nowPool = new FairPool('registry look-ups now');
  /** names that this process is asking about */
  private readonly asking = new Map<string, Promise<Outcome>>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly db: Db,
    private readonly jobs: Jobs,
    private readonly events: Events,
    private readonly ends: DomainEndsRepository,
    private readonly lookup: Lookup,
    private readonly servers: RegistryServers,
  ) {
    const { rdapServers, whoisServers } = config.expiry;
    this.own = new Set([...Object.keys(rdapServers), ...Object.keys(whoisServers)]);
  }

  onModuleInit(): void {
    if (this.config.expiry.lookups) this.jobs.schedule('expiry.registrations', TICK_MS, (signal) => this.tick(signal));
    this.events.on('domain.expiry.automatic', (name) => this.automatic(name));
  }

  /** Of a zone; null for what nobody registers. */
  registrable(name: string): string | null {
    return registrableOf(name, this.own);
  }

  /** Asks about the names whose time has come, for so long. */
  async tick(signal: AbortSignal): Promise<void> {
    await this.servers.tidy();
    const due = await this.due();
    const zones = await this.follow(due, signal);
    // of each top level domain and owner one after the other
    const lines = new Map<string, { user: Owner; tld: string; rows: Row[] }>();
    const gone: number[] = [];
    const byHand: number[] = [];
    for (const row of due.values()) {
      const own = zones.get(row.name);
      // nobody waits for what is set by hand
      const zone = own?.find(isAutomatic);
      if (!zone) (own ? byHand : gone).push(row.id);
      else {
        const [user, tld] = [zone.owner_id, tldOf(row.name)];
        const line = lines.get(`${user} ${tld}`) ?? { user, tld, rows: [] };
        lines.set(`${user} ${tld}`, line);
        line.rows.push(row);
      }
    }
    await this.each(gone, (some) => [`DELETE FROM registrations WHERE id IN (${marks(some.length)})`, some]);
    const later = (count: number) => `UPDATE registrations SET next_at = ? WHERE id IN (${marks(count)})`;
    await this.each(byHand, (some) => [later(some.length), [now(DAY_MS), ...some]]);
    const shares = sharesOf([...lines.values()].map(({ tld }) => tld));
    const enough = AbortSignal.any([signal, AbortSignal.timeout(PIECE_MS)]);
    // the others of a registry that does not answer would hear the same: they stay due
    const silent = new Set<string>();
    const one = async (tld: string, row: Row) => {
      if (enough.aborted || silent.has(tld) || !(await this.claim(row))) return;
      const { failure } = await this.ask(row, zones.get(row.name) ?? [], signal);
      if (failure?.kind === 'limited' || failure?.kind === 'unavailable') silent.add(tld);
    };
    await Promise.all(
      [...lines.values()].map(async ({ user, tld, rows }) => {
        for (const row of rows.slice(0, shares(tld))) {
          if (enough.aborted) return;
          await this.pool
            .run({ user, target: tld }, () => one(tld, row), enough)
            .catch((err) => {
              if (!enough.aborted)
                log().warn({ name: row.name, err }, 'the end of a registration could not be looked at');
            });
        }
      }),
    );
    signal.throwIfAborted();
  }

  /**
   * Asks about a domain's registration now. @returns what is known of it then
   * @param userId who asks
   * @throws AppError 429001 where too many ask, 409001 where there is nobody to ask; OutboundError when no date came of
   * it
   */
  async now(domain: Pick<DomainRow, 'name'>, userId: number): Promise<Known> {
    if (!this.config.expiry.lookups) throw errors.conflict('Registries are asked nothing here (EXPIRY_LOOKUPS=off)');
    const name = this.registrable(domain.name);
    if (!name) throw errors.conflict(`Nobody registers ${domain.name}: it is no name below a public suffix`);
    const zones = await this.zonesOf(name);
    if (!(await this.row(name))) await this.add([name]);
    const row = await this.row(name);
    if (!row) throw errors.conflict('Somebody else is changing this right now; try again');
    if (row.expires_at && !row.error && row.checked_at && row.checked_at > now(-SAME_MS)) {
      await this.level(row, zones);
      return row;
    }
    await this.db.run('UPDATE registrations SET next_at = ? WHERE id = ?', [now(RETRY_MS), row.id]);
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const late = new Promise<never>((_, reject) => {
      signal.onabort = () => reject(signal.reason);
    });
    const share = { user: userId, target: tldOf(name) };
    const asked = Promise.race([this.nowPool.run(share, () => this.ask(row, zones, signal), signal), late]);
    const { failure, end, ...known } = await asked.catch((error) => {
      if (error?.name !== 'TimeoutError') throw error;
      const words = `No answer about ${name} within ${PATIENCE_MS / 1000} s: its registry is slow, or is asked about`;
      throw new OutboundError('unavailable', `${words} many other names now; try again later`, false);
    });
    if (!end && failure) throw new OutboundError(KINDS[failure.kind], known.error ?? failure.message, false);
    return known;
  }

  /**
   * Takes a name whose time has come, so that nobody else who found it due asks about it, too. A question that comes to
   * nothing, as where the process ends, is asked again after a while.
   * @returns false when another one was faster
   */
  private async claim({ id, next_at }: Row): Promise<boolean> {
    const sql = 'UPDATE registrations SET next_at = ? WHERE id = ? AND next_at = ?';
    return (await this.db.run(sql, [now(RETRY_MS), id, next_at])) === 1;
  }

  /** Asks about a name; who wants to know meanwhile hears the same. */
  private ask(row: Row, zones: readonly Watched[], signal: AbortSignal): Promise<Outcome> {
    const running = this.asking.get(row.name);
    if (running) return running;
    const asked = this.look(row, zones, signal).finally(() => this.asking.delete(row.name));
    this.asking.set(row.name, asked);
    return asked;
  }

  /** One question, and its outcome for the registration and its zones. */
  private async look(row: Row, zones: readonly Watched[], signal: AbortSignal): Promise<Outcome> {
    const same = zones.find(({ name }) => name === row.name);
    const looked = await this.lookup.of(row.name, same, signal);
    // of a registry that does not answer now, what it said before stands above its registrar
    const registry = row.source === 'rdap' || row.source === 'whois';
    const end = looked.end?.source === 'provider' && looked.failure && registry ? null : looked.end;
    const failures = looked.failure ? Number(row.failures) + 1 : 0;
    const checked_at = now();
    const error = looked.error ? storable(looked.error).slice(0, 255).toWellFormed() : null;
    await this.db.run(
      `UPDATE registrations SET ${end ? 'expires_at = ?, source = ?, ' : ''}checked_at = ?, next_at = ?, failures = ?, error = ?
        WHERE id = ?`,
      [
        ...(end ? [end.expires_at, end.source] : []),
        checked_at,
        now(nextIn(end?.expires_at ?? row.expires_at, failures, looked.failure?.waitMs ?? 0)),
        failures,
        error,
        row.id,
      ],
    );
    const ids = zones.map(({ id }) => id);
    await this.ends.follow(ids, { end, checked_at, error });
    if (looked.failure) log().debug({ name: row.name, err: error }, 'the end of a registration was not found out');
    const { name, expires_at, source } = { ...row, ...end };
    return { name, expires_at, source, checked_at, error, end, failure: looked.failure };
  }

  /** Rows whose time has come, by their names: of each top level domain the first ones. */
  private async due(): Promise<Map<string, Row>> {
    const due = new Map<string, Row>();
    const counts = new Map<string, number>();
    const until = now();
    let last = { next_at: '', id: 0 };
    for (;;) {
      const rows = await this.db.rows<Row>(
        `SELECT ${COLUMNS} FROM registrations WHERE next_at <= ? AND (next_at > ? OR (next_at = ? AND id > ?))
          ORDER BY next_at, id LIMIT ?`,
        [until, last.next_at, last.next_at, last.id, CHUNK],
      );
      for (const row of rows) {
        const count = counts.get(tldOf(row.name)) ?? 0;
        if (count >= MOST_SHARED) continue;
        counts.set(tldOf(row.name), count + 1);
        due.set(row.name, row);
      }
      const end = rows.at(-1);
      if (!end) return due;
      last = end;
    }
  }

  /**
   * Rows for the names of all zones, which are due when they are new, and what is known for zones that are new.
   * @returns the zones of what is due
   */
  private async follow(due: Map<string, Row>, signal: AbortSignal): Promise<Map<string, Watched[]>> {
    const found = new Map<string, Watched[]>();
    let after = 0;
    for (;;) {
      signal.throwIfAborted();
      const page = await this.ends.watched(after);
      const last = page.at(-1);
      if (!last) return found;
      after = last.id;
      const zones = new Map<string, Watched[]>();
      for (const zone of page) {
        const name = this.registrable(zone.name);
        if (name) pushTo(zones, name, zone);
      }
      const names = [...zones.keys()];
      const known = new Map((await this.rows(names)).map((row) => [row.name, row]));
      const fresh = names.filter((name) => !known.has(name));
      await this.add(fresh);
      // those of a large import come later
      if (due.size < MOST) for (const row of await this.rows(fresh)) due.set(row.name, row);
      for (const [name, own] of zones) {
        const row = known.get(name);
        if (row) await this.level(row, own);
        if (due.has(name)) for (const zone of own) pushTo(found, name, zone);
      }
    }
  }

  /** Zones of a name are told what is known of it. */
  private async level({ expires_at, source, checked_at, error }: Row, zones: readonly Watched[]): Promise<void> {
    if (!expires_at || !source || !checked_at) return;
    const behind = zones.filter(
      (zone) => isAutomatic(zone) && (zone.expires_at !== expires_at || zone.expires_source !== source),
    );
    const ids = behind.map(({ id }) => id);
    if (ids.length) await this.ends.follow(ids, { end: { expires_at, source }, checked_at, error });
  }

  /** A date that was set by hand was taken away: what is known is there at once, and what is old is asked for soon. */
  private async automatic(domain: string): Promise<void> {
    const name = this.registrable(domain);
    const row = name && (await this.row(name));
    if (!row) return;
    await this.level(row, await this.zonesOf(name));
    const sql = 'UPDATE registrations SET next_at = ? WHERE id = ? AND (checked_at IS NULL OR checked_at < ?)';
    await this.db.run(sql, [now(), row.id, now(-DAY_MS)]);
  }

  private async zonesOf(name: string): Promise<Watched[]> {
    return (await this.ends.below(name)).filter((zone) => this.registrable(zone.name) === name);
  }

  private async add(names: readonly string[]): Promise<void> {
    if (!names.length) return;
    const next = now();
    const rows = names.map(() => '(?, ?, 0)').join(', ');
    const values = names.flatMap((name) => [name, next]);
    try {
      await this.db.run(`INSERT INTO registrations (name, next_at, failures) VALUES ${rows}`, values);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      // another process was faster with one of them
      if (names.length > 1) for (const name of names) await this.add([name]);
    }
  }

  private async each(ids: readonly number[], statement: (some: number[]) => [string, SqlValue[]]): Promise<void> {
    for (let i = 0; i < ids.length; i += CHUNK) await this.db.run(...statement(ids.slice(i, i + CHUNK)));
  }

  private async rows(names: readonly string[]): Promise<Row[]> {
    if (!names.length) return [];
    return this.db.rows<Row>(`SELECT ${COLUMNS} FROM registrations WHERE name IN (${marks(names.length)})`, names);
  }

  private row(name: string): Promise<Row | undefined> {
    return this.db.row<Row>(`SELECT ${COLUMNS} FROM registrations WHERE name = ?`, [name]);
  }
}

/** How many names of a line are asked about in one tick: each top level domain has a share, and in it each owner. */
function sharesOf(tlds: readonly string[]): (tld: string) => number {
  const counts = new Map<string, number>();
  for (const tld of tlds) counts.set(tld, (counts.get(tld) ?? 0) + 1);
  const ofTld = Math.min(MOST_OF_ONE, MOST / counts.size);
  return (tld) => Math.max(1, Math.floor(ofTld / (counts.get(tld) ?? 1)));
}

function pushTo<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key);
  if (list) list.push(one);
  else lists.set(key, [one]);
}

const isAutomatic = ({ expires_source }: Watched): boolean => expires_source !== 'manual';

/** ms until the next question, moved by up to a tenth so that names of one day do not stay together. */
function nextIn(end: string | null, failures: number, asked: number): number {
  const near = end !== null && Date.parse(end) - timeMs() < NEAR_DAYS * DAY_MS;
  const usual = near ? NEAR_MS : DAY_MS;
  const wait = failures ? Math.min(usual, RETRY_MS * 2 ** Math.min(failures - 1, 5)) : usual;
  return Math.max(asked, wait * (0.9 + 0.2 * Math.random()));
}
