import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../src/api/object.ts';

export interface QuietOptions {
  /** Everything that has to stay as it is. */
  readonly objects: () => Promise<readonly KubeObject[]>;
  readonly quietMs: number;
  readonly longestMs: number;
}

const POLL_MS = 100;

/** For clusters that run in real time: nothing has changed for a while. */
export async function untilQuiet({ objects, quietMs, longestMs }: QuietOptions): Promise<void> {
  const startMs = performance.now();
  let last = '';
  for (let sinceMs = startMs; performance.now() - sinceMs < quietMs; await sleep(POLL_MS)) {
    const versions = (await objects())
      .map(({ kind, metadata }) => `${kind}/${metadata.name}=${metadata.resourceVersion}`)
      .join();
    if (versions !== last) sinceMs = performance.now();
    last = versions;
    assert.ok(performance.now() - startMs < longestMs, 'the cluster does not come to rest');
  }
}
