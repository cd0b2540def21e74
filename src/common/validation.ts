import { type PipeTransform, ValidationPipe } from '@nestjs/common';
import {
  registerDecorator,
  ValidateIf,
  type ValidationError,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { errors, type FieldError } from './errors.js';

/** All problems of a body or query, nested fields as `credentials.api_key`, list items as `rules.0.hosts`. */
export function fieldErrors(list: ValidationError[], prefix = ''): FieldError[] {
  return list.flatMap((e) => {
    const path = prefix ? `${prefix}.${e.property}` : (e.property ?? 'body');
    const own = Object.entries(e.constraints ?? {}).map(([rule, message]) => ({
      path,
      message:
        rule === 'whitelistValidation'
          ? 'is not a known field'
          : message.replace(new RegExp(`^${(e.property ?? '').replace(/[^\w]/g, '.')} `), ''),
    }));
    return [...own, ...fieldErrors(e.children ?? [], path)];
  });
}

class StrictPipe extends ValidationPipe {
  /** Ids of a path stay text for `IdPipe`: as numbers, `0x1` and `1 ` would be 1. */
  protected override transformPrimitive(value: unknown): unknown {
    return value;
  }
}

/** Unknown fields are refused; every problem is reported, not only the first. */
export const validationPipe = () =>
  new StrictPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    transform: true,
    exceptionFactory: (list) => errors.validation(fieldErrors(list)),
  });

/** What a function says of the value, in these words: `@Check(isCidr, 'must be a CIDR')`. */
export const Check = (check: (value: unknown) => boolean, message: string): PropertyDecorator =>
  rule('check', check, message);

function rule(name: string, check: (value: unknown) => boolean, message: string): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value) => check(value),
        defaultMessage: () => `$property ${message}`,
      } satisfies ValidatorConstraintInterface,
    });
}

/** A field that may be left out, but is never null, which `IsOptional` lets pass. */
export const IsOmittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/** A date and time in ISO 8601. */
export const IsTime = (): PropertyDecorator =>
  rule(
    'isTime',
    (value) => typeof value === 'string' && parseTime(value) !== null,
    'must be an ISO 8601 date and time',
  );

const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/** ISO 8601 in, stored form out; without a zone it is UTC, never local time. @returns null when it is no such time */
export function parseTime(text: string): string | null {
  const match = ISO.exec(text.trim());
  if (!match) return null;
  const clean = text.trim().replace(' ', 'T');
  const hasTime = clean.includes('T');
  const date = new Date(hasTime && !match[1] ? `${clean}Z` : clean);
  if (Number.isNaN(date.getTime())) return null;
  // Date rolls 31 February over to March; such a day is a mistake
  const day = Number(clean.slice(8, 10));
  const month = Number(clean.slice(5, 7));
  const last = new Date(Date.UTC(Number(clean.slice(0, 4)), month, 0)).getUTCDate();
  const out = date.toISOString();
  // an offset can lead past the year 9999, and such a time would neither fit the column nor sort as text
  return day > last || out.length !== 24 ? null : out;
}

/** The largest id that a column holds. */
export const MAX_ID = 2147483647;

/** An id of a path as a number. @throws AppError 400001 unless it is a positive integer */
export function positiveId(text: string | undefined, name: string): number {
  const id = Number(text);
  if (!text || !/^\d{1,10}$/.test(text) || id < 1 || id > MAX_ID)
    throw errors.field(name, 'must be a positive integer');
  return id;
}

/** `@Param('id', IdPipe)` */
export const IdPipe: PipeTransform<string, number> = {
  transform: (value, metadata) => positiveId(value, metadata.data ?? 'id'),
};
