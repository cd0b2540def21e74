import type { FieldText } from '../common/words/field-text.js';

// Class of a connection failure; driver texts may hold hosts, users and file names.
const WORDS: [RegExp, FieldText][] = [
  [/ENOTFOUND|EAI_AGAIN|cannot be resolved/, 'The host name is not known'],
  [/outbound rules/, 'Connections to this address are not allowed (outbound rules)'],
  [/ECONNREFUSED/, 'Nothing listens at this host and port'],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i, 'The server cannot be reached'],
  [
    /28P01|28000|ER_ACCESS_DENIED|ER_DBACCESS_DENIED|password/i,
    'User name or password is wrong, or the user may not use this database',
  ],
  [/3D000|ER_BAD_DB_ERROR/, 'The database does not exist'],
  [/SSL|TLS|certificate/i, 'The TLS connection failed'],
  [/42501|ER_TABLEACCESS_DENIED|permission denied/i, 'The user lacks rights in this database'],
  [/SQLITE_CANTOPEN|unable to open|EACCES|EROFS/i, 'The file cannot be opened in the data directory'],
  [/SQLITE_NOTADB|not a database/i, 'The file is not an SQLite database'],
];

/** A connection failure in plain words, without the driver's text. */
export function failureWords(error: unknown): FieldText {
  const e = error as { code?: string; message?: string; driverError?: { code?: string } };
  const text = `${e.code ?? ''} ${e.driverError?.code ?? ''} ${e.message ?? ''}`;
  return WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'The connection failed';
}
