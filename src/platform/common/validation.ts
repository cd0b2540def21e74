import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ArgumentMetadata, applyDecorators, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  getMetadataStorage,
  IsArray,
  IsObject,
  registerDecorator,
  ValidateIf,
  ValidateNested,
  type ValidationError,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { errors, type FieldCode, type FieldError, fieldError, fieldErrorsOf } from './errors.js';

/** A rule of class-validator for clients: its code, and which params its arguments are. */
type Meaning = [code: FieldCode, ...params: string[]];

/**
 * The most telling first: of several rules that one field breaks, the first is told. Whatever is not named is a matter
 * of form, and comes last.
 */
const MEANINGS: Record<string, Meaning> = {
  whitelistValidation: ['unknown'],
  isDefined: ['required'],
  isNotEmpty: ['required'],
  isString: ['format'],
  isInt: ['format'],
  isBoolean: ['format'],
  isArray: ['format'],
  isObject: ['format'],
  nestedValidation: ['format'],
  isIn: ['choice', 'values'],
  min: ['range', 'min'],
  max: ['range', 'max'],
  minLength: ['length', 'min'],
  maxLength: ['length', 'max'],
  isLength: ['length', 'min', 'max'],
  arrayMinSize: ['length', 'min'],
  arrayMaxSize: ['length', 'max'],
  arrayUnique: ['duplicate'],
};
const RULES = Object.keys(MEANINGS);
const rank = (rule: string) => (rule in MEANINGS ? RULES.indexOf(rule) : RULES.length);

/** The arguments of a field's rules: `@Min(1) @Max(9)` says `{min: 1, max: 9}`. */
function paramsOf({ target, property }: ValidationError, code: FieldCode): FieldError['params'] {
  const kind = target?.constructor;
  if (!kind) return undefined;
  const list = getMetadataStorage()
    .getTargetValidationMetadatas(kind, '', false, false)
    .filter((rule) => rule.propertyName === property && MEANINGS[rule.name ?? '']?.[0] === code)
    .sort((a, b) => rank(a.name as string) - rank(b.name as string))
    .flatMap(({ name, constraints }) =>
      (MEANINGS[name as string] as Meaning).slice(1).map((param, i) => [param, constraints?.[i]] as const),
    )
    .filter(([, value]) => value !== undefined);
  return list.length ? Object.fromEntries(list) : undefined;
}

/**
 * All problems of a body or query, one a field: nested fields as `credentials.api_key`, list items as `rules.0.hosts`.
 */
function fieldErrors(list: ValidationError[], prefix = ''): FieldError[] {
  return list.flatMap((e) => {
    const path = prefix ? `${prefix}.${e.property}` : (e.property ?? 'body');
    const below = fieldErrors(e.children ?? [], path);
    const [rule, words] = Object.entries(e.constraints ?? {}).sort(([a], [b]) => rank(a) - rank(b))[0] ?? [];
    if (rule === undefined || words === undefined) return below;
    if (rule === 'whitelistValidation') return [unknownField(path), ...below];
    const message = words.startsWith(`${e.property} `) ? words.slice(e.property.length + 1) : words;
    const code = e.value === undefined ? 'required' : (MEANINGS[rule]?.[0] ?? 'format');
    return [fieldError(path, message, code, paramsOf(e, code)), ...below];
  });
}

export const unknownField = (path: string): FieldError => fieldError(path, 'is not a known field', 'unknown');

/**
 * Names that every object of JavaScript has: class-transformer drops such a field silently, so that nothing would
 * refuse it.
 */
const INHERITED = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Fields and items of a whole body, and fields of one object in it: what no body needs would only cost time to refuse
 * one by one.
 */
const MOST = { items: 10_000, fields: 200, told: 100, depth: 20 };
/** Bodies that may have more items. */
const roomy = new Map<unknown, { items: number; list?: string | undefined }>();
/**
 * A body that may have so many fields and items: it judges them a few at a time, or leaves most of them alone.
 * @param list the field that holds them, where only how many there are is judged with the body: see `validList`
 */
export const hasRoom = (body: new () => unknown, items: number, list?: string): unknown =>
  roomy.set(body, { items, list });

/**
 * Paths of the fields that nobody declares, at any depth.
 * @throws AppError 400001 for a body that is too large to be looked at
 */
function inherited(body: unknown, most: number): FieldError[] {
  const found: FieldError[] = [];
  let items = 0;
  const look = (value: unknown, prefix: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    const keys = Object.keys(value);
    items += keys.length;
    if (items > most || depth > MOST.depth || (!Array.isArray(value) && keys.length > MOST.fields)) {
      const where = prefix ? prefix.slice(0, -1) : 'body';
      const words = `is too large: an object has at most ${MOST.fields} fields, a body ${most} fields and items, ${MOST.depth} deep`;
      throw errors.field(where, words, 'length', { max: MOST.fields });
    }
    for (const key of keys) {
      if (INHERITED.has(key)) found.push(unknownField(prefix + key));
      else look((value as Record<string, unknown>)[key], `${prefix}${key}.`, depth + 1);
    }
  };
  look(body, '', 0);
  return found;
}

