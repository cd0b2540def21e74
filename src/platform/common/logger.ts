import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

const SECRET_KEYS = [
  'authorization',
  'password',
  'old_password',
  'new_password',
  'credentials',
  'token',
  'setup_code',
  'secret',
  'api_key',
  'cookie',
];

let root: Logger = pino({ level: 'info' });

/**
 * Configures JSON lines on standard output or the given destination; values that look like secrets are redacted in the
 * first levels.
 */
export function configureLogger(level: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    // errors are logged without other properties: those of a driver error contain the statement's values
    serializers: {
      err: (error: Error & { code?: unknown }) =>
        error instanceof Error
          ? { type: error.name, code: error.code, message: error.message, stack: error.stack }
          : error,
    },
    redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '***' },
  };
  root = pino(options, destination);
  return root;
}

/** The process's logger. */
export const log = (): Logger => root;

/** Nest's own messages on the same logger; its start-up messages are debug. */
export const nestLogger: LoggerService = {
  log: (message, ...rest) => root.debug({ context: rest.at(-1) }, String(message)),
  error: (message, ...rest) => root.error({ stack: rest[0], context: rest.at(-1) }, String(message)),
  warn: (message, ...rest) => root.warn({ context: rest.at(-1) }, String(message)),
  debug: (message, ...rest) => root.debug({ context: rest.at(-1) }, String(message)),
  verbose: (message) => root.trace(String(message)),
};
