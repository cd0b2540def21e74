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

/** null: nothing is traced, and what is asked for here costs nothing */
let tracer: Tracer | null = null;

/** Where spans go from now on; null: nowhere. */
export const traceWith = (given: Tracer | null): void => {
  tracer = given;
};

/** What a span tells of a call of somebody else, besides its duration. Values are few, and none of them is secret. */
export type Told = (attributes: Attributes, failed?: boolean) => void;

interface SpanOptions {
  /** it calls somebody else */
  client?: boolean;
  /** `root`: a trace of its own; `child`: none without something around it; else whichever there is */
  place?: 'root' | 'child';
  attributes?: Attributes;
}

/** What lasts and began before: a trace that is over takes no more, as of a timer that a request has set up. */
function around(place: SpanOptions['place']): Context | null {
  const span = trace.getActiveSpan();
  if (!span || place === 'root') return place === 'child' ? null : ROOT_CONTEXT;
  // whoever asked wants no trace
  if (!(span.spanContext().traceFlags & TraceFlags.SAMPLED)) return null;
  if (span.isRecording()) return context.active();
  return place === 'child' ? null : ROOT_CONTEXT;
}

const NOBODY: Told = () => undefined;

/** Does something under a span of its own, where there is to be one. A failure marks it; its words stay out of it. */
export async function traced<T>(
  name: string,
  { client = false, place, attributes }: SpanOptions,
  work: (told: Told) => Promise<T>,
): Promise<T> {
  const parent = tracer && around(place);
  if (!tracer || !parent) return work(NOBODY);
  const kind = client ? SpanKind.CLIENT : SpanKind.INTERNAL;
  const span = tracer.startSpan(name, { kind, attributes }, parent);
  const told: Told = (more, failed) => {
    span.setAttributes(more);
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  };
  try {
    return await context.with(trace.setSpan(parent, span), () => work(told));
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Does something that lasts, outside of what is around it: it would be a part of a trace that does not end. */
export const apart = <T>(work: () => T): T => context.with(ROOT_CONTEXT, work);

/** The span of a request, which ends with its answer. */
export interface RequestSpan {
  run(work: () => void): void;
  /** @param route pattern of the route, never the path */
  end(route: string, status: number): void;
}

/**
 * Begins the span of a request; null where nothing is traced.
 * @param traceparent the caller's header (W3C Trace Context): the span becomes a part of that trace
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

/** `version-trace-parent-flags`; newer versions may have more behind it. */
function remote(traceparent: string): Context {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent) ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return version === 'ff' || !isSpanContextValid(parent) ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}
