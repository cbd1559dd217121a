// What becomes of the process of a cloud controller manager: wrong flags, and a leader that is killed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Lease } from '../../src/api/generated/coordination-v1.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { CcmLab } from '../support/ccm-lab.ts';
import { kubectl } from '../support/kubectl.ts';
import { needsOracle } from '../support/needs-oracle.ts';

const WRONG = [/concurrent-node-syncs must be a positive number/, /no-such-flag/];

describe('the process of a cloud controller manager', () => {
  it('ccm/P4, ccm/P5: with wrong flags ends over and over, and all of them are in the log of its pod', async () => {
    await using world = await CcmLab.start({ scaled: 5, hosts: 1 });
    await world.deploy({ flags: { 'concurrent-node-syncs': '0', 'no-such-flag': '1' } });
    await world.until('the pod crashes', async () => (await world.pods()).some(isCrashing));
    const pod = (await world.pods())[0] ?? assert.fail('there is no pod');
    const { exitCode, message } = lastEnd(pod);
    assert.equal(exitCode, 2);
    const said = await world.cluster.logs(pod.metadata, { previous: true });
    const texts = [message, said, ...(await kubectlLogs(world, pod))];
    for (const text of texts) for (const pattern of WRONG) assert.match(text, pattern);
  });

  it('ccm/O7: of two, one leads; the other takes over when it is killed, and initialises what joins then', async () => {
    await using world = await CcmLab.start({ scaled: 5, hosts: 2 });
    await world.boot(['m-1']);
    // The rendered times are those of OpenShift, made for an API server that is away for two minutes.
    const flags = {
      'leader-elect-lease-duration': '30s',
      'leader-elect-renew-deadline': '20s',
      'leader-elect-retry-period': '1s',
    };
    await world.deploy({ topology: 'ha', flags });
    await world.untilInitialised('m-1');
    await world.until('both are ready', async () => (await world.pods()).filter(isReady).length === 2);
    const first = await holder(world);
    const leader = (await world.pods()).find(({ spec }) => first.startsWith(`${spec.nodeName}_`));
    process.kill(processOf(world, leader ?? assert.fail(first)), 'SIGKILL');
    await world.until('somebody else leads', async () => ![first, ''].includes(await holder(world)));
    const second = await holder(world);
    assert.notEqual(second.split('_')[0], first.split('_')[0], 'the other node');
    await world.boot(['m-1', 'm-2']);
    await world.untilInitialised('m-2');
  });
});

const isCrashing = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff') === true;

const lastEnd = ({ status }: Pod) => {
  const [container] = status?.containerStatuses ?? [];
  const { exitCode, message = '' } = container?.lastState?.terminated ?? {};
  return { exitCode, message };
};

const isReady = ({ status }: Pod): boolean => status?.containerStatuses?.every(({ ready }) => ready) === true;

async function holder({ cluster, namespace }: CcmLab): Promise<string> {
  const { spec } = await cluster.client.get(Lease, { namespace, name: 'cloud-controller-manager' });
  return spec?.holderIdentity ?? '';
}

/** As people read it, where there is a kubectl. */
async function kubectlLogs(world: CcmLab, { metadata }: Pod): Promise<readonly string[]> {
  if (needsOracle('kubectl').skip !== false) return [];
  const words = ['logs', '--previous', '-n', world.namespace, metadata.name];
  const { code, stdout, stderr } = await kubectl(world.cluster.kubeconfigPath, ...words);
  assert.equal(code, 0, stderr);
  return [stdout];
}

/** The number of the process that is the container of a pod, out of the list that the lab keeps. */
function processOf({ lab }: CcmLab, { metadata: { uid = '' } }: Pod): number {
  const lines = readFileSync(join(lab.directory, 'children.jsonl'), 'utf8').trimEnd().split('\n');
  const children: readonly { readonly pgid: number; readonly container: string }[] = lines.map((line) =>
    JSON.parse(line),
  );
  const found = children.findLast(({ container }) => container.includes(uid));
  return found?.pgid ?? assert.fail(`no process of pod ${uid}`);
}
