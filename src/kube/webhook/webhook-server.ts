import type { Clock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { aborted } from '../aborted.ts';
import type { Runnable } from '../manager/runnable.ts';
import type { BindAddress } from '../serving/bind-address.ts';
import type { CertificateSource } from '../serving/certificate-source.ts';
import { Listener, type ListenerTls } from '../serving/https-listener.ts';
import type { Webhooks } from './webhooks.ts';

export interface WebhookServerOptions {
  readonly webhooks: Webhooks;
  readonly certificates: CertificateSource;
  /** All addresses and port 9443 unless told otherwise (W1). */
  readonly bind?: BindAddress;
  /** Only API servers with a certificate of this authority may ask. */
  readonly clientCaPem?: string;
  /** What the policy of a cluster asks for; what Node takes unless told otherwise. */
  readonly tls?: Pick<ListenerTls, 'minVersion' | 'ciphers'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where API servers look for webhooks unless told otherwise (W1). */
export const WEBHOOK_PORT = 9443;

/** Webhooks over HTTPS as a part of a manager: on every replica, before the caches (M1). */
export class WebhookServer implements Runnable {
  readonly name = 'webhook server';
  readonly group = 'webhook';
  readonly #options: WebhookServerOptions;
  readonly #started = Promise.withResolvers<Listener>();
  #listener: Listener | undefined;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    // Whoever runs the server hears of the failure; `ready` may never be asked.
    this.#started.promise.catch(() => {});
  }

  /** Serves until the signal aborts, then finishes what was asked. Rejects when it cannot listen or has no certificate. */
  async run(signal: AbortSignal): Promise<void> {
    const { webhooks, certificates, clientCaPem, clock, log, bind = { port: WEBHOOK_PORT } } = this.#options;
    try {
      const tls = { ...this.#options.tls, certificates, ...(clientCaPem !== undefined && { clientCaPem }) };
      const options = { name: 'webhook', bind, setting: '--webhook-port', tls, serve: webhooks.serve, clock, log };
      this.#listener = await Listener.start(options, signal);
    } catch (error) {
      this.#started.reject(error);
      if (signal.aborted) return;
      throw error;
    }
    this.#started.resolve(this.#listener);
    await aborted(signal);
    const listener = this.#listener;
    this.#listener = undefined;
    await listener.stop();
  }

  /** Resolves when connections are accepted; rejects when that failed or the signal aborts first. */
  async ready(signal: AbortSignal): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await Promise.race([this.#started.promise, promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Where it listens; undefined while it does not. */
  get port(): number | undefined {
    return this.#listener?.port;
  }

  /** The check for readyz (W7): rejects while requests are not accepted. Bound: may be handed over as it is. */
  readonly check = async (): Promise<void> => {
    if (this.#listener === undefined) throw retryError('NotStarted', 'the webhook server does not listen');
  };
}
