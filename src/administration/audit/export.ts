import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { AuditView, ExportFormat } from '../../audit/audit.dto.js';
import { JSON_HEAD, JSON_TAIL } from '../../audit/export-check.js';
import { timeMs } from '../../platform/common/clock.js';
import { csvCell } from '../../platform/common/csv.js';
import { downloads } from '../../platform/common/downloads.js';
import type { Logger } from '../../platform/common/logger.js';

const TYPES: Record<ExportFormat, string> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

type Column = [name: string, value: (entry: AuditView) => unknown];
const plain = (...names: (keyof AuditView)[]): Column[] => names.map((name) => [name, (entry) => entry[name]]);

const CSV: Column[] = [
  ...plain('seq', 'created_at'),
  ['actor_type', ({ actor }) => actor.type],
  ['user_id', ({ actor }) => actor.user_id],
  ['username', ({ actor }) => actor.username],
  ['token_id', ({ actor }) => actor.token_id],
  ['token_name', ({ actor }) => actor.token_name],
  ...plain('action', 'domain', 'domain_id'),
  ['target_type', ({ target }) => target?.type],
  ['target_id', ({ target }) => target?.id],
  ['target_name', ({ target }) => target?.name],
  ...plain(
    'before',
    'after',
    'result',
    'error',
    'ip',
    'user_agent',
    'request_id',
    'change_set_id',
    'prev_hash',
    'hash',
  ),
];

/** The text of an export, piece by piece. */
async function* written(format: ExportFormat, pieces: AsyncGenerator<AuditView[]>): AsyncGenerator<string> {
  if (format === 'csv') yield `${CSV.map(([name]) => name).join(',')}\r\n`;
  if (format === 'json') yield JSON_HEAD;
  let first = true;
  for await (const entries of pieces) {
    if (format === 'csv') {
      yield entries.map((entry) => `${CSV.map(([, value]) => csvCell(value(entry))).join(',')}\r\n`).join('');
    } else if (format === 'ndjson') {
      yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    } else {
      yield `${first ? '' : ','}\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}`;
    }
    first = false;
  }
  if (format === 'json') yield `\n${JSON_TAIL}\n`;
}

/**
 * Streams an export, as fast as the client reads. A failure before the first entries is answered as usual; a later one
 * closes the connection, so that nobody takes a part for the whole.
 * @param user the caller. @throws AppError 429001
 */
export async function sendExport(
  user: number,
  response: Response,
  format: ExportFormat,
  pieces: AsyncGenerator<AuditView[]>,
  logger: Logger,
): Promise<void> {
  const leave = downloads.takeOrRefuse({ user });
  try {
    await send(response, format, pieces, logger);
  } finally {
    leave();
  }
}

async function send(
  response: Response,
  format: ExportFormat,
  pieces: AsyncGenerator<AuditView[]>,
  logger: Logger,
): Promise<void> {
  const ahead = await pieces.next();
  async function* all(): AsyncGenerator<AuditView[]> {
    if (!ahead.done) yield ahead.value;
    yield* pieces;
  }
  const day = new Date(timeMs()).toISOString().slice(0, 10);
  response.setHeader('Content-Type', TYPES[format]);
  response.setHeader('Content-Disposition', `attachment; filename="audit-${day}.${format}"`);
  try {
    await pipeline(Readable.from(written(format, all()), { highWaterMark: 1 }), response);
  } catch (err) {
    // a client that disconnects is not worth a warning
    if ((err as { code?: string }).code !== 'ERR_STREAM_PREMATURE_CLOSE')
      logger.warn({ err }, 'an export of the audit log broke off');
    response.destroy();
  }
}
