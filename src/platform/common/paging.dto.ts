import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import type { Response } from 'express';
import type { OrUndefined } from './validation.js';

const MAX_LIMIT = 500;

/** Query text as a number; anything else is left for the validator to refuse. */
export const ToNumber = () =>
  Transform(({ value }) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value));

/** Query text `true`/`1`, `false`/`0` as a boolean. */
export const ToBoolean = () =>
  Transform(({ value }) =>
    value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value,
  );

/** The query of every list. */
export class PageQuery {
  /** page, from 1 */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(10_000_000)
  page?: number;

  /** entries a page, at most 500 */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_LIMIT)
  limit?: number;

  /** field to sort by, with `-` in front for descending: `name`, `-created_at` */
  @IsOptional()
  @IsString()
  @MaxLength(32)
  sort?: string;

  /** part of a name, any case */
  @IsOptional()
  @IsString()
  @MaxLength(253)
  keyword?: string;
}

const DEFAULT_LIMIT = 20;

/** The longest `Link` header: proxies and clients refuse answers whose headers are longer than some KiB. */
const MOST_OF_LINKS = 4096;

/**
 * The page that a query asks for; null when it asks for none, which of a list means all of it: nothing is cut silently.
 */
export const pageOf = ({ page, limit }: OrUndefined<PageQuery>): { page: number; limit: number } | null =>
  page === undefined && limit === undefined ? null : { page: page ?? 1, limit: limit ?? DEFAULT_LIMIT };

/** The end of a SELECT for a page, and its values. */
export const pageSql = (page: ReturnType<typeof pageOf>): [string, number[]] =>
  page ? [' LIMIT ? OFFSET ?', [page.limit, (page.page - 1) * page.limit]] : ['', []];

/** LIKE pattern for "contains exactly this", with `!` as the escape character: `... LIKE ? ESCAPE '!'` */
export const likePattern = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;

/** The same for columns in lower case. */
export const contains = (text: string): string => likePattern(text.toLowerCase());

/**
 * ORDER BY for a `sort` parameter out of what the list allows (parameter -> column), with the id as tie-break.
 * @returns null when the field is not among them
 */
export function orderBy(
  sort: string | undefined,
  allowed: Record<string, string>,
  fallback: string,
  id: string,
): string | null {
  const text = sort ?? fallback;
  const name = text.replace(/^-/, '');
  const column = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
  if (!column) return null;
  const direction = text.startsWith('-') ? 'DESC' : 'ASC';
  return column === id ? `${id} ${direction}` : `${column} ${direction}, ${id} ${direction}`;
}

/** Of a list that is too long to be counted: whether `total` is all, the page, and where the next part begins. */
interface Part {
  total_exact: boolean;
  list: readonly unknown[];
  next_until: string | null;
}

/**
 * `X-Total-Count`, and RFC 8288 `Link` headers to the neighbours, relative to the request's own address: only what
 * would be answered, and nothing that reads the provider once more. A list that came whole is its own first and last
 * page; of one that nobody counted to its end no last page is told, and the next may be that of the next part. Links
 * that are too long for a header, since a filter is, are left out.
 */
export function pageHeaders(
  response: Response,
  total: number,
  asked: ReturnType<typeof pageOf>,
  { total_exact, list, next_until }: Part = { total_exact: true, list: [], next_until: null },
): void {
  response.setHeader('X-Total-Count', String(total));
  const page = asked?.page ?? 1;
  const last = asked ? Math.max(1, Math.ceil(total / asked.limit)) : 1;
  const [path, query = ''] = response.req.originalUrl.split('?');
  const others = query.split('&').filter((part) => part && !/^(page|limit|pageSize|refresh|confirm)=/.test(part));
  const link = (number: number, rel: string, rest = others) => {
    const parts = asked ? [...rest, `page=${number}`, `limit=${asked.limit}`] : rest;
    return `<${path}${parts.length ? '?' : ''}${parts.join('&')}>; rel="${rel}"`;
  };
  const links = [link(1, 'first')];
  if (total_exact) links.push(link(last, 'last'));
  if (page > 1) links.push(link(total_exact ? Math.min(page - 1, last) : page - 1, 'prev'));
  // behind what was counted there is a page as long as this one is full
  if (page < last || (!total_exact && !next_until && list.length === asked?.limit)) links.push(link(page + 1, 'next'));
  else if (next_until)
    links.push(link(1, 'next', [...others.filter((part) => !part.startsWith('until=')), `until=${next_until}`]));
  const text = links.join(', ');
  if (text.length <= MOST_OF_LINKS) response.setHeader('Link', text);
}
