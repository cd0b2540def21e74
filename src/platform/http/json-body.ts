import { json, type RequestHandler } from 'express';
import { errors } from '../common/errors.js';
import { tooMuch } from '../common/json-weight.js';

type Options = Omit<NonNullable<Parameters<typeof json>[0]>, 'limit'> & {
  /** octets */
  limit?: number;
};

export const MIB = 1_048_576;
const USUAL = 102_400;

/** The most fields and items that are parsed: some 20 000 endpoints with all that a cluster says of them have fewer. */
const MOST_PARTS = 400_000;

/** Parses JSON in UTF-8; what is nested too deeply or has too many parts would hold others up, and is not parsed. */
export function jsonParser({ verify, limit = USUAL, ...options }: Options = {}): RequestHandler {
  const parse = json({
    strict: false,
    limit,
    ...options,
    verify(request, response, bytes, charset) {
      // JSON is UTF-8 (RFC 8259 section 8.1); in another one the brackets would be other octets
      if (charset !== 'utf-8') throw Object.assign(new Error(`charset ${charset}`), { type: 'charset.unsupported' });
      const why = tooMuch(bytes, MOST_PARTS);
      if (why) throw Object.assign(new Error(`too ${why}`), { type: TOO[why] });
      verify?.(request, response, bytes, charset);
    },
  });
  return (request, response, next) => parse(request, response, (error?: unknown) => next(toldOf(error, limit)));
}

const TOO = { deep: 'entity.too.deep', many: 'entity.too.many' };

/** A failure of a parser in our words, where it has its own. @param limit in octets */
export function toldOf(error: unknown, limit: number): unknown {
  const { type } = (error ?? {}) as { type?: unknown };
  if (type === TOO.deep) return errors.field('body', 'is nested too deeply');
  if (type === TOO.many) return errors.field('body', 'has too many fields and items');
  if (type !== 'entity.too.large') return error;
  return errors.tooLarge(limit < MIB ? `${limit / 1024} KiB` : `${limit / MIB} MiB`);
}
