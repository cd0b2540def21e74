import { gunzipSync, gzipSync } from 'node:zlib';
import { NotFoundException, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import compression from 'compression';
import type { Express, NextFunction, Request, Response } from 'express';
import { AppModule } from './app.module.js';
import { FailedChanges } from './audit/failed-changes.service.js';
import { cookieSessions } from './auth/sessions/session-cookie.js';
import { closedDoors } from './http/closed-doors.js';
import { serveConsole } from './http/console.js';
import { deadlines } from './http/deadline.interceptor.js';
import { ErrorFilter } from './http/error.filter.js';
import { observed } from './http/observed.js';
import { describeApi } from './http/openapi.js';
import { apiHeaders, plainText, requestContext } from './http/request-context.js';
import { KeptAnswers } from './idempotency/kept-answers.service.js';
import { type Logger, nestLogger } from './platform/common/logger.js';
import { LoggerModule } from './platform/common/logger.module.js';
import { StartRefused } from './platform/common/start-refused.js';
import { keepRules } from './platform/common/validation.js';
import { VERSION } from './platform/common/version.js';
import type { Config } from './platform/config/config.js';
import { ConfigModule } from './platform/config/config.module.js';
import { DatabaseService } from './platform/database/database.service.js';
import { FastExpressAdapter } from './platform/http/express-adapter.js';
import { options } from './platform/http/methods.js';
import { parseBody, protocolsOf, speaking } from './platform/http/protocol.js';
import { Metrics } from './platform/metrics/metrics.js';
import { metricsHandler } from './platform/metrics/metrics-server.js';
import { Traces } from './platform/traces/traces.js';
import { SettingsService } from './settings/settings.service.js';

/** What the module of Swagger keeps: it asks for the document at each request. */
const NOTHING: OpenAPIObject = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} };

/** Where the door is that has a port of its own. */
const POWERDNS = '/doors/powerdns';

const DOCS_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

/** For pages of `CORS_ORIGINS`. No cookies: who calls proves it by a header, or by a ticket. */
const CORS = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: [
    'Authorization',
    'Content-Type',
    ...['If-Match', 'If-None-Match', 'Idempotency-Key', 'Last-Event-ID', 'Prefer', 'X-Request-Id'],
  ],
  exposedHeaders: [
    'Allow',
    'ETag',
    'Idempotent-Replayed',
    'Link',
    'Location',
    'Preference-Applied',
    'Retry-After',
    'Warning-Guard',
    'X-Request-Id',
    'X-Total-Count',
  ],
  maxAge: 600,
  // an OPTIONS goes on to where `Allow` is answered
  preflightContinue: true,
};

/** Minimum size in bytes for compressing an answer. */
const COMPRESSED_FROM = 4096;

/**
 * The whole application, initialised, ready to listen.
 * @param controllers more than those of its modules
 * @throws ConfigError
 */
export async function createApp(
  config: Config,
  logger: Logger,
  controllers: Type[] = [],
): Promise<NestExpressApplication> {
  const root = {
    module: AppModule,
    imports: [LoggerModule.forRoot(logger), ConfigModule.forRoot(config)],
    controllers,
  };
  const app = await NestFactory.create<NestExpressApplication>(root, new FastExpressAdapter(), {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  const metrics = app.get(Metrics);
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(requestContext(config, logger));
  app.use(deadlines(config.requestDeadlineMs));
  app.use(observed(config, metrics, app.get(Traces), logger));
  app.use(apiHeaders);
  app.use('/api', cookieSessions(config));
  app.use(compression({ threshold: COMPRESSED_FROM }));
  // before `options`, which ends a preflight
  if (config.corsOrigins.length) app.enableCors({ ...CORS, origin: config.corsOrigins });
  app.use(options);
  const foreign = protocolsOf(app.get(ModulesContainer));
  const closed = closedDoors(app.get(SettingsService), app.get(DatabaseService));
  for (const protocol of foreign) app.use(protocol.prefix, speaking(protocol), closed);
  app.use(parseBody);
  app.use(plainText);
  const elsewhere = foreign.flatMap(({ prefix }) => [prefix.slice(1), `${prefix.slice(1)}/{*path}`]);
  app.setGlobalPrefix('api', { exclude: ['health/live', 'health/ready', ...elsewhere] });

  // built on first use: it takes about 0.4 s; kept as packed text: as objects it holds 5 MiB, as text 0.6
  let text: Buffer | undefined;
  const document = (): OpenAPIObject => {
    text ??= gzipSync(JSON.stringify(describeApi(app, config, VERSION)));
    return JSON.parse(gunzipSync(text).toString());
  };
  app.use('/api/docs', (_request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Content-Security-Policy', DOCS_POLICY);
    next();
  });
  SwaggerModule.setup('api/docs', app, NOTHING, {
    patchDocumentOnRequest: document,
    jsonDocumentUrl: 'api/openapi.json',
    customSiteTitle: 'Zoneward API',
  });
  const front: Express = app.getHttpAdapter().getInstance();
  // a client that does not accept HTML is redirected to the description of the API
  const page = serveConsole(
    front,
    config,
    app.get(SettingsService),
    foreign.map(({ prefix }) => prefix),
    logger,
  );
  front.get('/', (request, response) =>
    page(request, response, () => response.redirect(302, `${config.basePath}/api/docs`)),
  );
  if (config.metrics.on) front.get('/metrics', metricsHandler(config, metrics));
  if (config.metrics.on || config.metrics.port) metrics.measureProcess(VERSION);
  await app.init();
  keepRules();
  // Nest answers unknown paths below /api; elsewhere Express would answer with HTML
  front.use(page);
  const filter = new ErrorFilter(app.get(FailedChanges), app.get(DatabaseService), app.get(KeptAnswers), logger);
  const answer = (error: unknown, request: Request, response: Response) =>
    void filter.catch(error, new ExecutionContextHost([request, response])).catch((err) => {
      logger.error({ err }, 'a failure could not be answered');
      response.destroy();
    });
  front.use((request: Request, response: Response) => answer(new NotFoundException(), request, response));
  front.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    answer(error, request, response),
  );
  return app;
}

/**
 * Listens at the ports of an application. @param port of the configuration, unless another one is wanted
 * @throws StartRefused where that is not possible
 */
export async function listen(app: NestExpressApplication, config: Config, port = config.port): Promise<void> {
  const { host, basePath, powerdnsPort } = config;
  await app.listen(port, host).catch(refuse('PORT', port, host));
  if (powerdnsPort === null) return;
  const adapter = app.getHttpAdapter() as unknown as FastExpressAdapter;
  await adapter.listenBelow(basePath + POWERDNS, powerdnsPort, host).catch(refuse('POWERDNS_PORT', powerdnsPort, host));
}

const refuse = (variable: string, port: number, host: string) => (error: NodeJS.ErrnoException) => {
  const where = `${host}, port ${port}`;
  if (error.code === 'EADDRINUSE')
    throw new StartRefused(`Something listens on ${where} already: end it, or set ${variable}`);
  if (error.code === 'EACCES')
    throw new StartRefused(`Listening on ${where} is not permitted: set ${variable} to one above 1023`);
  throw error;
};
