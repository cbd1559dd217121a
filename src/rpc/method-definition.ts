import type { MethodDefinition } from '@grpc/grpc-js';
import { codecOf } from './codec.ts';
import type { MessageType } from './message.ts';
import type { ServiceType } from './rpc-service.ts';

/** A method as the gRPC library knows it. */
export function methodDefinition(
  { name: service, methods }: ServiceType,
  name: string,
): MethodDefinition<unknown, unknown> {
  const method = methods[name];
  if (method === undefined) throw new Error(`service ${service} has no method ${name}`);
  const { request, response, isStream } = method;
  return {
    path: `/${service}/${name}`,
    requestStream: false,
    responseStream: isStream,
    requestSerialize: writer(request),
    requestDeserialize: reader(request),
    responseSerialize: writer(response),
    responseDeserialize: reader(response),
  };
}

const writer = (type: MessageType) => (value: unknown) => {
  // Callers and handlers are typed by the description; the codec refuses what does not fit it.
  const bytes = codecOf(type).encode(value as Readonly<Record<string, never>>);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

const reader = (type: MessageType) => (bytes: Buffer) => codecOf(type).decode(bytes);
