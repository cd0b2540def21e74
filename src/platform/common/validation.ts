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
import { type AppError, errors, fieldError, fieldErrorsOf } from './errors.js';
import { dayStart } from './time-zone.js';
import { type FieldCode, type FieldError } from './words/codes.js';
import { type FieldText, ruleText, say } from './words/field-text.js';

/** Maps a rule of class-validator to its field code and the names of its arguments. */
type Meaning = [code: FieldCode, ...params: string[]];

/**
 * Most specific first: only the first broken rule of a field is reported. Rules not listed concern the form and come
 * last.
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

/** The arguments of a field's rules as params: `@Min(1) @Max(9)` gives `{min: 1, max: 9}`. */
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

const codeOf = (e: ValidationError, rule: string) =>
  e.value === undefined ? 'required' : (MEANINGS[rule]?.[0] ?? 'format');

/**
 * All errors of a body or query, one per field: nested fields as `credentials.api_key`, list items as `rules.0.hosts`.
 */
function fieldErrors(list: ValidationError[], prefix = ''): FieldError[] {
  return list.flatMap((e) => {
    const path = prefix ? `${prefix}.${e.property}` : (e.property ?? 'body');
    const below = fieldErrors(e.children ?? [], path);
    const [rule, words] = Object.entries(e.constraints ?? {}).sort(([a], [b]) => rank(a) - rank(b))[0] ?? [];
    if (rule === undefined || words === undefined) return below;
    if (rule === 'whitelistValidation') return [unknownField(path), ...below];
    const message = words.startsWith(`${e.property} `) ? words.slice(e.property.length + 1) : words;
    const code = codeOf(e, rule);
    return [fieldError(path, message as FieldText, code, paramsOf(e, code)), ...below];
  });
}

export const unknownField = (path: string): FieldError => fieldError(path, 'is not a known field', 'unknown');

/**
 * Names inherited by every JavaScript object: class-transformer drops such fields silently, so they would not be
 * refused.
 */
const INHERITED = new Set(['__proto__', 'constructor', 'prototype']);

/** Limits of a body's size and of the errors reported, so that large bodies are refused cheaply. */
const MOST = { items: 10_000, fields: 200, told: 100, depth: 20 };
/** Body classes with higher limits. */
const roomy = new Map<unknown, { items: number; list?: string | undefined }>();
/**
 * Raises the limit of fields and items for a body whose items are validated in batches.
 * @param list its field, when only the length is validated with the body: see `validList`
 */
export const hasRoom = (body: new () => unknown, items: number, list?: string): unknown =>
  roomy.set(body, { items, list });

function tooLarge(prefix: string, most: number): AppError {
  const where = prefix ? prefix.slice(0, -1) : 'body';
  const { fields, depth } = MOST;
  const words = say(
    'is too large: an object has at most {fields} fields, a body {items} fields and items, {depth} deep',
    { fields, items: most, depth },
  );
  return errors.field(where, words, 'length', { max: MOST.fields });
}

/**
 * Paths of undeclared fields, at any depth.
 * @throws AppError 400001 for a body that is too large to validate
 */
function inherited(body: unknown, most: number): FieldError[] {
  const found: FieldError[] = [];
  let items = 0;
  const look = (value: unknown, prefix: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    const keys = Object.keys(value);
    items += keys.length;
    if (items > most || depth > MOST.depth || (!Array.isArray(value) && keys.length > MOST.fields))
      throw tooLarge(prefix, most);
    for (const key of keys) {
      if (INHERITED.has(key)) found.push(unknownField(prefix + key));
      else look((value as Record<string, unknown>)[key], `${prefix}${key}.`, depth + 1);
    }
  };
  look(body, '', 0);
  return found;
}

/** Fields that may be left out may be undefined, too: so they are once they are read out of a body. */
export type OrUndefined<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

type Judge = (good: Record<string, unknown>) => FieldError[] | Promise<FieldError[]>;
const judges = new Map<unknown, Judge>();

/**
 * Adds a service's own checks to the errors of a body that is already invalid, so that all are reported together;
 * called with the valid fields only. A valid body reaches the service, which checks it itself.
 */
export const alsoJudge = <T>(
  body: new () => T,
  judge: (good: Partial<T>) => FieldError[] | Promise<FieldError[]>,
): unknown => judges.set(body, judge as Judge);

class StrictPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
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

  /** Validates a body without the items of `list`, each of which would be copied and checked with the body. */
  private async judged(value: unknown, metadata: ArgumentMetadata, list?: string): Promise<unknown> {
    const items = list && (value as Record<string, unknown> | null | undefined)?.[list];
    if (!Array.isArray(items)) return super.transform(value, metadata);
    const out = await super.transform({ ...(value as object), [list as string]: items.map(() => 0) }, metadata);
    return Object.assign(out, { [list as string]: items });
  }

  /** Keeps path ids as text for `IdPipe`: converted to numbers, `0x1` and `1 ` would become 1. */
  protected override transformPrimitive(value: unknown): unknown {
    return value;
  }
}

/**
 * Keeps the rules of each class that is validated: class-validator looks for them among those of all classes, with each
 * object that it validates. To be called when all classes are there, since they read each other's rules before.
 */
