import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeploymentWorld, WEB, webTemplate } from '../../../../test/support/deployment-world.ts';
import { Deployment, type ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { ClusterRole } from '../../../api/generated/rbac-v1.ts';
import type { Controller } from '../../../kube/controller/controller.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { replicaSetController } from '../replicaset/controller.ts';
import { deploymentController } from './controller.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';
const HOUR_MS = 3_600_000;

const annotationsOf = (set: ReplicaSet | undefined, ...keys: readonly string[]) =>
  keys.map((key) => set?.metadata.annotations?.[key]);

describe('the Deployment controller', () => {
  it('lab/W7: rolls 4 replicas with never more than 5 pods and never fewer than 3 available, and back again', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 4 });
    await world.run();
    const isWithinBounds = async () => {
      const { status } = await world.deployment();
      assert.ok((await world.activePods()).length <= 5);
      assert.ok((status?.availableReplicas ?? 0) >= 3);
    };
    await world.setImage('web:2');
    await world.run(isWithinBounds);
    const [first, second] = await world.sets();
    assert.deepEqual(await world.sizes(), [
      ['web:1', 0],
      ['web:2', 4],
    ]);
    assert.deepEqual(
      [first, second].flatMap((set) => annotationsOf(set, REVISION)),
      ['1', '2'],
    );
    await world.setImage('web:1');
    await world.run(isWithinBounds);
    assert.deepEqual(await world.sizes(), [
      ['web:1', 4],
      ['web:2', 0],
    ]);
    const [again] = await world.sets();
    assert.deepEqual(annotationsOf(again, REVISION, HISTORY), ['3', '1']);
    assert.equal((await world.deployment()).metadata.annotations?.[REVISION], '3');
  });

  it('lab/W14: tells of every step, each with its numbers', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 2 });
    await world.run();
    await world.setImage('web:2');
    await world.run();
    const [first, second] = (await world.sets()).map(({ metadata }) => metadata.name);
    assert.deepEqual(await world.events('Deployment'), [
      `Normal ScalingReplicaSet Scaled up replica set ${first} from 0 to 2`,
      `Normal ScalingReplicaSet Scaled up replica set ${second} from 0 to 1`,
      `Normal ScalingReplicaSet Scaled down replica set ${first} from 2 to 1`,
      `Normal ScalingReplicaSet Scaled up replica set ${second} from 1 to 2`,
      `Normal ScalingReplicaSet Scaled down replica set ${first} from 1 to 0`,
    ]);
  });

  it('lab/W12: tells how the rollout goes, from the creation of the set to its end', async () => {
    await using world = await DeploymentWorld.start({ controllers: [deploymentController()] });
    await world.create({ replicas: 1 });
    const [set] = await world.sets();
    const said = async () => {
      const { status, reason, message } = (await world.condition('Progressing')) ?? {};
      return [status, reason, message];
    };
    const { name } = set?.metadata ?? {};
    assert.deepEqual(await said(), ['True', 'NewReplicaSetCreated', `Created new replica set "${name}"`]);
    await world.env.startManager({ name: 'sets', add: [replicaSetController()] });
    assert.deepEqual(await said(), ['True', 'ReplicaSetUpdated', `ReplicaSet "${name}" is progressing.`]);
    await world.run();
    assert.deepEqual(await said(), [
      'True',
      'NewReplicaSetAvailable',
      `ReplicaSet "${name}" has successfully progressed.`,
    ]);
  });

  it('lab/W10: says what its sets say, in the generation that it acts on', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 2 });
    const { metadata, status } = await world.deployment();
    assert.deepEqual(
      { ...status, conditions: status?.conditions?.map(({ type, status: value }) => [type, value]) },
      {
        observedGeneration: metadata.generation,
        replicas: 2,
        updatedReplicas: 2,
        unavailableReplicas: 2,
        terminatingReplicas: 0,
        conditions: [
          ['Available', 'False'],
          ['Progressing', 'True'],
        ],
      },
    );
  });

  it('lab/W7: goes to the newest template when it changes in the middle of a rollout', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 4 });
    await world.run();
    await world.setImage('web:2');
    await world.readyOne();
    await world.setImage('web:3');
    await world.run(async () => assert.ok((await world.activePods()).length <= 5));
    assert.deepEqual(await world.sizes(), [
      ['web:1', 0],
      ['web:2', 0],
      ['web:3', 4],
    ]);
    const revisions = (await world.sets()).flatMap((set) => annotationsOf(set, REVISION));
    assert.deepEqual(revisions, ['1', '2', '3']);
  });

  it('lab/W7: keeps as many old sets as it is told, the lowest revisions go', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1, revisionHistoryLimit: 1 });
    await world.run();
    for (const image of ['web:2', 'web:3', 'web:4']) {
      await world.setImage(image);
      await world.run();
    }
    assert.deepEqual(await world.sizes(), [
      ['web:3', 0],
      ['web:4', 1],
    ]);
  });

  it('lab/W8: scales without a rollout, and shares between sets in the middle of one', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } });
    await world.run();
    await world.change({ replicas: 6 });
    await world.run();
    assert.deepEqual(await world.sizes(), [['web:1', 6]]);
    world.isBroken = ({ spec }) => spec.containers[0]?.image === 'web:2';
    await world.setImage('web:2');
    assert.deepEqual(await world.sizes(), [
      ['web:1', 6],
      ['web:2', 2],
    ]);
    await world.change({ replicas: 12 });
    // 14 pods may be there instead of 8: 6 and 2 become 11 and 3 (10.5 and 3.5, rounded up from the largest on).
    assert.deepEqual(await world.sizes(), [
      ['web:1', 11],
      ['web:2', 3],
    ]);
    const [set] = await world.sets();
    const counts = ['desired-replicas', 'max-replicas'].map((key) => `deployment.kubernetes.io/${key}`);
    assert.deepEqual(annotationsOf(set, ...counts), ['12', '14']);
  });

  it('lab/W6: copies annotations to the new set, and the wait of pods with them', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1 });
    await world.run();
    const metadata = { annotations: { 'kubernetes.io/change-cause': 'tired' } };
    const patch = { type: 'merge', body: { metadata, spec: { minReadySeconds: 7 } } } as const;
    await world.client.patch(Deployment, WEB, patch);
    await world.env.settle();
    const [set] = await world.sets();
    assert.deepEqual(annotationsOf(set, 'kubernetes.io/change-cause', REVISION), ['tired', '1']);
    assert.equal(set?.spec.minReadySeconds, 7);
  });

  it('lab/W6: does not take away what kubectl apply remembers on the Deployment', async () => {
    await using world = await DeploymentWorld.start();
    const key = 'kubectl.kubernetes.io/last-applied-configuration';
    const object = {
      metadata: { ...WEB, annotations: { [key]: '{"a":1}' } },
      spec: { selector: { matchLabels: { app: 'web' } }, template: webTemplate() },
    };
    await world.client.create(Deployment, object);
    await world.env.settle();
    await world.run();
    const [set] = await world.sets();
    assert.equal((await world.deployment()).metadata.annotations?.[key], '{"a":1}');
    assert.deepEqual(annotationsOf(set, key), [undefined]);
  });

  it('lab/A6: writes nothing when nothing happens', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 3 });
    await world.run();
    await expectNoWrites(world.env.recorder, () => world.env.advance(HOUR_MS));
  });

  it('lab/A6: writes nothing when it starts anew beside what is done', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 3 });
    await world.run();
    await expectNoWrites(world.env.recorder, async () => {
      await world.env.startManager({ name: 'another', add: [deploymentController(), replicaSetController()] });
      await world.env.advance(60_000);
    });
  });
});

