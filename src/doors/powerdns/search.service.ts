import { Injectable } from '@nestjs/common';
import { RE2JS } from 're2js';
import { type Caller, signedIn } from '../../access/access.js';
import { txtFromInput } from '../../dns/text.js';
import { DomainsService } from '../../domains/domains.service.js';
import { errors } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { say } from '../../platform/common/words/field-text.js';
import type { FoundRecord } from '../../records/search/search.dto.js';
import { RecordSearch } from '../../records/search/search.service.js';
import { contentOf, LINE, nameOf } from './rrsets.js';
import { idOf } from './zone-views.js';

const OBJECTS = ['all', 'zone', 'record', 'comment'];
const MOST = 1000;
const USUAL = 100;

/** `search-data` of PowerDNS: zones by their names, records by names and contents, of the first 1000 candidates. */
@Injectable()
export class PowerdnsSearch {
  constructor(
    private readonly domains: DomainsService,
    private readonly search: RecordSearch,
  ) {}

  /** @param gone whether nobody waits for it any more @throws AppError 400001 */
  async find(me: Caller, query: Record<string, unknown>, gone: () => boolean): Promise<object[]> {
    const { q, object_type: kind = 'all', max = USUAL } = query;
    if (typeof q !== 'string' || !q || q.length > 253) throw errors.field('q', 'must be given', 'required');
    const limit = Number(max);
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
      throw errors.field('max', say('must be a whole number from {min} to {max}', { min: 1, max: MOST }), 'range');
    if (!OBJECTS.includes(String(kind)))
      throw errors.field('object_type', say('must be one of {values}', { values: OBJECTS.join(', ') }), 'choice');
    const found = kind === 'all' || kind === 'zone' ? await this.zones(me, q, limit) : [];
    if (kind === 'all' || kind === 'record') found.push(...(await this.records(me, q, limit, gone)));
    return found.slice(0, limit);
  }

  private async zones(me: Caller, q: string, limit: number): Promise<object[]> {
    const isMatch = matcherOf(q);
    const page = { keyword: literalOf(q), page: 1, limit };
    const { list } = await this.domains.list(signedIn(me), page);
    return list
      .filter((domain) => !domain.private && isMatch(`${domain.name}.`))
      .map(({ name }) => ({ name: `${name}.`, object_type: 'zone', zone_id: idOf(name) }));
  }

  private async records(me: Caller, q: string, limit: number, gone: () => boolean): Promise<object[]> {
    const literal = literalOf(q);
    const isMatch = matcherOf(q);
    const found = new Map<number, object>();
    // a full name is not stored: its first label is part of the host
    for (const keyword of new Set([literal, literal.split('.')[0] as string])) {
      const query = { keyword: keyword || undefined, page: 1, limit: MOST };
      for (const row of (await this.search.list(signedIn(me), query, gone)).list) {
        if (due()) await turn();
        const one = found.size < limit ? recordOf(row) : null;
        if (one && (isMatch(one.name) || isMatch(one.content))) found.set(row.id, one);
      }
    }
    return [...found.values()];
  }
}

/** A record as it is found; null where PowerDNS has no word for it. */
function recordOf(row: FoundRecord) {
  const { host, domain, line, type, ttl, enabled } = row;
  // a private zone is shown with its id, and has no name of its own
  if (line !== LINE || domain.includes(' ')) return null;
  const value = type === 'TXT' && !row.read_only ? txtFromInput(row.value) : row.value;
  const own = { content: contentOf({ ...row, value }), disabled: !enabled, name: nameOf(host, domain) };
  return { ...own, object_type: 'record', ttl, type, zone: `${domain}.`, zone_id: idOf(domain) };
}

/** The longest part without wildcards. */
const literalOf = (q: string): string =>
  q.split(/[*?]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), '');

/** `*` stands for any text, `?` for one character; a final dot may be left out. Takes no longer than its text is. */
function matcherOf(q: string): (text: string) => boolean {
  const parts = q.split(/([*?])/).map((part) => (part === '*' ? '.*' : part === '?' ? '.' : RE2JS.quote(part)));
  const pattern = RE2JS.compile(`${parts.join('')}\\.?`, RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL);
  return (text) => pattern.matches(text);
}
