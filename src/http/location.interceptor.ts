import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, tap } from 'rxjs';
import { LOCATION, type ZoneRequest } from '../access/access.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';

/** Sends the address of what a route created in `Location`, as `@Makes` declares. */
@Injectable()
export class LocationInterceptor implements NestInterceptor {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const id = Reflect.getMetadata(LOCATION, context.getHandler()) as ((made: unknown) => number) | undefined;
    if (!id) return next.handle();
    const { path } = context.switchToHttp().getRequest<ZoneRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    const collection = this.config.basePath + path.replace(/\/$/, '');
    return next.handle().pipe(
      tap((made) => {
        if (response.statusCode === 201) response.setHeader('Location', `${collection}/${id(made)}`);
      }),
    );
  }
}
