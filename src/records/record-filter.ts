import { searchPattern } from '../cache/record-search.js';
import { storedHost } from '../changes/edits/filter-names.js';
import { proxyRule, storedForms } from '../changes/edits/record-rules.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { marks, type SqlValue } from '../platform/database/db.js';
import { providerOf } from '../providers/registry.js';
import type { RecordQuery } from './records.dto.js';

/** Characters of a value that an index holds, see the migration `record-values`. */
const VALUE_START = 64;

/** The types that a filter names: each once, as they are stored. */
export const typesOf = (type: string): string[] => [...new Set(type.split(',').map((one) => one.trim().toUpperCase()))];

/**
 * What a filter names is made canonical as what is stored was; what is merely not there is not found.
 * @param types see `typesOf` @throws AppError 400001
 */
export function filter(
  { id, name, provider }: OpenDomain,
  query: RecordQuery,
  types: readonly string[],
): [string, SqlValue[]] {
  const where = ['domain_id = ?'];
  const values: SqlValue[] = [id];
  const equals = (column: string, value: SqlValue | undefined) => {
    if (value === undefined) return;
    where.push(`${column} = ?`);
    values.push(value);
  };
  const host = query.host ?? query.subdomain;
  if (types.length) {
    where.push(`type IN (${marks(types.length)})`);
    values.push(...types);
  }
  equals(
    'host',
    host === undefined ? undefined : storedHost(host, name, query.host === undefined ? 'subdomain' : 'host'),
  );
  if (query.value !== undefined) {
    const [sql, more] = valueSql(query.value, name);
    where.push(sql);
    values.push(...more);
  }
  const { line, proxied } = proxyRule(providerOf(provider)?.capabilities ?? { proxy: false }, query);
  equals('line', line);
  equals('proxied', proxied);
  equals('enabled', query.enabled);
  if (query.keyword) {
    where.push(`search LIKE ? ESCAPE '!'`);
    values.push(searchPattern(query.keyword));
  }
  return [where.join(' AND '), values];
}

/** Records with this value, in any spelling that input may have. @param zone that relative names in it are read in */
export function valueSql(text: string, zone: string): [string, SqlValue[]] {
  const forms = storedForms(text, zone);
  const each = forms.map(({ priority }) => `(type = ? AND value = ?${priority === null ? '' : ' AND priority = ?'})`);
  const plain = forms.length ? `(type NOT IN (${marks(forms.length)}) AND value = ?)` : 'value = ?';
  const values = forms.flatMap(({ type, value, priority }) => [type, value, ...(priority === null ? [] : [priority])]);
  const all = [...new Set([text, ...forms.map(({ value }) => value)])];
  const starts = [...new Set(all.map((value) => Array.from(value).slice(0, VALUE_START).join('')))];
  return [
    // what the index of values holds, for each kind of database
    `value IN (${marks(all.length)}) AND SUBSTR(value, 1, ${VALUE_START}) IN (${marks(starts.length)}) AND (${[...each, plain].join(' OR ')})`,
    [...all, ...starts, ...values, ...forms.map((form) => form.type), text],
  ];
}
