import type { Log } from '../../../base/log.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { startRestServer } from '../assisted/rest-server.ts';
import type { LabRegistry } from './lab-registry.ts';

export interface RegistryServerOptions {
  readonly registry: LabRegistry;
  /** On loopback, where clients need no certificate; port 0 for any that is free. */
  readonly listen: Endpoint;
  readonly log: Log;
}

export interface RegistryServer extends AsyncDisposable {
  /** `host:port`, as images name it. */
  readonly host: string;
}

/** Serves a registry on a socket, without TLS. Disposing it cuts all connections. */
export async function startRegistryServer({
  registry,
  listen,
  log,
}: RegistryServerOptions): Promise<RegistryServer> {
  const server = await startRestServer({ rest: registry.call, listen, log });
  return { host: new URL(server.url).host, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
