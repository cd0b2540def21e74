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

/** Wraps every success, except for files, in `{code: 0, data, msg}`. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map(wrap));
  }
}
