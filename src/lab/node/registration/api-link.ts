import { NetworkError } from '../../../kube/client/api-error.ts';
import { withStream } from '../../../kube/transport/changed-stream.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../kube/transport/transport.ts';

/** Somebody's way to the API server, which can be cut (N6, B3): nothing passes then, and what was under way breaks off. */
export class ApiLink {
  readonly #transport: Transport;
  readonly #who: string;
  /** Bounded by what is under way. */
  readonly #underWay = new Set<AbortController>();
  #isCut = false;

  constructor(transport: Transport, who = 'the node') {
    this.#transport = transport;
    this.#who = who;
  }

  /** Twice is the same as once. */
  partition(isCut: boolean): void {
    this.#isCut = isCut;
    if (!isCut) return;
    for (const request of this.#underWay) request.abort(this.#cutOff(true));
    this.#underWay.clear();
  }

  readonly transport: Transport = async (request) => {
    if (this.#isCut) throw this.#cutOff(false);
    const cut = new AbortController();
    this.#underWay.add(cut);
    try {
      const response = await this.#sent(request, cut.signal);
      return withStream(response, (chunks) => this.#read(chunks, cut));
    } catch (error) {
      this.#underWay.delete(cut);
      throw error;
    }
  };

  async #sent(request: TransportRequest, cut: AbortSignal): Promise<TransportResponse> {
    const signal = request.signal === undefined ? cut : AbortSignal.any([request.signal, cut]);
    const response = await this.#transport({ ...request, signal });
    cut.throwIfAborted();
    return response;
  }

  async *#read(chunks: AsyncIterable<Uint8Array>, cut: AbortController): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        cut.signal.throwIfAborted();
        yield chunk;
      }
      cut.signal.throwIfAborted();
    } catch (error) {
      cut.signal.throwIfAborted();
      throw error;
    } finally {
      this.#underWay.delete(cut);
    }
  }

  #cutOff(mayHaveHappened: boolean): NetworkError {
    return new NetworkError(`${this.#who} is cut off from the API server`, { mayHaveHappened });
  }
}
