import type { AuditView, ExportFormat } from '../../audit/audit.dto.js';
import { JSON_HEAD, JSON_TAIL } from '../../audit/export-check.js';
import { timeMs } from '../../platform/common/clock.js';
import { csvCell } from '../../platform/common/csv.js';
import type { Download } from '../../platform/http/download.js';

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
    'door',
    'prev_hash',
    'hash',
  ),
];

/** The text of an export, piece by piece, the first one with the first entries. */
async function* written(format: ExportFormat, pieces: AsyncGenerator<AuditView[]>): AsyncGenerator<string> {
  let text = format === 'csv' ? `${CSV.map(([name]) => name).join(',')}\r\n` : format === 'json' ? JSON_HEAD : '';
  let first = true;
  for await (const entries of pieces) {
    if (format === 'csv') {
      text += entries.map((entry) => `${CSV.map(([, value]) => csvCell(value(entry))).join(',')}\r\n`).join('');
    } else if (format === 'ndjson') {
      text += entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    } else {
      text += `${first ? '' : ','}\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}`;
    }
    first = false;
    yield text;
    text = '';
  }
  yield format === 'json' ? `${text}\n${JSON_TAIL}\n` : text;
}

/** An export as a file. */
export function auditFile(format: ExportFormat, pieces: AsyncGenerator<AuditView[]>): Download {
  const day = new Date(timeMs()).toISOString().slice(0, 10);
  return { contentType: TYPES[format], fileName: `audit-${day}.${format}`, pieces: written(format, pieces) };
}
