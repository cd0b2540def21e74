import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { currentProtocol } from './protocol.js';

/** Every success is sent as its protocol says: ours as `{code: 0, data, msg}`, but for files. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data) => currentProtocol().success(data)));
  }
}
