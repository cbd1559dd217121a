import type { MessageType, Received, Sent } from './message.ts';

/** One method of a service: one request, and one answer or a stream of them. */
export interface Method<
  Req extends MessageType = MessageType,
  Res extends MessageType = MessageType,
  Streams extends boolean = boolean,
> {
  readonly request: Req;
  readonly response: Res;
  readonly isStream: Streams;
}

export type Methods = Readonly<Record<string, Method>>;

/** A service: full name, such as `csi.v1.Node`, and methods by the names of the wire description. */
export interface ServiceType<M extends Methods = Methods> {
  readonly name: string;
  readonly methods: M;
}

export const service = <const M extends Methods>(name: string, methods: M): ServiceType<M> => ({ name, methods });

export const unary = <Req extends MessageType, Res extends MessageType>(
  request: Req,
  response: Res,
): Method<Req, Res, false> => ({ request, response, isStream: false });

export const serverStream = <Req extends MessageType, Res extends MessageType>(
  request: Req,
  response: Res,
): Method<Req, Res, true> => ({ request, response, isStream: true });

/** A method as programs call it: `NodeGetInfo` is `nodeGetInfo`. */
export const methodName = (wireName: string): string => wireName.charAt(0).toLowerCase() + wireName.slice(1);

/** What a handler knows besides the request. */
export interface RpcContext {
  /** Aborts when nobody waits for the answer any more: the caller gave up, its time is over, or the server stops. */
  readonly signal: AbortSignal;
}

/** One method, served: what it throws becomes the status of the call (an `RpcError` as it says). */
type Handler<M extends Method> =
  M extends Method<infer Req, infer Res, infer Streams>
    ? (
        request: Received<Req>,
        context: RpcContext,
      ) => Streams extends true ? AsyncIterable<Sent<Res>> : Promise<Sent<Res>> | Sent<Res>
    : never;

/** Methods that are left out answer UNIMPLEMENTED. */
export type Handlers<S extends ServiceType> = {
  readonly [K in keyof S['methods'] as Uncapitalize<K & string>]?: Handler<S['methods'][K]>;
};

export interface CallOptions {
  /** Real time, from the call to the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Streams last as long as both sides want, so their time is not limited unless told otherwise. */
export type StreamOptions = Partial<CallOptions>;

type Call<M extends Method> =
  M extends Method<infer Req, infer Res, infer Streams>
    ? Streams extends true
      ? (request: Sent<Req>, options?: StreamOptions) => AsyncIterable<Received<Res>>
      : (request: Sent<Req>, options: CallOptions) => Promise<Received<Res>>
    : never;

/** A service, called: rejects with an `RpcError`, or with the reason of the caller's signal. */
export type RpcClient<S extends ServiceType> = {
  readonly [K in keyof S['methods'] as Uncapitalize<K & string>]: Call<S['methods'][K]>;
};
