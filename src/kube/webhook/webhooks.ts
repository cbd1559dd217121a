import type { Json, JsonObject } from '../../api/json.ts';
import { type Kind, type KubeObject, resourceOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { parseDuration } from '../../base/duration.ts';
import { messageOf, terminalError, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { parseJson, stringifyJson } from '../../object/json-text.ts';
import type { Counter, Gauge, Histogram, Metrics } from '../metrics/metrics.ts';
import type { Tracer } from '../metrics/tracing.ts';
import type { ServedRequest, ServedResponse } from '../serving/https-listener.ts';
import { BodyTooLarge } from '../serving/request-body.ts';
import { admissionAnswer, refusedReview } from './admission-answer.ts';
import type { Operation } from './admission-request.ts';
import { Conversions, conversionAnswer, type Spoke } from './conversion.ts';
import {
  type AdmissionOptions,
  type AdmissionType,
  type Registration,
  ruleOf,
  webhookPath,
} from './registration.ts';
import {
  type AdmissionHandler,
  type Defaulter,
  defaulterHandler,
  type Validator,
  validatorHandler,
} from './typed-webhooks.ts';

export interface WebhooksOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Told of each request; the `traceparent` of the API server is its parent (O3). */
  readonly tracer?: Tracer;
  /** Runs defaulters twice and fails when the second run changes anything: for tests (W4). */
  readonly checksDefaulters?: boolean;
}

/** What answers at one path. */
type Endpoint = (request: ServedRequest, signal: AbortSignal) => Promise<ServedResponse>;

export const CONVERSION_PATH = '/convert';
/** What an API server waits at most, and what it waits unless told otherwise. */
const LONGEST_MS = 30_000;
const USUAL_MS = 10_000;
const LATENCY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const MOST_BODY_BYTES = 7 * 1024 * 1024;

/**
 * The webhooks of a process: what is registered, and the answers. Knows no sockets: `serve` answers requests of a
 * listener, `local` those of an API server in this process (W8).
 */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #registrations: Registration[] = [];
  readonly #conversions = new Conversions();
  readonly #definitions: string[] = [];
  readonly #latency: Histogram;
  readonly #requests: Counter;
  readonly #inFlight: Gauge;
  readonly #panics: Counter;
  readonly #conversionPanics: Counter;

  constructor(options: WebhooksOptions) {
    const { metrics } = options;
    this.#options = options;
    const name = (text: string) => `controller_runtime_${text}`;
    this.#latency = metrics.histogram({
      name: name('webhook_latency_seconds'),
      help: 'How long requests to a webhook take.',
      labels: ['webhook'],
      buckets: LATENCY_BUCKETS,
    });
    this.#requests = metrics.counter({
      name: name('webhook_requests_total'),
      help: 'Requests to a webhook by HTTP status.',
      labels: ['webhook', 'code'],
    });
    this.#inFlight = metrics.gauge({
      name: name('webhook_requests_in_flight'),
      help: 'Requests to a webhook that are being answered.',
      labels: ['webhook'],
    });
    this.#panics = metrics.counter({
      name: name('webhook_panics_total'),
      help: 'Admission handlers that failed.',
    });
    this.#conversionPanics = metrics.counter({
      name: name('conversion_webhook_panics_total'),
      help: 'Conversions that failed.',
    });
    this.#panics.add({}, 0);
    this.#conversionPanics.add({}, 0);
  }

  /** Objects of the kind pass through `defaulter` when they are written. */
  mutating<T extends KubeObject, I>(
    kind: Kind<T, I>,
    defaulter: Defaulter<T>,
    options: AdmissionOptions = {},
  ): this {
    const handler = defaulterHandler(defaulter, this.#options.checksDefaulters ?? false);
    return this.#ofKind('mutating', kind, handler, { operations: ['CREATE', 'UPDATE'], ...options });
  }

  /** Writes of the kind are judged by `validator`. */
  validating<T extends KubeObject, I>(
    kind: Kind<T, I>,
    validator: Validator<T>,
    options: AdmissionOptions = {},
  ): this {
    const judged: readonly Operation[] = [
      ...(validator.validateCreate === undefined ? [] : ['CREATE' as const]),
      ...(validator.validateUpdate === undefined ? [] : ['UPDATE' as const]),
      ...(validator.validateDelete === undefined ? [] : ['DELETE' as const]),
    ];
    return this.#ofKind('validating', kind, validatorHandler(validator), { operations: judged, ...options });
  }

  /** Anything else: any rules, any decision. Throws a userError when the path is taken (W2). */
  admission(registration: Registration, handler: AdmissionHandler): this {
    const { path } = registration;
    this.#add(path, (request, signal) => this.#admission(request, signal, handler));
    this.#registrations.push(registration);
    return this;
  }

  /** The versions of a kind become one another through `hub` at `/convert` (W5). */
  converting<Hub extends KubeObject, I>(hub: Kind<Hub, I>, ...spokes: readonly Spoke<Hub>[]): this {
    this.#conversions.add(hub as Kind<Hub>, spokes);
    this.#definitions.push(resourceOf(hub));
    if (!this.#endpoints.has(CONVERSION_PATH)) this.#add(CONVERSION_PATH, (...call) => this.#conversion(...call));
    return this;
  }

  /** In the order in which they were registered. */
  get registrations(): readonly Registration[] {
    return this.#registrations;
  }

  /** Names of the definitions whose versions are converted here: `widgets.ex.io`. */
  get convertedDefinitions(): readonly string[] {
    return this.#definitions;
  }

  /** Answers a request of a listener. Bound: may be handed over as it is. */
  readonly serve = async (request: ServedRequest): Promise<ServedResponse> => {
    const endpoint = this.#endpoints.get(request.path);
    if (endpoint === undefined) return { status: 404, body: '404 page not found\n' };
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    const webhook = request.path;
    this.#inFlight.add({ webhook }, 1);
    let code = 500;
    try {
      const response = await this.#traced(request, () => this.#withDeadline(request, endpoint));
      code = response.status;
      return response;
    } finally {
      this.#inFlight.add({ webhook }, -1);
      this.#latency.observe({ webhook }, (clock.monotonicMs() - startMs) / 1000);
      this.#requests.add({ webhook, code: String(code) });
    }
  };

  /** Answers a review of an API server in this process: what its service resolver takes (W8). */
  readonly local = async (review: JsonObject, path: string): Promise<Json> => {
    const body = Buffer.from(stringifyJson(review));
    const response = await this.serve({
      method: 'POST',
      path,
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json' },
      body: () => Promise.resolve(body),
      signal: new AbortController().signal,
    });
    const text = Buffer.from(response.body ?? '').toString('utf8');
    if (response.status !== 200)
      throw terminalError('WebhookFailed', `${path}: ${response.status} ${text.trim()}`);
    return parseJson(text).value;
  };

  #ofKind<T extends KubeObject, I>(
    type: AdmissionType,
    kind: Kind<T, I>,
    handler: AdmissionHandler,
    options: AdmissionOptions & { readonly operations: readonly Operation[] },
  ): this {
    const { path = webhookPath(type, kind), operations } = options;
    if (operations.length === 0) {
      throw userError('EmptyWebhook', `the webhook at ${path} is never asked: it has no operations`);
    }
    return this.admission({ ...options, type, path, rules: [ruleOf(kind as never, operations)] }, handler);
  }

  #add(path: string, endpoint: Endpoint): void {
    if (!path.startsWith('/'))
      throw userError('InvalidPath', `the path "${path}" of a webhook must start with "/"`);
    if (this.#endpoints.has(path)) {
      throw userError('DuplicatePath', `two webhooks have the path "${path}"; give one of them another`);
    }
    this.#endpoints.set(path, endpoint);
    const webhook = path;
    this.#inFlight.set({ webhook }, 0);
    for (const code of ['200', '500']) this.#requests.add({ webhook, code }, 0);
  }

  #traced(request: ServedRequest, answer: () => Promise<ServedResponse>): Promise<ServedResponse> {
    const { tracer } = this.#options;
    if (tracer === undefined) return answer();
    const { path: webhook, headers } = request;
    const { traceparent } = headers;
    const parent = typeof traceparent === 'string' ? traceparent : undefined;
    return tracer.span('webhook', { attributes: { webhook }, traceparent: parent }, answer);
  }

  /** The API server says how long it waits; after that nobody reads the answer (W1). */
  async #withDeadline(request: ServedRequest, endpoint: Endpoint): Promise<ServedResponse> {
    const deadline = new AbortController();
    const onAbort = () => deadline.abort(request.signal.reason);
    request.signal.addEventListener('abort', onAbort, { once: true });
    using _timer = this.#options.clock.timer(timeoutOf(request.query), () => deadline.abort());
    try {
      return await endpoint(request, deadline.signal);
    } finally {
      request.signal.removeEventListener('abort', onAbort);
    }
  }

  async #admission(
    request: ServedRequest,
    signal: AbortSignal,
    handler: AdmissionHandler,
  ): Promise<ServedResponse> {
    const { log } = this.#options;
    const type = request.headers['content-type'] ?? '';
    if (!isJson(type)) {
      return jsonAnswer(refusedReview(`the content type is "${type}"; expected application/json`));
    }
    const body = await bodyOf(request);
    if (body === undefined) {
      const message = `the request is larger than ${MOST_BODY_BYTES} bytes`;
      return jsonAnswer(refusedReview(message, { code: 413, reason: 'RequestEntityTooLarge' }));
    }
    const panicked = () => this.#panics.add({});
    return jsonAnswer(await admissionAnswer(body, handler, { log, signal, panicked }));
  }

  async #conversion(request: ServedRequest, signal: AbortSignal): Promise<ServedResponse> {
    const body = await bodyOf(request);
    if (body === undefined) return { status: 413, body: `the request is larger than ${MOST_BODY_BYTES} bytes\n` };
    const panicked = () => this.#conversionPanics.add({});
    const services = { log: this.#options.log, signal, panicked };
    try {
      return jsonAnswer(await conversionAnswer(body, this.#conversions, services));
    } catch (error) {
      // Without a request there is no uid to answer to.
      return { status: 400, body: `${messageOf(error)}\n` };
    }
  }
}

const isJson = (type: string): boolean => type.split(';')[0]?.trim().toLowerCase() === 'application/json';

const jsonAnswer = (value: JsonObject): ServedResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: stringifyJson(value),
});

/** Undefined when it is too large, whoever notices it. */
async function bodyOf(request: ServedRequest): Promise<Uint8Array | undefined> {
  try {
    const body = await request.body();
    return body.length > MOST_BODY_BYTES ? undefined : body;
  } catch (error) {
    if (error instanceof BodyTooLarge) return undefined;
    throw error;
  }
}

function timeoutOf(query: URLSearchParams): number {
  const text = query.get('timeout');
  if (text === null) return USUAL_MS;
  try {
    const ms = parseDuration(text);
    return ms > 0 ? Math.min(ms, LONGEST_MS) : USUAL_MS;
  } catch {
    return USUAL_MS;
  }
}
