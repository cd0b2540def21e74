import { isDeepStrictEqual } from 'node:util';
import { ApiProperty } from '@nestjs/swagger';
import { Allow, getMetadataStorage } from 'class-validator';
import { errors, fieldError } from './errors.js';

type Class = abstract new (...args: never[]) => object;
/** Metadata that the OpenAPI plugin adds to a class at build time: its fields with the options of `ApiProperty`. */
type Described = Class & { _OPENAPI_METADATA_FACTORY?: () => Record<string, object> };

const readOnly = new WeakMap<object, string[]>();

function fieldsOf(view: Described | null): Record<string, object> {
  if (!view?.prototype) return {};
  const own = Object.hasOwn(view, '_OPENAPI_METADATA_FACTORY') ? view._OPENAPI_METADATA_FACTORY?.() : {};
  return { ...fieldsOf(Object.getPrototypeOf(view)), ...own };
}

/**
 * Accepts a GET answer as the body of a PUT: fields of `view` without rules in the body are allowed, and the service
 * compares them with `assertUnchanged`; where something is made they are left aside. New fields of a view are covered
 * without further work.
 */
export const TakesBack =
  (view: Class) =>
  (body: Class): void => {
    const rules = getMetadataStorage().getTargetValidationMetadatas(body, '', false, false);
    const own = new Set(rules.map((rule) => rule.propertyName));
    const fields = Object.entries(fieldsOf(view)).filter(([name]) => !own.has(name));
    for (const [name, described] of fields) {
      Allow()(body.prototype, name);
      ApiProperty({ ...described, required: false, readOnly: true })(body.prototype, name);
    }
    readOnly.set(
      body,
      fields.map(([name]) => name),
    );
  };

const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** Whether two values are equal as JSON, whatever the order of their fields. */
export const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(plain(a), plain(b));

const fieldOf = (of: object, name: string): unknown => (of as Record<string, unknown>)[name];

/**
 * Checks that the read-only fields of a body equal those of the current view.
 * @throws AppError 400001 naming those that differ
 */
export function assertUnchanged(patch: object, current: object): void {
  const list = (readOnly.get(patch.constructor) ?? [])
    .map((name) => [name, fieldOf(patch, name), fieldOf(current, name)] as const)
    .filter(([, given, stored]) => given !== undefined && !same(given, stored))
    .map(([name]) => fieldError(name, 'cannot be changed', 'read_only'));
  if (list.length) throw errors.validation(list);
}
