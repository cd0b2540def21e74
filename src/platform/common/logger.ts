import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type LogFn, type LoggerOptions, pino } from 'pino';

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

/** The logger of one application, as Nest injects it. */
export abstract class Logger {
  abstract readonly fatal: LogFn;
  abstract readonly error: LogFn;
  abstract readonly warn: LogFn;
  abstract readonly info: LogFn;
  abstract readonly debug: LogFn;
  abstract readonly trace: LogFn;
  abstract isLevelEnabled(level: string): boolean;
}

/**
 * A logger of JSON lines, to standard output or the given destination; values that look like secrets are redacted in
 * the first levels.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
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
  return pino(options, destination);
}

/** Nest's own messages on the same logger; its start-up messages are debug. */
export const nestLogger = (logger: Logger): LoggerService => ({
  log: (message, ...rest) => logger.debug({ context: rest.at(-1) }, String(message)),
  error: (message, ...rest) => logger.error({ stack: rest[0], context: rest.at(-1) }, String(message)),
  warn: (message, ...rest) => logger.warn({ context: rest.at(-1) }, String(message)),
  debug: (message, ...rest) => logger.debug({ context: rest.at(-1) }, String(message)),
  verbose: (message) => logger.trace(String(message)),
});
