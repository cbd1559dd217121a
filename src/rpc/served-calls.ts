import type {
  Server,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceError,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { messageOf } from '../base/errors.ts';
import { grpc } from './libraries.ts';
import { methodDefinition } from './method-definition.ts';
import { codeNumber, RpcError } from './rpc-error.ts';
import { methodName, type RpcContext, type ServiceType } from './rpc-service.ts';

/** A service with what serves it. */
export interface ServedService {
  readonly service: ServiceType;
  readonly handlers: Readonly<Record<string, unknown>>;
}

type AnyHandler = (request: unknown, context: RpcContext) => unknown;

/** Lets a server of the library answer the calls of a service. Whatever a handler throws becomes a status. */
export function addService(server: Server, { service, handlers }: ServedService, stopping: AbortSignal): void {
  const names = Object.keys(service.methods).filter((name) => typeof handlers[methodName(name)] === 'function');
  const definition = Object.fromEntries(names.map((name) => [name, methodDefinition(service, name)]));
  const implementation: UntypedServiceImplementation = {};
  for (const name of names) {
    // Checked above; `served` let in only handlers of the service.
    const handler = handlers[methodName(name)] as AnyHandler;
    implementation[name] =
      definition[name]?.responseStream === true ? streamed(handler, stopping) : answered(handler, stopping);
  }
  // The library refuses a service without methods; what nobody serves is answered as UNIMPLEMENTED anyway.
  if (names.length > 0) server.addService(definition, implementation);
}

const answered =
  (handler: AnyHandler, stopping: AbortSignal) =>
  (call: ServerUnaryCall<unknown, unknown>, answer: (error: ServiceError | null, value?: unknown) => void) => {
    const { signal, done } = callSignal(call, stopping);
    const work = async () => handler(call.request, { signal });
    work()
      .then(
        (value) => answer(null, value),
        (error: unknown) => answer(serviceError(error)),
      )
      .finally(done);
  };

const streamed =
  (handler: AnyHandler, stopping: AbortSignal) => (call: ServerWritableStream<unknown, unknown>) => {
    const { signal, done } = callSignal(call, stopping);
    // A caller who went away is told by the signal.
    call.on('error', () => {});
    send(handler, call, signal)
      .then(
        () => call.end(),
        (error: unknown) => call.emit('error', serviceError(error)),
      )
      .finally(done);
  };

async function send(
  handler: AnyHandler,
  call: ServerWritableStream<unknown, unknown>,
  signal: AbortSignal,
): Promise<void> {
  // `served` let in only handlers of the service.
  const values = handler(call.request, { signal }) as AsyncIterable<unknown>;
  const iterator = values[Symbol.asyncIterator]();
  const { promise: gone, reject } = Promise.withResolvers<never>();
  gone.catch(() => {});
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      // A handler that does not look at its signal must not keep the call.
      const next = await Promise.race([iterator.next(), gone]);
      if (next.done === true) break;
      if (!call.write(next.value)) await drained(call, signal);
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (signal.aborted) iterator.return?.().catch(() => {});
  }
}

function drained(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      call.removeListener('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    call.once('drain', go);
    signal.addEventListener('abort', go, { once: true });
    if (signal.aborted) go();
  });
}

interface Cancellable {
  on(event: 'cancelled', listener: () => void): unknown;
}

function callSignal(call: Cancellable, stopping: AbortSignal) {
  const cancel = new AbortController();
  const onStop = () => cancel.abort(stopping.reason);
  call.on('cancelled', () => cancel.abort(new RpcError('CANCELLED', 'the caller does not wait any more')));
  stopping.addEventListener('abort', onStop, { once: true });
  if (stopping.aborted) onStop();
  return { signal: cancel.signal, done: () => stopping.removeEventListener('abort', onStop) };
}

/** What was not thrown as a status is the fault of the handler: UNKNOWN, with its message and without its stack. */
function serviceError(thrown: unknown): ServiceError {
  const error = thrown instanceof RpcError ? thrown : new RpcError('UNKNOWN', messageOf(thrown));
  return Object.assign(new Error(error.message), {
    code: codeNumber(error.code),
    details: error.details,
    metadata: new (grpc().Metadata)(),
  });
}
