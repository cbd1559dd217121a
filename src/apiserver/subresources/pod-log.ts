import { type FieldError, forbidden, invalid } from '../../object/field-error.ts';
import { isJsonObject, type JsonObject } from '../../object/json.ts';
import type { ApiResponse, StreamBody, StreamSink } from '../request.ts';
import { textAnswer } from '../rest/answers.ts';
import { textOf } from '../rest/object-meta.ts';
import { parseBoolean, parseCount } from '../rest/options.ts';
import { keyOf, type Scope } from '../rest/services.ts';
import { badRequest, invalidObject, notFound } from '../status.ts';

export interface LogRequest {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** follow, previous, timestamps, sinceSeconds, sinceTime, tailLines, limitBytes: as the client sent them, checked. */
  readonly query: URLSearchParams;
  /** Aborts when nobody reads any more. */
  readonly signal: AbortSignal;
}

/** The way to the nodes, where containers and their logs are (lab E1). */
export interface NodeConnector {
  logs(request: LogRequest): Promise<ReadableStream<Uint8Array>> | ReadableStream<Uint8Array>;
}

const MOST_QUEUED_BYTES = 1 << 20;
const LOG_OPTIONS = ['follow', 'previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'];

/** GET of `pods/log`. */
export function podLog(nodes: NodeConnector | undefined): (scope: Scope) => Promise<ApiResponse> {
  return async (scope) => {
    const { resource, info, store, codec, request } = scope;
    refuseBad(scope);
    const entry = store.get(keyOf(resource, info.namespace, info.name));
    if (entry === undefined) throw notFound({ group: '', resource: 'pods' }, info.name);
    const pod = codec.stored(entry, resource);
    const container = containerOf(pod, info.name, request.query.get('container') ?? '');
    const node = textOf(objectIn(pod, 'spec')['nodeName']);
    if (node === '' || nodes === undefined) return textAnswer(200, '');
    const isPrevious = isSet(request.query, 'previous');
    const problem = logProblem(pod, { pod: info.name, container, isPrevious });
    if (problem !== undefined) throw badRequest(problem);
    const stop = new AbortController();
    const logs = await nodes.logs({
      node,
      namespace: info.namespace,
      pod: info.name,
      container,
      query: checkedQuery(request.query),
      signal: AbortSignal.any([request.signal, stop.signal]),
    });
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: streamed(logs, stop) };
  };
}

const isSet = (query: URLSearchParams, name: string): boolean =>
  query.has(name) && parseBoolean(query.get(name) ?? '');

const objectIn = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isJsonObject(value) ? value : {};
};

const objectsIn = (object: JsonObject, key: string): readonly JsonObject[] => {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};

function refuseBad({ request: { query }, info }: Scope): void {
  const errors: FieldError[] = [];
  const [tailLines, limitBytes] = [parseCount(query, 'tailLines'), parseCount(query, 'limitBytes')];
  const sinceSeconds = parseCount(query, 'sinceSeconds');
  const positive = 'must be greater than 0';
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalid('limitBytes', limitBytes, positive));
  if (sinceSeconds !== undefined && query.has('sinceTime')) {
    errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid('sinceSeconds', sinceSeconds, positive));
  }
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, info.name, errors);
}

/** N41: the container that is meant, when the client or the pod leaves no doubt. */
function containerOf(pod: JsonObject, name: string, asked: string): string {
  const spec = objectIn(pod, 'spec');
  const namesIn = (key: string) => objectsIn(spec, key).map((container) => textOf(container['name']));
  const [init, main, ephemeral] = [
    namesIn('initContainers'),
    namesIn('containers'),
    namesIn('ephemeralContainers'),
  ];
  const all = [...init, ...main, ...ephemeral];
  if (asked !== '') {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only = ''] = main;
  if (all.length <= 1) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`);
}

interface Logged {
  readonly pod: string;
  readonly container: string;
  readonly isPrevious: boolean;
}

/** Why a container has no log, by what its node last said of it. */
function logProblem(object: JsonObject, { pod, container, isPrevious }: Logged): string | undefined {
  const status = objectIn(object, 'status');
  const keys = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];
  const found = keys.flatMap((key) => objectsIn(status, key)).find(({ name }) => name === container);
  const where = `container "${container}" in pod "${pod}"`;
  const isEnded = isJsonObject(objectIn(found ?? {}, 'lastState')['terminated']);
  if (isPrevious) return isEnded ? undefined : `previous terminated ${where} not found`;
  // A node that has not told anything yet has not started anything either.
  if (found === undefined) return `${where} is waiting to start: ContainerCreating`;
  const { waiting } = objectIn(found, 'state');
  if (!isJsonObject(waiting) || isEnded) return undefined;
  return `${where} is waiting to start: ${WAITING[textOf(waiting['reason'])] ?? textOf(waiting['reason'])}`;
}

const WAITING: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

function checkedQuery(query: URLSearchParams): URLSearchParams {
  const checked = new URLSearchParams();
  for (const name of LOG_OPTIONS) {
    const value = query.get(name);
    if (value !== null) checked.set(name, value);
  }
  return checked;
}

/** Hands on what the node sends, no faster than the client takes it; a client that leaves ends it. */
function streamed(logs: ReadableStream<Uint8Array>, stop: AbortController): StreamBody {
  return (sink) => {
    const reader = logs.getReader();
    void pump(reader, sink);
    return {
      [Symbol.dispose]: () => {
        stop.abort();
        reader.cancel().catch(() => {
          // It has ended by itself.
        });
      },
    };
  };
}

async function pump(reader: ReadableStreamDefaultReader<Uint8Array>, sink: StreamSink): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      sink.write(value);
      if (sink.queuedBytes > MOST_QUEUED_BYTES) await sink.drained();
    }
    sink.end();
  } catch {
    // The node broke off: the client must not take what it has for all there is.
    sink.destroy();
  }
}
