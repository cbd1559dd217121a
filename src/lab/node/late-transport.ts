import { aborted } from '../../kube/aborted.ts';
import { NetworkError } from '../../kube/client/api-error.ts';
import type { Transport } from '../../kube/transport/transport.ts';

/**
 * A way to an API server that is found later. Until then a watch waits for it, and everything else fails as if the
 * server did not answer: nobody who can do without it waits.
 */
export class LateTransport {
  readonly #found = Promise.withResolvers<Transport>();
  #isFound = false;

  readonly transport: Transport = async (request) => {
    const { signal, isStream = false } = request;
    if (!this.#isFound && !isStream)
      throw new NetworkError('the node is not in its cluster yet', { mayHaveHappened: false });
    if (signal !== undefined) await Promise.race([this.#found.promise, aborted(signal)]);
    signal?.throwIfAborted();
    return (await this.#found.promise)(request);
  };

  found(transport: Transport): void {
    this.#isFound = true;
    this.#found.resolve(transport);
  }
}
