import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { from, mergeAll, type Observable } from 'rxjs';

/**
 * The interceptors of all routes as one: Nest wraps each into observables and promises of its own, which cost a list
 * more than its rows. One that has nothing to do with a request hands on what the next one returns, and none throws
 * before it is subscribed to.
 */
export class AroundInterceptor implements NestInterceptor {
  /** @param all answers pass them from the last one to the first */
  constructor(private readonly all: readonly NestInterceptor[]) {}

  intercept(context: ExecutionContext, next: CallHandler, i = 0): Observable<unknown> {
    const one = this.all[i];
    if (!one) return next.handle();
    const found = one.intercept(context, { handle: () => this.intercept(context, next, i + 1) });
    return found instanceof Promise ? from(found).pipe(mergeAll()) : found;
  }
}
