import type { LeaseStore } from '../election/lease-store.ts';
import type { Transport } from '../transport/transport.ts';

/** What a span says besides its name. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  readonly attributes?: SpanAttributes;
  /** The header `traceparent` of whoever asked, if there is one (W3C Trace Context). */
  readonly traceparent?: string | undefined;
}

/** Adds attributes to the span that runs. */
export type Annotate = (attributes: SpanAttributes) => void;

/** Where a program spends its time, for whoever collects that (O3). */
export interface Tracer {
  /** Runs `work` inside a span and gives what it gives; a rejection marks the span as failed and goes on to the caller. */
  span<T>(name: string, options: SpanOptions, work: (annotate: Annotate) => Promise<T>): Promise<T>;
}

/** Spans of requests to an API server: until the headers of the answer. The server gets no `traceparent` (O3). */
export const tracedTransport =
  (transport: Transport, tracer: Tracer): Transport =>
  (request) => {
    const attributes = { 'http.request.method': request.method, 'url.path': request.target.split('?')[0] ?? '' };
    return tracer.span('api request', { attributes }, async (annotate) => {
      const answer = await transport(request);
      annotate({ 'http.response.status_code': answer.status });
      return answer;
    });
  };

/** Spans of what an elector asks of its Lease. */
export function tracedLeaseStore(store: LeaseStore, tracer: Tracer, lease: string): LeaseStore {
  const traced = <T>(step: string, work: () => Promise<T>): Promise<T> =>
    tracer.span('leader election', { attributes: { lease, step } }, work);
  return {
    get: (options) => traced('get', () => store.get(options)),
    create: (spec, options) => traced('create', () => store.create(spec, options)),
    update: (renewed, options) => traced('update', () => store.update(renewed, options)),
  };
}

/** As much of `@opentelemetry/api` as is used here; the package is no dependency of ours. */
export interface OpenTelemetryApi {
  readonly trace: { getTracer(name: string): OpenTelemetryTracer };
  readonly context: { active(): unknown; with<T>(context: unknown, work: () => T): T };
  readonly propagation: { extract(context: unknown, carrier: object): unknown };
}

interface OpenTelemetryTracer {
  startActiveSpan<T>(name: string, work: (span: OpenTelemetrySpan) => T): T;
}

interface OpenTelemetrySpan {
  setAttributes(attributes: SpanAttributes): unknown;
  recordException(error: Error | string): void;
  setStatus(status: { readonly code: number }): unknown;
  end(): void;
}

/** `SpanStatusCode.ERROR`. */
const FAILED = 2;

/** Spans of OpenTelemetry; without an SDK in the process its API does nothing, at next to no cost. */
export function openTelemetryTracer({ trace, context, propagation }: OpenTelemetryApi, name: string): Tracer {
  const tracer = trace.getTracer(name);
  return {
    span: (title, { attributes = {}, traceparent }, work) => {
      const run = () =>
        tracer.startActiveSpan(title, async (span) => {
          try {
            span.setAttributes(attributes);
            return await work((more) => void span.setAttributes(more));
          } catch (thrown) {
            span.recordException(thrown instanceof Error ? thrown : String(thrown));
            span.setStatus({ code: FAILED });
            throw thrown;
          } finally {
            span.end();
          }
        });
      if (traceparent === undefined) return run();
      return context.with(propagation.extract(context.active(), { traceparent }), run);
    },
  };
}

const PACKAGE = '@opentelemetry/api';

/** A tracer where `@opentelemetry/api` is installed, undefined where it is not; `name` is that of the program. */
export async function findTracer(
  name: string,
  load: (module: string) => Promise<unknown> = (module) => import(module),
): Promise<Tracer | undefined> {
  try {
    const api = await load(PACKAGE);
    return isOpenTelemetry(api) ? openTelemetryTracer(api, name) : undefined;
  } catch {
    return undefined;
  }
}

const isOpenTelemetry = (value: unknown): value is OpenTelemetryApi =>
  typeof value === 'object' && value !== null && 'trace' in value && 'context' in value && 'propagation' in value;
