import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import type { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';

const known = new WeakMap<object, Set<string>>();

/** Whether a handler declares a part of the request as a parameter, such as its query or its body. */
export function reads(part: RouteParamtypes, handler: object, controller: object): boolean {
  let parts = known.get(handler);
  if (!parts) {
    const name = (handler as { name: string }).name;
    const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
    parts = new Set(Object.keys(parameters).map((key) => key.split(':')[0] as string));
    known.set(handler, parts);
  }
  return parts.has(String(part));
}