describe('the rights of the Deployment controller', () => {
  it('lab/A5: are exactly what it uses', async () => {
    await using world = await DeploymentWorld.start({ controllers: [deploymentController()] });
    await world.env.startManager({ name: 'sets', add: [replicaSetController()] });
    await world.create({ replicas: 1, revisionHistoryLimit: 0 });
    await world.run();
    // Adopted by the next one with the same selector.
    await world.client.delete(Deployment, WEB, { propagationPolicy: 'Orphan' });
    await world.env.settle();
    await world.create({ replicas: 1, revisionHistoryLimit: 0 });
    await world.setImage('web:2');
    await world.run();
    expectExactRbac(world.env);
  });

  for (const { controller, role } of [
    { controller: deploymentController(), role: 'system:controller:deployment-controller' },
    { controller: replicaSetController(), role: 'system:controller:replicaset-controller' },
  ]) {
    it(`lab/A5: writes of ${controller.name} need no more than ${role} allows`, async () => {
      await using env = await TestEnv.start();
      const { rules } = await env.client.get(ClusterRole, { name: role });
      for (const write of writesOf(controller)) {
        const isAllowed = (rules ?? []).some(
          ({ apiGroups = [], resources = [], verbs }) =>
            apiGroups.includes(write.group) && resources.includes(write.resource) && verbs.includes(write.verb),
        );
        assert.ok(isAllowed, `${role} does not allow to ${write.verb} ${write.resource}`);
      }
    });
  }
});

const READING = new Set(['get', 'list', 'watch']);
const writesOf = ({ needs }: Controller) =>
  needs.flatMap(({ group, resource, verbs }) =>
    verbs.filter((verb) => !READING.has(verb)).map((verb) => ({ group, resource, verb })),
  );
