import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PodStatus } from '../../../api/generated/core-v1-types.ts';
import type { Log } from '../../../base/log.ts';
import { isJsonObject } from '../../../object/json.ts';

const DIRECTORY = 'var/lib/kubelet/static-pods';

/** What a later life of the node has to know of a static pod (N18). */
type Remembered = Pick<
  PodStatus,
  'phase' | 'reason' | 'message' | 'startTime' | 'podIP' | 'initContainerStatuses' | 'containerStatuses'
>;

/**
 * What became of static pods, in files of the node: they run without an API server (N37), so that no object can tell.
 * What cannot be written or read is told to those who run the lab, and the pod begins anew in the next life.
 */
export class StaticPodRecords {
  readonly #directory: string;
  readonly #log: Log;
  /** What the files say, by uid; bounded by the static pods of the node. */
  readonly #texts = new Map<string, string>();

  constructor(root: string, log: Log) {
    this.#directory = join(root, DIRECTORY);
    this.#log = log;
  }

  /** Forgets all pods but these. */
  keepOnly(uids: ReadonlySet<string>): void {
    this.#tried('*', () => {
      mkdirSync(this.#directory, { recursive: true });
      for (const name of readdirSync(this.#directory))
        if (!uids.has(name.replace(/\.json$/, ''))) rmSync(join(this.#directory, name), { force: true });
    });
  }

  /** Undefined for a pod that never ran here. */
  find(uid: string): PodStatus | undefined {
    const text = this.#texts.get(uid) ?? this.#tried(uid, () => readFileSync(this.#file(uid), 'utf8'));
    const status: unknown = text === undefined ? undefined : this.#tried(uid, () => JSON.parse(text));
    if (text === undefined || !isJsonObject(status)) return undefined;
    this.#texts.set(uid, text);
    // Nobody else writes there.
    return status as PodStatus;
  }

  /** At once, not later: the lab may be killed after any statement. Nothing is written that is known already. */
  save(uid: string, status: PodStatus): void {
    const text = JSON.stringify(remembered(status));
    if (this.#texts.get(uid) === text) return;
    this.#tried(uid, () => {
      const file = this.#file(uid);
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      this.#texts.set(uid, text);
    });
  }

  delete(uid: string): void {
    if (this.#texts.delete(uid)) this.#tried(uid, () => rmSync(this.#file(uid), { force: true }));
  }

  #file(uid: string): string {
    return join(this.#directory, `${uid}.json`);
  }

  #tried<T>(uid: string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isMissing) this.#log.warn({ err: error, uid }, 'Cannot keep what became of a static pod');
      return undefined;
    }
  }
}

function remembered(status: PodStatus): Remembered {
  const { phase, reason, message, startTime, podIP, initContainerStatuses, containerStatuses } = status;
  return {
    ...(phase !== undefined && { phase }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(startTime !== undefined && { startTime }),
    ...(podIP !== undefined && { podIP }),
    ...(initContainerStatuses !== undefined && { initContainerStatuses }),
    ...(containerStatuses !== undefined && { containerStatuses }),
  };
}