export function keepRules(): void {
  const storage = getMetadataStorage();
  const find = storage.getTargetValidationMetadatas.bind(storage);
  const kept = new Map<unknown, ReturnType<typeof find>>();
  storage.getTargetValidationMetadatas = (kind, schema, always, strict, groups) => {
    if (schema || always || strict || groups?.length) return find(kind, schema, always, strict, groups);
    const rules = kept.get(kind) ?? find(kind, schema, always, strict, groups);
    kept.set(kind, rules);
    return rules;
  };
}

/**
 * Reports every error, not only the first. @param refusing whether unknown fields are errors; otherwise they are
 * ignored
 */
export const validationPipe = (refusing = true) =>
  new StrictPipe({
    whitelist: true,
    forbidNonWhitelisted: refusing,
    forbidUnknownValues: true,
    transform: true,
    validationError: { target: true },
    exceptionFactory: (list) => errors.validation(fieldErrors(list)),
  });

/** Items validated before yielding to the event loop. */
const TURN = 50;
/** Number of wrong items after which validation stops. */
const ENOUGH = 100;

/**
 * Validates each item of a long list as its own body, yielding to the event loop in between.
 * @param path of the list in the body
 * @param read makes something of an item that is valid, or throws what else is wrong with it
 * @throws AppError 400001
 */
export async function validList<T, R = T>(
  kind: new () => T,
  items: readonly unknown[],
  path: string,
  read: (item: T, i: number) => R = (item) => item as unknown as R,
): Promise<R[]> {
  const pipe = validationPipe();
  const good: R[] = [];
  const wrong: FieldError[] = [];
  for (const [i, item] of items.entries()) {
    if (i % TURN === TURN - 1) await nextTurn();
    const at = `${path}.${i}`;
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      wrong.push(fieldError(at, 'must be an object'));
    } else {
      try {
        good.push(read((await pipe.transform(item, { type: 'body', metatype: kind as never })) as T, i));
      } catch (error) {
        wrong.push(...fieldErrorsOf(error).map((e) => ({ ...e, path: `${at}.${e.path}` })));
      }
    }
    if (wrong.length >= ENOUGH) break;
  }
  if (wrong.length) throw errors.validation(wrong.slice(0, ENOUGH));
  return good;
}

/** Custom check with its message: `@Check(isCidr, 'must be a CIDR')`. */
export const Check = (check: (value: unknown) => boolean, message: FieldText): PropertyDecorator =>
  rule('check', check, message);

function rule(name: string, check: (value: unknown) => boolean, message: FieldText): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value) => check(value),
        defaultMessage: () => ruleText(message),
      } satisfies ValidatorConstraintInterface,
    });
}

/** A nested object of a class. Lists are refused: `ValidateNested` alone accepts `[]`. */
export const Nested = (kind: () => new () => object): PropertyDecorator =>
  applyDecorators(IsObject(), ValidateNested(), Type(kind)) as PropertyDecorator;

/** A list of nested objects of a class. */
export const NestedList = (kind: () => new () => object): PropertyDecorator =>
  applyDecorators(IsArray(), IsObject({ each: true }), ValidateNested({ each: true }), Type(kind)) as PropertyDecorator;

/** A field that may be omitted but not null, which `IsOptional` would accept. */
export const IsOmittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/** A date and time in ISO 8601. */
export const IsTime = (): PropertyDecorator =>
  rule(
    'isTime',
    (value) => typeof value === 'string' && parseTime(value) !== null,
    'must be an ISO 8601 date and time',
  );

const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Converts ISO 8601 to the stored format; without a zone it is read as UTC. @returns null when the text is not a valid
 * time
 */
export function parseTime(text: string): string | null {
  const match = ISO.exec(text.trim());
  if (!match) return null;
  const clean = text.trim().replace(' ', 'T');
  const hasTime = clean.includes('T');
  const date = new Date(hasTime && !match[1] ? `${clean}Z` : clean);
  if (Number.isNaN(date.getTime())) return null;
  // Date turns 31 February into a day of March; such input is refused
  const day = Number(clean.slice(8, 10));
  const month = Number(clean.slice(5, 7));
  const last = new Date(Date.UTC(Number(clean.slice(0, 4)), month, 0)).getUTCDate();
  const out = date.toISOString();
  // an offset can lead past the year 9999, which neither fits the column nor sorts as text
  return day > last || out.length !== 24 ? null : out;
}

/** A moment as text that sorts; years beyond four digits are clamped. */
const textOf = (time: number): string => {
  const text = new Date(time).toISOString();
  return text.startsWith('+') ? '9999-12-31T23:59:59.999Z' : text.startsWith('-') ? '0000-01-01T00:00:00.000Z' : text;
};

/**
 * The first or the last moment of a day of a query (`DAY`) in a time zone, as it is stored.
 * @throws AppError 400001 naming the field, for a day that no calendar has
 */
export function dayBound(field: string, day: string, zone: string, side: 'start' | 'end'): string {
  if (!parseTime(day)) throw errors.field(field, 'is not a day of the calendar');
  return textOf(side === 'start' ? dayStart(day, zone) : dayStart(day, zone, 1) - 1);
}

/** Largest id of an integer column. */
export const MAX_ID = 2147483647;

/** Parses an id of a path. @throws AppError 400001 unless it is a positive integer */
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
