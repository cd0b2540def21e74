import { Injectable } from '@nestjs/common';
import {
  type Attributes,
  type Context,
  type ContextManager,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** Adds attributes to a span. Their values are few, and never secret. */
export type Annotate = (attributes: Attributes, failed?: boolean) => void;

interface SpanOptions {
  /** it calls another system */
  client?: boolean;
  /** `root`: a trace of its own; `child`: only within another span; left out: within another span if there is one */
  place?: 'root' | 'child';
  attributes?: Attributes;
}

/** The span of a request, which ends with its answer. */
interface RequestSpan {
  run(work: () => void): void;
  /** @param route pattern of the route, never the path */
  end(route: string, status: number): void;
}

const ignored: Annotate = () => undefined;

/** The spans of one application. */
@Injectable()
export class Traces {
  /** null: nothing is traced, at no cost */
  private tracer: Tracer | null = null;
  private contexts: ContextManager | null = null;

  /** Where spans go from now on, and what carries the current one along. */
  begin(tracer: Tracer, contexts: ContextManager): void {
    this.tracer = tracer;
    this.contexts = contexts;
  }

  /** From now on nothing is traced. */
  end(): void {
    this.tracer = null;
  }

  /** Runs `work` in a span, if it is to be traced. An error marks the span, without its message. */
  async span<T>(
    name: string,
    { client = false, place, attributes = {} }: SpanOptions,
    work: (annotate: Annotate) => Promise<T>,
  ): Promise<T> {
    const parent = this.tracer && this.around(place);
    if (!this.tracer || !parent) return work(ignored);
    const kind = client ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.tracer.startSpan(name, { kind, attributes }, parent);
    const annotate: Annotate = (more, failed) => {
      span.setAttributes(more);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
    };
    try {
      return await this.within(trace.setSpan(parent, span), () => work(annotate));
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  /** Runs long-lived work outside the current span, so that it does not become part of that trace. */
  apart<T>(work: () => T): T {
    return this.within(ROOT_CONTEXT, work);
  }

  /**
   * Begins the span of a request; null where nothing is traced.
   * @param traceparent the caller's header (W3C Trace Context), whose trace the span joins
   */
  request(method: string, requestId: string, traceparent: string | string[] | undefined): RequestSpan | null {
    if (!this.tracer) return null;
    const parent = remote(String(traceparent ?? ''));
    const attributes = { 'http.request.method': method, request_id: requestId };
    const span = this.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    return {
      run: (work) => this.within(trace.setSpan(parent, span), work),
      end: (route, status) => finish(span, `${method} ${route}`, { 'http.route': route }, status),
    };
  }

  private within<T>(context: Context, work: () => T): T {
    return this.contexts ? this.contexts.with(context, work) : work();
  }

  /**
   * The parent of a new span; null: it is not traced. A span that has ended is no parent, as that of a request that has
   * set up a timer.
   */
  private around(place: SpanOptions['place']): Context | null {
    const active = this.contexts?.active() ?? ROOT_CONTEXT;
    const span = trace.getSpan(active);
    if (!span || place === 'root') return place === 'child' ? null : ROOT_CONTEXT;
    // the caller has turned off sampling
    if (!(span.spanContext().traceFlags & TraceFlags.SAMPLED)) return null;
    if (span.isRecording()) return active;
    return place === 'child' ? null : ROOT_CONTEXT;
  }
}

function finish(span: Span, name: string, attributes: Attributes, status: number): void {
  span.updateName(name);
  span.setAttributes({ ...attributes, 'http.response.status_code': status });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Parses `version-trace-parent-flags`; newer versions may append more. */
function remote(traceparent: string): Context {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent) ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return version === 'ff' || !isSpanContextValid(parent) ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}
