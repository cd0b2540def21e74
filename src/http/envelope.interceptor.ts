import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';

const wrap = (data: unknown) =>
  data instanceof StreamableFile ? data : { code: 0, data: data ?? null, msg: 'success' };

/** Every success is `{code: 0, data, msg}`, but files. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map(wrap));
  }
}
