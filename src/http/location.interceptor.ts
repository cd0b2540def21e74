import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, tap } from 'rxjs';
import { GOES_ON, LOCATION, type Made, type ZoneRequest } from '../access/access.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';

/** Sends the address of what a route created, or of what goes on, in `Location`, as `@Makes` and `@GoesOn` declare. */
@Injectable()
export class LocationInterceptor implements NestInterceptor {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const makes = Reflect.getMetadata(LOCATION, context.getHandler()) as Made | undefined;
    const goesOn = Reflect.getMetadata(GOES_ON, context.getHandler()) as
      | ((answer: unknown, params: unknown) => string | null)
      | undefined;
    if (!makes && !goesOn) return next.handle();
    const { path, params } = context.switchToHttp().getRequest<ZoneRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    // the domain of the path may be a name; addresses have its id
    const byId = path.replace(/^(\/api\/domains\/)[^/]+/, `$1${params.domain_id}`);
    const collection = this.config.basePath + (makes?.at ?? byId.replace(/\/$/, ''));
    return next.handle().pipe(
      tap((made) => {
        const id = makes && response.statusCode === 201 ? makes.id(made) : null;
        if (id !== null) response.setHeader('Location', `${collection}/${id}`);
        const where = goesOn && response.statusCode === 202 ? goesOn(made, params) : null;
        if (where) response.setHeader('Location', this.config.basePath + where);
      }),
    );
  }
}
