import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { from, mergeMap, type Observable } from 'rxjs';
import { AUDITED, signedIn, type ZoneRequest } from '../../access/access.js';
import { hostName } from '../../dns/names.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { AppError } from '../../platform/common/errors.js';
import { Logger } from '../../platform/common/logger.js';
import { ChangeReader } from '../../records/history/change-reader.service.js';
import { RecordsService } from '../../records/records.service.js';
import { untilGone } from '../delegation/until-gone.js';
import { MAX_WAIT_S } from './propagation.dto.js';
import { Propagation, type SetName } from './propagation.service.js';

/** Audit actions of the routes where it can be asked for. */
export const RECORD_WRITES: ReadonlySet<string> = new Set([
  'record.create',
  'record.update',
  'record.delete',
  'record.status',
  'record.batch',
]);
const WAIT_S = 60;
/** record sets of one request that are checked: of a longer list the first ones */
const MOST_SETS = 50;

/**
 * Seconds to wait, of `Prefer: respond-published; wait=60` (RFC 7240); null when nobody asks for it. What cannot be
 * read is ignored, as the RFC wants it.
 */
function publishedWithin(header: string | undefined): number | null {
  if (!header) return null;
  const parts = header.split(/[,;]/).map((part) => part.trim().toLowerCase());
  if (!parts.includes('respond-published')) return null;
  const wait = parts.map((part) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(part)?.[1]).find((found) => found !== undefined);
  return Math.min(Number(wait ?? WAIT_S), MAX_WAIT_S);
}

/**
 * Where a client prefers it, a change of records is answered when all authoritative servers of the zone show it; with
 * 202 and what they say, when the time is over. The change itself is made either way.
 */
@Injectable()
export class PreferInterceptor implements NestInterceptor {
  constructor(
    private readonly propagation: Propagation,
    private readonly changes: ChangeReader,
    private readonly records: RecordsService,
    private readonly logger: Logger,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const wait = publishedWithin(request.headers.prefer as string | undefined);
    if (wait === null) return next.handle();
    const action = Reflect.getMetadata(AUDITED, context.getHandler()) as string | undefined;
    const domain = request.domain as OpenDomain | undefined;
    if (!action || !RECORD_WRITES.has(action) || !domain) return next.handle();
    return this.published(request, context.switchToHttp().getResponse<Response>(), domain, wait, next);
  }

  private async published(
    request: ZoneRequest,
    response: Response,
    domain: OpenDomain,
    wait: number,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const before = await this.changes.newest(domain.id);
    return next
      .handle()
      .pipe(mergeMap((made) => from(this.whenPublished(request, response, domain, before, wait, made))));
  }

  private async whenPublished(
    request: ZoneRequest,
    response: Response,
    domain: OpenDomain,
    before: number,
    wait: number,
    made: unknown,
  ): Promise<unknown> {
    // it goes on in the background, or was a dry run: nothing can be published yet
    if (response.statusCode === 202 || request.caller.intent?.dryRun) return made;
    const touched = await this.changes.touched(domain.id, request.caller.requestId, before);
    // a caller who may write but not read has made the change all the same
    const sets = touched.length ? touched.slice(0, MOST_SETS) : await this.named(request, domain).catch(() => []);
    // a preference may be ignored, and of a private zone nothing is published
    const { userId } = signedIn(request.caller);
    if (domain.apart || !sets.length || this.propagation.isFull(userId, domain)) return made;
    const report = await untilGone(response, (signal) =>
      this.propagation.look(userId, domain, sets, wait * 1000, signal),
    ).catch((error: Error) => {
      // the change is made: it must not look as if it had failed
      if (!(error instanceof AppError))
        this.logger.error({ domain: domain.name, err: error }, 'what is published cannot be told');
      return undefined;
    });
    if (!report) return made;
    response.setHeader('Preference-Applied', 'respond-published');
    if (report.verdict === 'published') return made;
    // that some changes of a list were not applied says more
    if (response.statusCode !== 207) response.status(202);
    return { ...(made as object | null), ...report };
  }

  /** The set of a path, when nothing was to do. */
  private async named({ params }: ZoneRequest, domain: OpenDomain): Promise<SetName[]> {
    const { record_id: recordId, host, type } = params as Record<string, string | undefined>;
    if (host && type) return [{ host: hostName(host, domain.name), type: type.toUpperCase() }];
    if (!recordId) return [];
    const record = await this.records.get(domain, Number(recordId));
    return [{ host: record.host, type: record.type }];
  }
}
