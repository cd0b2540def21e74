import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { errors } from '../../../platform/common/errors.js';
import type { Config } from '../../../platform/config/config.js';
import { CONFIG } from '../../../platform/config/config.module.js';
import { Checker } from './checker.service.js';
import { isSigned, isTimely, NODE, SIGNATURE, sign, TIMESTAMP } from './signature.js';

/**
 * Accepts questions that are signed with CHECKER_SECRET, each once on all replicas together. A question for another
 * node is refused, with the name of this one in a signed header. Without the secret there is no such route.
 */
@Injectable()
export class CheckerGuard implements CanActivate {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly checker: Checker,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { checkerSecret } = this.config;
    if (!checkerSecret) throw errors.notFound('this_route');
    const http = context.switchToHttp();
    const { headers, body } = http.getRequest<Request>();
    const [timestamp, node, signature] = [TIMESTAMP, NODE, SIGNATURE].map((name) => String(headers[name] ?? '')) as [
      string,
      string,
      string,
    ];
    // the body is parsed already: checkers sign what JSON.stringify makes of it
    if (!isSigned(checkerSecret, `${timestamp}.${node}`, JSON.stringify(body), signature))
      throw errors.unauthenticated('request_unsigned');
    if (!isTimely(timestamp)) throw errors.unauthenticated('request_untimely');
    const own = await this.checker.node();
    if (node !== own) {
      const response = http.getResponse<Response>();
      response.setHeader(NODE, own);
      response.setHeader(SIGNATURE, sign(checkerSecret, signature, own));
      throw errors.unauthenticated('request_for_another');
    }
    if (!(await this.checker.accept(signature))) throw errors.unauthenticated('request_repeated');
    return true;
  }
}
