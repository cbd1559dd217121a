import type {
  Client,
  ClientReadableStream,
  CallOptions as LibraryOptions,
  MethodDefinition,
  ServiceError,
} from '@grpc/grpc-js';
import type { Clock } from '../base/clock.ts';
import { grpc } from './libraries.ts';
import { methodDefinition } from './method-definition.ts';
import { addressText, type RpcAddress, targetOf } from './rpc-address.ts';
import { codeOfNumber, RpcError } from './rpc-error.ts';
import {
  type CallOptions,
  methodName,
  type RpcClient,
  type ServiceType,
  type StreamOptions,
} from './rpc-service.ts';
import { watchedCredentials } from './watched-credentials.ts';

const MOST_RECEIVED_BYTES = 16 * 1024 * 1024;
/** Whoever starts to listen a little later is found soon. */
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 1000;

export interface DialOptions {
  readonly address: RpcAddress;
  /** Real time: sockets know no other. */
  readonly clock: Pick<Clock, 'now'>;
}

/** A connection to a server; opened by the first call or by `ready`. Disposing it ends all its calls. */
export interface RpcConnection extends Disposable {
  /** Resolves when somebody answers there. Rejects with DEADLINE_EXCEEDED after the time, or with the signal's reason. */
  ready(options: CallOptions): Promise<void>;
  client<S extends ServiceType>(service: S): RpcClient<S>;
}

/** A connection over a Unix socket or to a port of a loopback address, without TLS. Throws a user error for a bad path. */
export function dialRpc({ address, clock }: DialOptions): RpcConnection {
  const target = targetOf(address);
  const watched = watchedCredentials();
  const channel = new (grpc().Client)(target, watched.credentials, {
    'grpc.max_receive_message_length': MOST_RECEIVED_BYTES,
    'grpc.initial_reconnect_backoff_ms': FIRST_RETRY_MS,
    'grpc.max_reconnect_backoff_ms': LONGEST_RETRY_MS,
    // Nobody shares our failures, and nothing stays open after us.
    'grpc.use_local_subchannel_pool': 1,
    // Variables of the host must not lead a call elsewhere.
    'grpc.enable_http_proxy': 0,
  });
  const closed = new AbortController();
  const call: Calling = { channel, clock, closed: closed.signal };
  return {
    ready: (options) => whenReady(call, addressText(address), options),
    client: (service) => clientOf(call, service),
    [Symbol.dispose]: () => {
      closed.abort(new RpcError('CANCELLED', `the connection to ${addressText(address)} is closed`));
      channel.close();
      watched.closeSockets();
    },
  };
}

interface Calling {
  readonly channel: Client;
  readonly clock: Pick<Clock, 'now'>;
  readonly closed: AbortSignal;
}

const deadlineOf = ({ clock }: Calling, timeoutMs: number): Date => new Date(clock.now().getTime() + timeoutMs);

function whenReady(call: Calling, text: string, { timeoutMs, signal }: CallOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const ends = [call.closed, ...(signal === undefined ? [] : [signal])];
    const given = AbortSignal.any(ends);
    const onAbort = () => reject(given.reason);
    given.addEventListener('abort', onAbort, { once: true });
    if (given.aborted) return onAbort();
    call.channel.waitForReady(deadlineOf(call, timeoutMs), (error) => {
      given.removeEventListener('abort', onAbort);
      if (error === undefined) return resolve();
      reject(new RpcError('DEADLINE_EXCEEDED', `nobody answered at ${text} within ${timeoutMs} ms`));
    });
  });
}

function clientOf<S extends ServiceType>(call: Calling, service: S): RpcClient<S> {
  const methods = Object.keys(service.methods).map((name) => {
    const definition = methodDefinition(service, name);
    const act = definition.responseStream
      ? (request: unknown, options?: StreamOptions) => stream(call, definition, request, options)
      : (request: unknown, options: CallOptions) => ask(call, definition, request, options);
    return [methodName(name), act] as const;
  });
  // One function for each method of the description, which is where the type comes from.
  return Object.fromEntries(methods) as unknown as RpcClient<S>;
}

async function ask(
  call: Calling,
  { path, requestSerialize, responseDeserialize }: MethodDefinition<unknown, unknown>,
  request: unknown,
  { timeoutMs, signal }: CallOptions,
): Promise<unknown> {
  signal?.throwIfAborted();
  call.closed.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const options: LibraryOptions = { deadline: deadlineOf(call, timeoutMs) };
  const running = call.channel.makeUnaryRequest(
    path,
    requestSerialize,
    responseDeserialize,
    request,
    new (grpc().Metadata)(),
    options,
    (error, value) => (error === null ? resolve(value) : reject(rpcError(error))),
  );
  const onAbort = () => {
    reject(signal?.reason);
    running.cancel();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

async function* stream(
  call: Calling,
  { path, requestSerialize, responseDeserialize }: MethodDefinition<unknown, unknown>,
  request: unknown,
  { timeoutMs, signal }: StreamOptions = {},
): AsyncGenerator<unknown> {
  signal?.throwIfAborted();
  call.closed.throwIfAborted();
  const options: LibraryOptions = timeoutMs === undefined ? {} : { deadline: deadlineOf(call, timeoutMs) };
  const values: ClientReadableStream<unknown> = call.channel.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    request,
    new (grpc().Metadata)(),
    options,
  );
  // After the last reader has left nobody else listens.
  values.on('error', () => {});
  const onAbort = () => values.cancel();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    yield* values;
  } catch (error) {
    signal?.throwIfAborted();
    throw rpcError(error);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    values.cancel();
  }
}

const rpcError = (error: unknown): unknown =>
  isServiceError(error) ? new RpcError(codeOfNumber(error.code), error.details, { cause: error }) : error;

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && 'details' in error;
