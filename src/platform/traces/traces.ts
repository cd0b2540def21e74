import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** null: nothing is traced, at no cost */
let tracer: Tracer | null = null;

/** Where spans go from now on; null: nowhere. */
export const traceWith = (given: Tracer | null): void => {
  tracer = given;
};

/** Adds attributes to a span. Their values are few, and never secret. */
export type Annotate = (attributes: Attributes, failed?: boolean) => void;

interface SpanOptions {
  /** it calls another system */
  client?: boolean;
  /** `root`: a trace of its own; `child`: only within another span; left out: within another span if there is one */
  place?: 'root' | 'child';
  attributes?: Attributes;
}

/**
 * The parent of a new span; null: it is not traced. A span that has ended is no parent, as that of a request that has
 * set up a timer.
 */
function around(place: SpanOptions['place']): Context | null {
  const span = trace.getActiveSpan();
  if (!span || place === 'root') return place === 'child' ? null : ROOT_CONTEXT;
  // the caller has turned off sampling
  if (!(span.spanContext().traceFlags & TraceFlags.SAMPLED)) return null;
  if (span.isRecording()) return context.active();
  return place === 'child' ? null : ROOT_CONTEXT;
}

const ignored: Annotate = () => undefined;

/** Runs `work` in a span, if it is to be traced. An error marks the span, without its message. */
export async function traced<T>(
  name: string,
  { client = false, place, attributes }: SpanOptions,
  work: (annotate: Annotate) => Promise<T>,
): Promise<T> {
  const parent = tracer && around(place);
  if (!tracer || !parent) return work(ignored);
  const kind = client ? SpanKind.CLIENT : SpanKind.INTERNAL;
  const span = tracer.startSpan(name, { kind, attributes }, parent);
  const annotate: Annotate = (more, failed) => {
    span.setAttributes(more);
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  };
  try {
    return await context.with(trace.setSpan(parent, span), () => work(annotate));
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Runs long-lived work outside the current span, so that it does not become part of that trace. */
export const apart = <T>(work: () => T): T => context.with(ROOT_CONTEXT, work);

/** The span of a request, which ends with its answer. */
interface RequestSpan {
  run(work: () => void): void;
  /** @param route pattern of the route, never the path */
  end(route: string, status: number): void;
}

/**
 * Begins the span of a request; null where nothing is traced.
 * @param traceparent the caller's header (W3C Trace Context), whose trace the span joins
 */
export function requestSpan(
  method: string,
  requestId: string,
  traceparent: string | string[] | undefined,
): RequestSpan | null {
  if (!tracer) return null;
  const parent = remote(String(traceparent ?? ''));
  const attributes = { 'http.request.method': method, request_id: requestId };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  return {
    run: (work) => context.with(trace.setSpan(parent, span), work),
    end: (route, status) => finish(span, `${method} ${route}`, { 'http.route': route }, status),
  };
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
