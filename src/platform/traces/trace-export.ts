import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ContextManager } from '@opentelemetry/api';
import type { SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { within } from '../common/clock.js';
import { Logger } from '../common/logger.js';
import { VERSION } from '../common/version.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { Traces } from './traces.js';

/** ms that the shutdown waits for the last spans */
const STOP_WAIT_MS = 3_000;
/** ms that spans are gathered at most */
const DELAY_MS = 1_000;
/** spans that are queued: more are dropped */
const MAX_WAITING = 2048;

/**
 * Sends spans to a collector (OTLP over HTTP, JSON), where one is configured; the packages for it are loaded only then.
 * While the collector is unavailable, queued spans are lost, and nothing else waits for it.
 */
@Injectable()
export class TraceExport implements OnModuleInit, OnApplicationShutdown {
  private provider: TracerProvider | undefined;
  private contexts: ContextManager | undefined;
  private failing = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly traces: Traces,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    const { traces } = this.config;
    if (!traces) return;
    // the packages read these variables from there; ours may come from a .env file
    Object.assign(process.env, traces);
    const [
      { BatchSpanProcessor, TracerProvider },
      { OTLPTraceExporter },
      resources,
      { AsyncLocalStorageContextManager },
    ] = await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/context-async-hooks'),
    ]);
    const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
    const resource = defaultResource()
      .merge(resourceFromAttributes({ 'service.version': VERSION }))
      .merge(detectResources({ detectors: [envDetector] }));
    const exporter = this.logged(new OTLPTraceExporter());
    const processor = new BatchSpanProcessor({ exporter, scheduledDelayMillis: DELAY_MS, maxQueueSize: MAX_WAITING });
    this.provider = new TracerProvider({ resource, spanProcessors: [processor] });
    this.contexts = new AsyncLocalStorageContextManager().enable();
    this.traces.begin(this.provider.getTracer('zoneward', VERSION), this.contexts);
    this.logger.info({ endpoint: traces.OTEL_EXPORTER_OTLP_ENDPOINT }, 'traces');
  }

  /** After requests and jobs have ended. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.provider) return;
    this.traces.end();
    await within(
      this.provider.shutdown().catch(() => undefined),
      STOP_WAIT_MS,
    );
    this.contexts?.disable();
  }

  /** Wraps the exporter, with one line of the log when it begins to fail, and one when it succeeds again. */
  private logged(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          const failed = result.error !== undefined;
          if (failed && !this.failing) this.logger.warn({ err: result.error?.message }, 'traces cannot be handed over');
          if (!failed && this.failing) this.logger.info('traces are handed over again');
          this.failing = failed;
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    };
  }
}
