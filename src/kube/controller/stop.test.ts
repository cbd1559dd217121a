import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryError, userError } from '../../base/errors.ts';
import { NetworkError } from '../client/api-error.ts';
import type { CallOptions, KubeClient } from '../client/kube-client.ts';
import { type Reconcile, Rig } from './controller-rig.ts';
import { DONE } from './reconcile.ts';

/** Requests that end only with their signal: a network that swallows everything. */
const never = (options?: CallOptions): Promise<never> =>
  new Promise((_, reject) =>
    options?.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true }),
  );

/** Once `isAway`, no request of the controller is answered. */
function swallowing(rig: Rig) {
  const state = { isAway: false };
  const real = rig.cluster.client.bind(rig.cluster);
  const away = (fieldManager?: string): KubeClient => {
    const client = real(fieldManager);
    return {
      ...client,
      as: (other: string) => away(other),
      live: {
        find: (...call: Parameters<KubeClient['live']['find']>) =>
          state.isAway ? never(call[2]) : client.live.find(...call),
      },
      applyStatus: (...call: Parameters<KubeClient['applyStatus']>) =>
        state.isAway ? never(call[2]) : client.applyStatus(...call),
    } as unknown as KubeClient;
  };
  rig.cluster.client = away;
  return state;
}

const STORIES: readonly { name: string; reconcile: Reconcile[] }[] = [
  {
    name: 'showing a failure',
    reconcile: [
      () => {
        throw userError('Bad', 'bad size');
      },
    ],
  },
  {
    name: 'taking a failure back',
    reconcile: [
      () => {
        throw retryError('Busy', 'later');
      },
      () => DONE,
    ],
  },
  {
    name: 'reading live after a write without an answer',
    reconcile: [
      () => {
        throw new NetworkError('cut', { mayHaveHappened: true });
      },
      () => DONE,
    ],
  },
];

describe('controller: a stop while the API server does not answer', () => {
  for (const { name, reconcile } of STORIES)
    it(`runtime/M2: ends ${name} with the grace of the reconciles`, async () => {
      const rig = new Rig();
      const network = swallowing(rig);
      rig.cluster.put({ metadata: { name: 'a' } });
      const { ended } = await rig.run((object, context) => {
        network.isAway = rig.runs.length === reconcile.length;
        return reconcile[rig.runs.length - 1]?.(object, context) ?? DONE;
      });
      network.isAway = true;
      await rig.pass(5);
      rig.stop.abort();
      let isEnded = false;
      void ended.then(() => (isEnded = true));
      await rig.pass(14_999);
      assert.equal(isEnded, false);
      await rig.pass(1);
      assert.equal(isEnded, true);
    });
});
