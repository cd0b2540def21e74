import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import type { StoredRecord } from '../../cache/record-cache.js';
import { doorOf } from '../../changes/change-sets.js';
import { type Edit, Places, type Upsert, upsert } from '../../changes/edits/edit.js';
import { ChangeEngine } from '../../changes/engine.service.js';
import type { DnsRecord } from '../../dns/record.js';
import { assertMay } from '../../domains/access-rights.js';
import type { Place } from './door-names.service.js';

/** What an ACME server looks for: SHA-256 as base64url, without padding. */
const CHALLENGE = /^[\w-]{43}$/;

/** Texts of ACME challenges at names. Those that others put there stay, but for older ones than the newest `most`. */
@Injectable()
export class Challenges {
  constructor(
    private readonly engine: ChangeEngine,
    private readonly places: Places,
  ) {}

  /**
   * Puts a text beside those at a name; one that is there already stays as it is.
   * @param most how many challenges stay there, the newest ones; the others go
   * @throws AppError 400001, 403001, 409001, 423002; ProviderError
   */
  async add(me: Caller, place: Place, text: string, most = Number.POSITIVE_INFINITY): Promise<void> {
    const { access, id } = place.domain;
    await this.change(me, place, text, (rows, record, made) => {
      const others = rows.filter(({ value }) => value !== record.value && CHALLENGE.test(value));
      const old = others.toSorted((a, b) => b.id - a.id).slice(most - 1);
      // another TTL would update the existing texts, which the scope `acme` does not allow
      const ttl = rows[0]?.ttl ?? record.ttl;
      const edits = old.map((row): Edit => ({ op: 'delete', id: row.id }));
      const isThere = rows.some(({ value, enabled }) => value === record.value && enabled);
      if (isThere) for (const action of ['read', 'create'] as const) assertMay(access, id, action, record);
      return isThere ? edits : [...edits, { ...made, record: { ...record, ttl } }];
    });
  }

  /**
   * Takes a text away from a name, if it is there; others stay.
   * @throws AppError 400001, 403001, 423002; ProviderError
   */
  async remove(me: Caller, place: Place, text: string): Promise<void> {
    const { access, id } = place.domain;
    await this.change(me, place, text, (rows, record) => {
      const own = rows.filter(({ value }) => value === record.value);
      // who may delete nothing there learns nothing of it
      if (!own.length) assertMay(access, id, 'delete', record);
      return own.map((row): Edit => ({ op: 'delete', id: row.id }));
    });
  }

  /** @param of what is to be done, by the texts of the set */
  private async change(
    me: Caller,
    { domain, host }: Place,
    text: string,
    of: (rows: StoredRecord[], record: DnsRecord, made: Upsert) => Edit[],
  ): Promise<void> {
    const place = await this.places.of(domain);
    const input = { host, type: 'TXT', value: text };
    const made = upsert(place, input);
    const { record } = made;
    const { type, line } = record;
    const set = (rows: readonly StoredRecord[]) => rows.filter((row) => row.type === type && row.line === line);
    const edits = {
      hosts: [record.host],
      sets: [{ host: record.host, type, line }],
      of: (rows: readonly StoredRecord[]) => of(set(rows), record, made),
    };
    const options = { door: doorOf(me), comment: '', atomic: true };
    const { results } = await this.engine.whole(me, domain, edits, options, place.connection);
    for (const result of results) if (!result.ok) throw result.error;
  }
}
