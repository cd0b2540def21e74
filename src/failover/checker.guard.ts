import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { errors } from '../common/errors.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { isSigned, Once, SIGNATURE, TIMESTAMP } from './signature.js';

/** Lets in who has the secret of the checkers, with each request once. Without a secret there is no such route. */
@Injectable()
export class CheckerGuard implements CanActivate {
  private readonly once = new Once();

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  canActivate(context: ExecutionContext): boolean {
    const { checkerSecret } = this.config;
    if (!checkerSecret) throw errors.notFound('This route');
    const request = context.switchToHttp().getRequest<Request>();
    const [timestamp, signature] = [TIMESTAMP, SIGNATURE].map((name) => String(request.headers[name])) as [
      string,
      string,
    ];
    // the body is parsed already: whoever signs it sends what JSON.stringify makes of it
    if (!isSigned(checkerSecret, timestamp, JSON.stringify(request.body), signature))
      throw errors.unauthenticated('The request is not signed with CHECKER_SECRET');
    if (!this.once.take(timestamp, signature))
      throw errors.unauthenticated('The request is too old, of the future, or was made before');
    return true;
  }
}
