/** What `GET …/records` is asked for. */
export interface Filter {
  keyword?: string;
  type?: string;
  host?: string;
  value?: string;
  enabled?: boolean;
}

const NAMED = /^(host|type|value|is):(.*)$/i;

/**
 * What somebody types above the records: words that a name, value or remark contains; types in capitals (`MX mail`);
 * and `host:www`, `type:mx`, `value:192.0.2.7`, `is:disabled`.
 * @param types the record types that there are
 */
export function filterOf(text: string, types: ReadonlySet<string>): Filter {
  const filter: Filter = {};
  const asked: string[] = [];
  const words: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const [, name = '', value = ''] = NAMED.exec(word) ?? [];
    if (types.has(word)) asked.push(word);
    else if (name && value === '') continue;
    else if (name.toLowerCase() === 'type') {
      const known = value
        .toUpperCase()
        .split(',')
        .filter((type) => types.has(type));
      if (known.length) asked.push(...known);
      else words.push(word);
    } else if (name.toLowerCase() === 'host') filter.host = value;
    else if (name.toLowerCase() === 'value') filter.value = value;
    else if (name && /^(enabled|disabled)$/i.test(value)) filter.enabled = value.toLowerCase() === 'enabled';
    else words.push(word);
  }
  if (words.join('')) filter.keyword = words.join(' ');
  if (asked.length) filter.type = asked.join(',');
  return filter;
}
