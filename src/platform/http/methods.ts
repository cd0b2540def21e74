import { METHODS } from 'node:http';
import type { Express, NextFunction, Request, Response } from 'express';

interface Layer {
  route?: { stack: { method: string }[] };
  match(path: string): unknown;
}

/** The methods that the path of a request supports, with HEAD and OPTIONS; empty for an unknown path. */
export function methodsOf({ app, baseUrl, path }: Request): string[] {
  const layers = (app as Express).router.stack as unknown as Layer[];
  // routes for all methods are Nest's handler of unknown routes
  const routes = layers
    .filter(({ route }) => route && route.stack.length < METHODS.length - 1)
    .filter((layer) => layer.match(baseUrl + path));
  const found = new Set(routes.flatMap(({ route }) => route?.stack.map(({ method }) => method.toUpperCase()) ?? []));
  if (!found.size) return [];
  if (found.has('GET')) found.add('HEAD');
  return [...found.add('OPTIONS')].sort();
}

/** Answers OPTIONS of a known path with an `Allow` header. */
export function options(request: Request, response: Response, next: NextFunction): void {
  const methods = request.method === 'OPTIONS' ? methodsOf(request) : [];
  if (!methods.length) next();
  else response.status(204).setHeader('Allow', methods.join(', ')).end();
}
