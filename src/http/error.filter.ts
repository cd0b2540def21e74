import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, NotFoundException } from '@nestjs/common';
import type { Response } from 'express';
import type { ZoneRequest } from '../access/access.js';
import { FailedChanges } from '../audit/failed-changes.service.js';
import { giveAgain, KeptAnswers } from '../idempotency/kept-answers.service.js';
import { AppError, errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { inLanguage } from '../platform/common/translate.js';
import { messageLanguage } from '../platform/common/words/language.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { isDatabaseDown, isDatabaseSlow, isFromDriver, pointsNowhere, whyUnwritable } from '../platform/database/db.js';
import { methodsOf } from '../platform/http/methods.js';
import { currentProtocol, failureBody } from '../platform/http/protocol.js';

const UNDECODABLE = errors.field('path', 'cannot be decoded');
const INTERNAL = errors.failed('internal');

/** Nest's replacement of the parser's own errors. */
function unparsed(error: HttpException): AppError | null {
  if (error.getStatus() >= 500) return null;
  return /URI|decode/.test(error.message) ? UNDECODABLE : errors.field('body', 'is not valid JSON');
}

/** What a parser of bodies has against one; null: it is none of its errors. */
function misread(error: unknown): AppError | null {
  // Nest puts an error of its own around it
  const { type, status } = ((error instanceof HttpException && error.cause) || error) as {
    type?: string;
    status?: number;
  };
  if (type === 'entity.parse.failed') return errors.field('body', 'is not valid JSON');
  return typeof type === 'string' && status && status < 500 ? errors.field('body', 'cannot be read') : null;
}

/** There is no handler for the path, or for the method. */
function unhandled(request: ZoneRequest): AppError {
  const methods = methodsOf(request);
  if (methods.length) return errors.method(request.method, methods);
  return errors.notFound('route', { method: request.method, path: request.originalUrl.split('?')[0] as string });
}

/** What clients are shown of a failure; null where only the log has the details. */
function publicError(error: unknown, request: ZoneRequest): AppError | null {
  if (error instanceof AppError) return error;
  if (isDatabaseDown(error)) return errors.notReady('database_down', 5);
  if (isDatabaseSlow(error)) return errors.notReady('database_slow', 5);
  const unwritable = whyUnwritable(error);
  if (unwritable) return errors.notReady('database_unwritable', 30, { why: unwritable });
  if (pointsNowhere(error)) return errors.conflict('changed_meanwhile');
  const unread = misread(error);
  if (unread) return unread;
  if (error instanceof NotFoundException) return unhandled(request);
  if (error instanceof HttpException) return unparsed(error);
  // a path such as /%ff cannot be decoded
  if (error instanceof URIError) return UNDECODABLE;
  return null;
}

/**
 * Every failure is sent as its protocol says, ours as `{code, msg, data?}`, with a real status; what is not meant for
 * clients is hidden behind the request id.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly failedChanges: FailedChanges,
    private readonly database: DatabaseService,
    private readonly kept: KeptAnswers,
    private readonly logger: Logger,
  ) {}

  /** The failure of a statement since another version changed the schema, which the regular check has not seen yet. */
  private async ofSchema(error: unknown): Promise<AppError | null> {
    if (!isFromDriver(error)) return null;
    await this.database.look();
    return this.database.unfit ? errors.notReady('schema_unfit', 30, { words: this.database.unfit }) : null;
  }

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<ZoneRequest>();
    const response = host.switchToHttp().getResponse<Response>();
    const shown = publicError(error, request) ?? (await this.ofSchema(error));
    const answer = shown ?? INTERNAL;
    const replay = await this.kept.ofDeletion(request);
    if (replay) {
      giveAgain(replay, response);
      response.end(replay.body);
      return;
    }
    const { requestId } = request.caller;
    const { method, originalUrl } = request;
    const line = { requestId, method, path: originalUrl.split('?')[0], code: answer.code };
    if (!shown) this.logger.error({ ...line, reason: (error as Error)?.message, err: error }, 'internal error');
    else if (answer.status >= 500) this.logger.warn({ ...line, reason: answer.message }, 'failed');
    await this.failedChanges.record(request, answer.message);
    if (response.headersSent) {
      response.end();
      return;
    }
    if (answer.status === 405) {
      response.setHeader('Allow', (answer.data as { methods: string[] }).methods.join(', '));
    }
    if (answer.retryAfterSeconds) response.setHeader('Retry-After', String(Math.ceil(answer.retryAfterSeconds)));
    response.status(answer.status);
    const language = messageLanguage(request.acceptsLanguages(), request.caller.principal?.language);
    response.setHeader('Content-Language', language);
    response.vary('Accept-Language');
    const said = inLanguage(answer, language);
    const protocol = currentProtocol();
    const body = protocol.repeats?.failure(said) ?? failureBody(said);
    await this.kept.keepFailure(request, response, answer, JSON.stringify(body));
    protocol.failure(said, response);
  }
}
