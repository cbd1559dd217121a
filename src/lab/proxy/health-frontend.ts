import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Log } from '../../base/log.ts';
import type { AddressPlan } from '../address/address-plan.ts';
import type { Listening } from './listener-set.ts';
import type { HealthCheck } from './service-frontends.ts';

/** Nobody needs longer to ask. */
const REQUEST_MS = 10_000;

/** Tells load balancers whether a node has backends of a service (X11). */
export class HealthFrontend implements Listening<HealthCheck> {
  readonly #server: Server;
  #check: HealthCheck;

  private constructor(check: HealthCheck) {
    this.#check = check;
    const timeouts = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: REQUEST_MS };
    this.#server = createServer(timeouts, (request, response) => {
      request.resume();
      answer(this.#check, response);
    });
  }

  static async open(
    check: HealthCheck,
    { plan, log }: { readonly plan: Pick<AddressPlan, 'listen'>; readonly log: Log },
  ): Promise<HealthFrontend> {
    const opened = new HealthFrontend(check);
    await plan.listen(opened.#server, check.at);
    opened.#server.on('error', (err) => log.warn({ err }, 'A listener of a service failed'));
    return opened;
  }

  update(check: HealthCheck): void {
    this.#check = check;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function answer({ service, localEndpoints }: HealthCheck, response: ServerResponse): void {
  response.writeHead(localEndpoints > 0 ? 200 : 503, {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'x-load-balancing-endpoint-weight': localEndpoints,
  });
  response.end(`${JSON.stringify({ service, localEndpoints, serviceProxyHealthy: true })}\n`);
}