type Judge = (good: Record<string, unknown>) => FieldError[] | Promise<FieldError[]>;
const judges = new Map<unknown, Judge>();

/**
 * What a service has to say of a body beyond its form, so that it is told together with what the form lacks: called
 * only when something else is wrong, with the fields of the body that are right so far. A body of good form comes to
 * the service itself, which judges again.
 */
export const alsoJudge = <T>(
  body: new () => T,
  judge: (good: Partial<T>) => FieldError[] | Promise<FieldError[]>,
): unknown => judges.set(body, judge as Judge);

class StrictPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type !== 'body' && metadata.type !== 'query') return super.transform(value, metadata);
    const { items, list } = roomy.get(metadata.metatype) ?? { items: MOST.items };
    const wrong = inherited(value, items);
    const out = await this.judged(value, metadata, list).catch((error) => {
      const known = new Set(wrong.map((e) => e.path));
      wrong.push(...fieldErrorsOf(error).filter((e) => !known.has(e.path)));
    });
    if (!wrong.length) return out;
    const judge = judges.get(metadata.metatype);
    const named = new Set(wrong.map(({ path }) => path.split('.')[0]));
    const good = Object.entries(value ?? {}).filter(([key]) => !named.has(key));
    const more = (await judge?.(Object.fromEntries(good))) ?? [];
    const paths = new Set(wrong.map(({ path }) => path));
    throw errors.validation([...wrong, ...more.filter((e) => !paths.has(e.path))].slice(0, MOST.told));
  }

  /** Without the items of `list`, each of which would be copied and looked through with the body. */
  private async judged(value: unknown, metadata: ArgumentMetadata, list?: string): Promise<unknown> {
    const items = list && (value as Record<string, unknown> | null | undefined)?.[list];
    if (!Array.isArray(items)) return super.transform(value, metadata);
    const out = await super.transform({ ...(value as object), [list as string]: items.map(() => 0) }, metadata);
    return Object.assign(out, { [list as string]: items });
  }

  /** Ids of a path stay text for `IdPipe`: as numbers, `0x1` and `1 ` would be 1. */
  protected override transformPrimitive(value: unknown): unknown {
    return value;
  }
}

/** Every problem is reported, not only the first. @param refusing whether unknown fields are one, or left aside */
export const validationPipe = (refusing = true) =>
  new StrictPipe({
    whitelist: true,
    forbidNonWhitelisted: refusing,
    forbidUnknownValues: true,
    transform: true,
    validationError: { target: true },
    exceptionFactory: (list) => errors.validation(fieldErrors(list)),
  });

/** Items that are judged before everybody else has a turn. */
const TURN = 50;
/** Wrong items after which the rest is not looked at. */
const ENOUGH = 100;

/**
 * A long list of a body, each item judged as a body of its own, with turns for everybody else in between: thousands of
 * them at once would hold up the service.
 * @param path of the list in the body
 * @throws AppError 400001
 */
export async function validList<T>(kind: new () => T, items: readonly unknown[], path: string): Promise<T[]> {
  const pipe = validationPipe();
  const good: T[] = [];
  const wrong: FieldError[] = [];
  for (const [i, item] of items.entries()) {
    if (i % TURN === TURN - 1) await nextTurn();
    const at = `${path}.${i}`;
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      wrong.push(fieldError(at, 'must be an object'));
    } else {
      await pipe.transform(item, { type: 'body', metatype: kind as never }).then(
        (one) => good.push(one as T),
        (error) => wrong.push(...fieldErrorsOf(error).map((e) => ({ ...e, path: `${at}.${e.path}` }))),
      );
    }
    if (wrong.length >= ENOUGH) break;
  }
  if (wrong.length) throw errors.validation(wrong.slice(0, ENOUGH));
  return good;
}

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

/**
 * An object of its own class inside a body. A list is none: `ValidateNested` alone lets `[]` pass, since nothing in it
 * is wrong.
 */
export const Nested = (kind: () => new () => object): PropertyDecorator =>
  applyDecorators(IsObject(), ValidateNested(), Type(kind)) as PropertyDecorator;

/** A list of such objects. */
export const NestedList = (kind: () => new () => object): PropertyDecorator =>
  applyDecorators(IsArray(), IsObject({ each: true }), ValidateNested({ each: true }), Type(kind)) as PropertyDecorator;

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
