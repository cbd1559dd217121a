import { Pod } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { compareVersions } from '../../../kube/cache/resource-version.ts';
import { isConflict, isNotFound } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { jsonEqual } from '../../../object/json.ts';
import type { ApiGate } from './api-gate.ts';

export interface StatusWriterOptions {
  readonly client: Pick<KubeClient, 'patch' | 'live'>;
  readonly gate: ApiGate;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Pure: the strategic merge patch that the object needs; undefined when it needs none. */
  readonly patchFor: (onServer: Pod) => JsonObject | undefined;
  /** A patch was written. */
  readonly wrote: () => void;
}

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 30_000;

/**
 * Keeps the status of one object as the node wants it. Writes one at a time, always the newest; what could not be
 * written is written when it can (nothing is lost while the API server is away, only told late).
 */
export class PodStatusWriter {
  readonly #options: StatusWriterOptions;
  #onServer: Pod | undefined;
  #isWriting = false;
  /** What was sent last, and the version that it made. */
  #sent: { readonly body: JsonObject; readonly version: string | undefined } | undefined;
  /** One for all who wait until everything is written, however long the server is away. */
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** The newest object that the node has seen. */
  observe(pod: Pod): void {
    const known = this.#onServer;
    const isOlder =
      known !== undefined &&
      known.metadata.uid === pod.metadata.uid &&
      compareVersions(pod.metadata.resourceVersion ?? '', known.metadata.resourceVersion ?? '') < 0;
    if (!isOlder) this.#onServer = pod;
  }

  /** There is no object to write to. */
  forget(): void {
    this.#onServer = undefined;
    this.#finish();
  }

  /** The node may want another status now. */
  touch(): void {
    if (this.#isWriting || this.#options.signal.aborted) return;
    if (this.#patch() === undefined) return this.#finish();
    this.#isWriting = true;
    void this.#write().finally(() => {
      this.#isWriting = false;
      // Wanted between the last look and now.
      this.touch();
    });
  }

  /** Resolves when what the node wants is on the server, or there is no object; never after the end. */
  told(): Promise<void> {
    this.#waiting ??= Promise.withResolvers<void>();
    const { promise } = this.#waiting;
    this.touch();
    return promise;
  }

  #patch(): JsonObject | undefined {
    const pod = this.#onServer;
    const body = pod === undefined ? undefined : this.#options.patchFor(pod);
    // A server that does not keep what it is given would be written to without end.
    const isInVain = pod?.metadata.resourceVersion === this.#sent?.version && jsonEqual(body, this.#sent?.body);
    return isInVain ? undefined : body;
  }

  #finish(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /** Until nothing is left to write; never rejects. */
  async #write(): Promise<void> {
    const { clock, gate, log, signal } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      const [pod, body] = [this.#onServer, this.#patch()];
      if (pod === undefined || body === undefined) return;
      try {
        await this.#send(pod, body);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        if (failures === 1) log.warn({ err: error, pod: pod.metadata.name }, 'Cannot write the status of a pod');
        await clock.sleep(retryMs(failures), signal).catch(() => {});
        await gate.opened();
      }
    }
  }

  async #send(pod: Pod, body: JsonObject): Promise<void> {
    const { client, gate, signal, wrote } = this.#options;
    const { name, namespace = '', uid } = pod.metadata;
    const key = { namespace, name };
    try {
      const written = await client.patch(
        Pod,
        key,
        { type: 'strategic', body },
        { subresource: 'status', signal: gate.signal(signal) },
      );
      this.#sent = { body, version: written.metadata.resourceVersion };
      if (this.#isNewest(uid)) this.observe(written);
      wrote();
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
      const found = await client.live.find(Pod, key, { signal: gate.signal(signal) });
      if (!this.#isNewest(uid)) return;
      // It is another object by now, or none.
      if (found === undefined || found.metadata.uid !== uid) return this.forget();
      this.observe(found);
      throw error;
    }
  }

  /** Another object of the same name, a mirror, may have been seen since the request was sent. */
  #isNewest(uid: string | undefined): boolean {
    return this.#onServer?.metadata.uid === uid;
  }
}

const retryMs = (failures: number): number => Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
