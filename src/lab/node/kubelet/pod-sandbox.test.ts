import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PretendVolumes, pretendAddresses } from '../../../../test/support/kubelet-world.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { LabAddressPool } from '../../address/address-pool.ts';
import type { PodEvents } from './pod-events.ts';
import type { PodParts } from './pod-parts.ts';
import { PodSandbox } from './pod-sandbox.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u' },
  spec: { containers: [] },
};

/** What a sandbox needs of the parts of a pod. */
function partsWith(more: Partial<PodParts>): PodParts {
  const clock = new VirtualClock();
  const parts = {
    clock: Object.assign(clock, { hold: () => ({ [Symbol.dispose]: () => {} }) }),
    real: clock,
    log: SILENT_LOG,
    node: { name: 'n', address: { api: '10.16.1.1', wire: '127.16.1.1' }, root: '/' },
    volumes: new PretendVolumes(),
    addresses: pretendAddresses(),
    ...more,
  };
  return parts as unknown as PodParts;
}

const EVENTS = { warning: () => {} } as unknown as PodEvents;

describe('what the containers of a pod share', () => {
  it('is not laid out for a pod that went while its host ports were opened', async () => {
    const volumes = new PretendVolumes();
    const addresses = pretendAddresses();
    const opened = Promise.withResolvers<void>();
    const hostPorts = { open: () => opened.promise, close: async () => {} };
    const sandbox = new PodSandbox(partsWith({ volumes, addresses, hostPorts }), EVENTS, () => {});
    sandbox.prepare(pod);
    await sandbox.tearDown(pod, new AbortController().signal);
    opened.resolve();
    await turn();
    assert.deepEqual([...volumes.laidOut], []);
    assert.deepEqual([...addresses.taken], []);
    assert.equal(sandbox.isReady, false);
  });

  it('lab/X4: never has the address of another pod, also when that came first in another life', async () => {
    const pods = new LabAddressPool({ octet: 16, mode: 'loopback' }, 32, 95);
    const parts = partsWith({ addresses: { ...pretendAddresses(), pods } });
    const sandboxOf = async (one: Pod) => {
      const sandbox = new PodSandbox(parts, EVENTS, () => {});
      sandbox.recover(one);
      sandbox.prepare(one);
      await turn();
      return sandbox.address?.api;
    };
    const known = (uid: string, podIP: string): Pod => ({
      ...pod,
      metadata: { ...pod.metadata, uid },
      status: { podIP },
    });
    assert.equal(await sandboxOf(pod), '10.16.32.1', 'as a static pod, which begins before the server answers');
    assert.equal(await sandboxOf(known('v', '10.16.32.1')), '10.16.32.2');
    assert.equal(await sandboxOf(known('v', '10.16.32.2')), '10.16.32.2', 'a node that was off has it still');
    assert.equal(await sandboxOf(known('w', '10.16.32.9')), '10.16.32.9');
  });
});
