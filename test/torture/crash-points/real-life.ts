// A program with controllers, in a process of its own, so that it can be killed for real (reliability T1.5).
//   real-life.ts '{"url":…,"controllers":…,"hostname":…}'
import { SystemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { createManager } from '../../../src/kube/manager/create-manager.ts';
import type { ScenarioLife } from '../../../src/testing/crash-scenario.ts';
import type { CloudApi } from './cloud.ts';
import { LEASE, type RealLifeOptions } from './real-life-options.ts';
import { controllersNamed } from './scenarios.ts';

const { url, controllers, hostname }: RealLifeOptions = JSON.parse(process.argv[2] ?? '{}');

/** The provider lives in the parent, as one in the world does. */
async function ask<T>(method: string, ...args: readonly unknown[]): Promise<T> {
  const response = await fetch(`${url}/cloud/${method}`, { method: 'POST', body: JSON.stringify(args) });
  if (!response.ok) throw new Error(`the cloud answers ${response.status}`);
  return JSON.parse((await response.text()) || 'null');
}

const cloud: CloudApi = {
  create: (token, wanted) => ask('create', token, wanted),
  change: (id, change) => ask('change', id, change),
  remove: (id) => ask('remove', id),
  list: () => ask('list'),
};

const clock = new SystemClock();
const life: ScenarioLife = {
  clock,
  transport: () => Promise.reject(new Error('there is only the way of the manager here')),
  effect: (_effect, act) => act(),
  look: (act) => act(),
};
const log = createLog({ level: 'warn', write: (line) => process.stderr.write(line), now: () => clock.now() });
const manager = createManager({
  name: 'scenario',
  hostname,
  kube: { url },
  clock,
  log,
  selfCheck: false,
  leaderElection: { id: LEASE.name, namespace: LEASE.namespace, leaseMs: 1500, renewMs: 1000, retryMs: 200 },
});
for (const controller of controllersNamed(controllers)(life, cloud)) manager.add(controller);
await manager.start(new AbortController().signal);
