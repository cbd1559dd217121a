import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { mirrorPods } from '../../src/lab/node/static-pods/mirror-pods.ts';
import { staticPod } from '../../src/lab/node/static-pods/static-pod.ts';
import { printYaml } from '../../src/object/yaml.ts';
import { CRASH_FAULTS, type CrashFault } from '../../src/testing/crash-faults.ts';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import type { CrashScenario } from '../../src/testing/crash-scenario.ts';

const NODE = 'w-1';
const KEY = { namespace: 'default', name: 'ccm-w-1' };

function fromFile(image = 'i'): Pod {
  const name = 'ccm';
  const spec = { containers: [{ name: 'c', image }] };
  const text = printYaml({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  return staticPod(text, { file: `/etc/kubernetes/manifests/${name}.yaml`, node: NODE, seenAt: new Date(0) });
}

/** Files of a node, and whoever wants to know of changes. */
function fakeFiles() {
  const listeners = new Set<() => void>();
  let pods: readonly Pod[] = [];
  return {
    pods: () => pods,
    subscribe: (changed: () => void): Disposable => {
      listeners.add(changed);
      return { [Symbol.dispose]: () => void listeners.delete(changed) };
    },
    set: (...next: readonly Pod[]) => {
      pods = next;
      for (const changed of listeners) changed();
    },
  };
}

/** Of the refusals that only mean to come again, one is enough. */
const FAULTS: readonly CrashFault[] = CRASH_FAULTS.filter(
  (fault) => !['refused-429', 'refused-500', 'refused-504'].includes(fault),
);

describe('mirror pods', () => {
  it('lab/N38: survive every fault at every write', async () => {
    const scenario: CrashScenario = {
      name: 'static pod comes, changes, is deleted by somebody, goes',
      start: () => {
        const files = fakeFiles();
        return {
          controllers: () => [mirrorPods({ node: NODE, source: files })],
          act: async ({ client, converge }) => {
            await client.create(Node, { metadata: { name: NODE } });
            files.set(fromFile());
            await converge();
            files.set(fromFile('changed'));
            await converge();
            await client.delete(Pod, KEY);
            await converge();
            files.set();
          },
        };
      },
    };
    const { failures, tried } = await enumerateCrashPoints(scenario, { faults: FAULTS });
    assert.deepEqual(failures, []);
    assert.ok(tried > 50, `${tried} runs`);
  });
});
