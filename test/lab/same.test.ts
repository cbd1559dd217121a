import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { Job, type Job as JobObject } from '../../src/api/generated/batch-v1.ts';
import { type Lab, type LabOptions, startLab } from '../../src/lab/index.ts';
import { normalisedState } from '../support/normalised.ts';

const OBJECTS = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: app, image: 'nginx:1', ports: [{ containerPort: 80 }] }] }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: default }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec: { containers: [{ name: app, image: agent }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: once, namespace: default }
spec:
  completions: 2
  template:
    spec: { restartPolicy: Never, containers: [{ name: work, image: work }] }
`;
const isComplete = ({ status }: JobObject): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Complete' && is === 'True') === true;

/** Brings things up, makes them larger, gives them another image, and waits until nothing happens any more. */
async function story(lab: Lab): Promise<void> {
  const cluster = lab.cluster();
  const key = { namespace: 'default', name: 'web' };
  const rolledOut = async () => {
    await lab.until(() => cluster.rolledOut('default', 'web'), { within: '5m' });
    // Others may still have something to do at this moment.
    await lab.settle();
  };
  await cluster.apply(OBJECTS);
  await rolledOut();
  await cluster.client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 4 } } });
  await rolledOut();
  const containers = [{ name: 'app', image: 'nginx:2', ports: [{ containerPort: 80 }] }];
  const body = { spec: { template: { spec: { containers } } } };
  await cluster.client.patch(Deployment, key, { type: 'merge', body });
  await rolledOut();
  await lab.until(async () => isComplete(await cluster.client.get(Job, { namespace: 'default', name: 'once' })), {
    within: '5m',
  });
  await lab.clock.runUntilIdle({ max: '10m', quiet: '3s' });
}

async function endState(clock: NonNullable<LabOptions['clock']>): Promise<readonly string[]> {
  await using lab = await startLab({ nodes: 2, clock });
  await story(lab);
  return await normalisedState(lab.cluster());
}

/**
 * What happens at one moment on several nodes goes through the file system, whose order is nobody's; whose turn it is to
 * draw the next name depends on it.
 */
async function journal(seed: number): Promise<readonly string[]> {
  await using lab = await startLab({ nodes: 2, clock: 'auto', seed });
  await story(lab);
  await lab.clock.advance('30m');
  return lab
    .writes()
    .filter(({ path }) => !path.includes('/events'))
    .map(({ at, user, method, path }) => `${at.toISOString()} ${user} ${method} ${withoutNames(path)}`)
    .toSorted();
}

const withoutNames = (path: string): string =>
  path.replace(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=\/|$)/, '-RANDOM');

describe('the same again', () => {
  it('lab/T2: automatic, fast and real time come to the same end', async () => {
    const auto = await endState('auto');
    assert.ok(auto.length > 20, `${auto.length} objects`);
    assert.deepEqual(await endState({ scaled: 5 }), auto);
    assert.deepEqual(await endState('real'), auto);
  });

  it('lab/T4: the same seed gives the same writes at the same moments', async () => {
    const first = await journal(7);
    assert.deepEqual(await journal(7), first);
    assert.ok(first.length > 400, `${first.length} writes`);
  });
});
