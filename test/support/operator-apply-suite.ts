// What an applied operand is, on any API server: ours in this process, and that of Kubernetes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../src/api/generated/admissionregistration-v1.ts';
import { DaemonSet, Deployment } from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, Secret, Service } from '../../src/api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../src/api/generated/rbac-v1.ts';
import { type Kind, type KubeObject, keyOf } from '../../src/api/object.ts';
import { APPLIED_KINDS } from '../../src/cloud-operator/apply/applier.ts';
import { isAlreadyExists, isConflict } from '../../src/kube/client/api-error.ts';
import type { JsonObject } from '../../src/object/json.ts';
import { mutable } from '../../src/object/mutable.ts';
import type { ApplyWorld } from './operator-apply-world.ts';

const GENERATION = 'operator.openshift.io/generation';
const SPEC_HASH = 'operator.openshift.io/spec-hash';
const CONFIG_HASH = 'operator.openshift.io/config-hash';
/** Of a ConfigMap `configmap` and a Secret `secret`, both with `foo: bar` (R38). */
const FOO_BAR_HASH = 'c7f9345a2f1d730784440ab608460066f1c6f5af4662de2a5ff61e1cd81d5bad';

interface ForeignEdit {
  readonly name: string;
  readonly kind: Kind;
  readonly body: JsonObject;
}

const FOREIGN_EDITS: readonly ForeignEdit[] = [
  { name: 'a key of a ConfigMap', kind: ConfigMap, body: { data: { foreign: 'yes' } } },
  { name: 'binary data of a ConfigMap', kind: ConfigMap, body: { binaryData: { foreign: 'AP8=' } } },
  { name: 'a missing key of a ConfigMap', kind: ConfigMap, body: { data: null } },
  { name: 'a budget', kind: PodDisruptionBudget, body: { spec: { minAvailable: 0 } } },
  {
    name: 'the policy of a budget',
    kind: PodDisruptionBudget,
    body: { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
  },
  { name: 'no rules in a Role', kind: Role, body: { rules: [] } },
  { name: 'no rules in a ClusterRole', kind: ClusterRole, body: { rules: [] } },
  {
    name: 'an aggregation rule',
    kind: ClusterRole,
    body: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
  },
  { name: 'nobody in a RoleBinding', kind: RoleBinding, body: { subjects: [] } },
  {
    name: 'somebody else in a ClusterRoleBinding',
    kind: ClusterRoleBinding,
    body: { subjects: [{ kind: 'User', name: 'foreign', apiGroup: 'rbac.authorization.k8s.io' }] },
  },
  {
    name: 'one more validation of a policy',
    kind: ValidatingAdmissionPolicy,
    body: { spec: { validations: [{ expression: 'true' }, { expression: '1 == 2' }] } },
  },
  {
    name: 'a policy for nothing',
    kind: ValidatingAdmissionPolicy,
    body: { spec: { matchConstraints: { objectSelector: { matchLabels: { never: 'there' } } } } },
  },
  {
    name: 'a condition of a policy',
    kind: ValidatingAdmissionPolicy,
    body: { spec: { matchConditions: [{ name: 'never', expression: 'false' }] } },
  },
  { name: 'a policy that may fail', kind: ValidatingAdmissionPolicy, body: { spec: { failurePolicy: 'Ignore' } } },
  {
    name: 'one more action of a binding',
    kind: ValidatingAdmissionPolicyBinding,
    body: { spec: { validationActions: ['Audit', 'Warn'] } },
  },
  {
    name: 'a binding for nothing',
    kind: ValidatingAdmissionPolicyBinding,
    body: { spec: { matchResources: { namespaceSelector: { matchLabels: { never: 'there' } } } } },
  },
  { name: 'the selector of a Service', kind: Service, body: { spec: { selector: { foreign: 'yes' } } } },
  { name: 'the type of a Service', kind: Service, body: { spec: { type: 'NodePort' } } },
  {
    name: 'a port of a Service',
    kind: Service,
    body: { spec: { ports: [{ name: 'port-10258', port: 10_258, targetPort: 1 }] } },
  },
  { name: 'an external address of a Service', kind: Service, body: { spec: { externalIPs: ['192.0.2.1'] } } },
  { name: 'the affinity of a Service', kind: Service, body: { spec: { sessionAffinity: 'ClientIP' } } },
];

export type OpenWorld = () => Promise<ApplyWorld>;

/** Everything about applying once and again. */
export function operandSuite(open: OpenWorld): void {
  it('operator/R40: creates one of each kind, and has nothing to write after that, nor has the next process', async () => {
    const world = await open();
    const objects = world.operands.all();
    const operator = world.operator();
    assert.deepEqual(
      await operator.applyAll(objects),
      objects.map(() => 'created'),
    );
    assert.equal(operator.writes.length, objects.length);
    const unchanged = objects.map(() => 'unchanged');
    assert.deepEqual(await operator.applyAll(objects), unchanged);
    assert.deepEqual(await operator.applyAll(objects), unchanged);
    assert.equal(operator.writes.length, objects.length);
    assert.deepEqual(operator.dryRuns, [], 'what it wrote itself it need not ask for');
    const next = world.operator();
    assert.deepEqual(await next.applyAll(objects), unchanged);
    assert.equal(next.dryRuns.length, 2, 'once for each workload');
    assert.deepEqual(await next.applyAll(objects), unchanged);
    assert.equal(next.dryRuns.length, 2);
    assert.deepEqual([next.writes, next.events], [[], []]);
  });

  it('operator/R46: tells of what it created, with the wrong word for ConfigMaps', async () => {
    const world = await open();
    const operator = world.operator();
    await operator.applyAll([world.operands.configMap(), world.operands.role(), world.operands.deployment()]);
    await operator.apply(world.operands.role(['list']));
    assert.deepEqual(operator.events, [
      'Normal ResourceUpdateSuccess ConfigMap/settings: Resource was successfully updated',
      'Normal ResourceCreateSuccess Role/ccm: Resource was successfully created',
      'Normal ResourceCreateSuccess Deployment/ccm: Resource was successfully created',
      'Normal ResourceUpdateSuccess Role/ccm: Resource was successfully updated',
    ]);
  });

  it('operator/R45: brings every kind from one release to the next, and is done then', async () => {
    const world = await open();
    const operator = world.operator();
    await operator.applyAll(world.operands.all());
    assert.deepEqual(await operator.applyAll(world.operands.later()), [
      'updated',
      'updated',
      'recreated',
      'updated',
      'recreated',
      'updated',
      'updated',
      'recreated',
      'updated',
      'updated',
      'updated',
    ]);
    const next = world.operator();
    const results = await next.applyAll(world.operands.later());
    assert.deepEqual([new Set(results), next.writes, next.events], [new Set(['unchanged']), [], []]);
  });

  for (const { name, kind, body } of FOREIGN_EDITS) {
    it(`operator/R45: reverts what others did to an operand: ${name}`, async () => {
      const world = await open();
      const operator = world.operator();
      const required = world.operands.all().find((one) => one.kind === kind.kind);
      assert.ok(required);
      await operator.apply(required);
      const before = await world.people.get(kind, keyOf(required));
      await world.people.patch(kind, keyOf(required), { type: 'merge', body });
      assert.equal(await operator.apply(required), 'updated');
      assert.deepEqual(contentOf(await world.people.get(kind, keyOf(required))), contentOf(before));
      operator.writes.length = 0;
      assert.deepEqual([await operator.apply(required), operator.writes], ['unchanged', []]);
    });
  }

  it('operator/R45: a Service keeps its address when its ports change', async () => {
    const world = await open();
    const operator = world.operator();
    await operator.apply(world.operands.service());
    const key = keyOf(world.operands.service());
    const { spec: before } = await world.people.get(Service, key);
    assert.equal(await operator.apply(world.operands.service([443, 80])), 'updated');
    const { spec: after } = await world.people.get(Service, key);
    assert.deepEqual(
      after.ports?.map(({ port, targetPort }) => [port, targetPort]),
      [
        [443, 443],
        [80, 80],
      ],
    );
    assert.deepEqual([after.clusterIP, after.ipFamilies], [before.clusterIP, before.ipFamilies]);
    assert.equal(await operator.apply(world.operands.service([443, 80])), 'unchanged');
  });

  it('operator/R45: a binding to another role is made anew, after the server was asked', async () => {
    const world = await open();
    const operator = world.operator();
    await operator.apply(world.operands.clusterRoleBinding());
    operator.events.length = 0;
    const required = world.operands.clusterRoleBinding('view');
    const { name } = required.metadata;
    assert.equal(await operator.apply(required), 'recreated');
    assert.equal((await world.people.get(ClusterRoleBinding, { name })).roleRef.name, 'view');
    assert.equal(operator.dryRuns.length, 1);
    assert.deepEqual(operator.events, [
      `Normal ResourceRecreating ClusterRoleBinding/${name}: ClusterRoleBinding ${name} is deleted and created again: roleRef cannot be changed`,
      `Normal ResourceRecreateSuccess ClusterRoleBinding/${name}: Resource was successfully recreated`,
    ]);
  });

  it('operator/R47: prunes operands that are no longer rendered, and nothing of others', async () => {
    const world = await open();
    const operator = world.operator();
    const { operands, namespace } = world;
    await operator.applyAll(operands.all());
    await world.people.create(ConfigMap, { metadata: { name: 'foreign', namespace } });
    const kept = [operands.deployment(), operands.clusterRole()];
    const gone = await operator.prune(kept);
    assert.deepEqual(
      gone.map(({ kind }) => kind).toSorted(),
      operands
        .all()
        .map(({ kind }) => kind)
        .filter((kind) => kind !== 'Deployment' && kind !== 'ClusterRole')
        .toSorted(),
    );
    assert.deepEqual(await operator.prune(kept), []);
    assert.deepEqual(await operator.applyAll(kept), ['unchanged', 'unchanged']);
    assert.ok(await world.people.find(ConfigMap, { name: 'foreign', namespace }));
    assert.equal((await operator.prune([])).length, 2);
  });

  it('is done at the same state wherever it was killed', async () => {
    const undisturbed = await lifeOf(await open(), Infinity);
    assert.ok(undisturbed.writes > 20);
    for (let killedAfter = 1; killedAfter <= undisturbed.writes; killedAfter++) {
      const life = await lifeOf(await open(), killedAfter);
      assert.deepEqual(life.state, undisturbed.state, `killed after ${killedAfter} writes`);
    }
  });
}

/** Everything about Deployments and DaemonSets. */
export function workloadSuite(open: OpenWorld): void {
  it('operator/R38, operator/R39, operator/R40: a new workload says what it was made of', async () => {
    const world = await open();
    for (const [kind, required] of [
      [Deployment, world.operands.deployment()],
      [DaemonSet, world.operands.daemonSet()],
    ] as const) {
      await world.operator().apply(required);
      const { metadata, spec } = await world.people.get<Deployment | DaemonSet, unknown>(kind, keyOf(required));
      assert.equal(metadata.annotations?.[GENERATION], '1');
      assert.match(metadata.annotations?.[SPEC_HASH] ?? '', /^[0-9a-f]{64}$/);
      assert.equal(spec.template.metadata?.annotations?.[CONFIG_HASH], FOO_BAR_HASH);
    }
  });

  it('operator/case 8: a foreign port is reverted, a foreign label and a foreign annotation stay', async () => {
    const world = await open();
    const operator = world.operator();
    const required = world.operands.deployment();
    await operator.apply(required);
    await editAs(world, Deployment, required, (draft) => {
      draft.spec.template.spec?.containers[0]?.ports?.push({ containerPort: 99, protocol: 'TCP' });
      draft.metadata.labels = { ...draft.metadata.labels, foreign: 'yes' };
      draft.metadata.annotations = { ...draft.metadata.annotations, foreign: 'yes' };
    });
    assert.equal(await operator.apply(required), 'updated');
    const { metadata, spec } = await world.people.get(Deployment, keyOf(required));
    assert.deepEqual(
      spec.template.spec?.containers[0]?.ports?.map(({ containerPort }) => containerPort),
      [10_258],
    );
    assert.deepEqual([metadata.labels?.['foreign'], metadata.annotations?.['foreign']], ['yes', 'yes']);
    assert.equal(metadata.annotations?.[GENERATION], metadata.generation?.toString(16));
    assert.equal(await operator.apply(required), 'unchanged');
    assert.equal(await world.operator().apply(required), 'unchanged');
  });

  it('operator/case 9: another Secret is another hash, and an update; the same one is none', async () => {
    const world = await open();
    const operator = world.operator();
    const required = world.operands.deployment();
    await operator.apply(required);
    await editAs(world, Secret, { metadata: { name: 'secret', namespace: world.namespace } }, (draft) => {
      draft.data = { foo: 'YmF6' };
    });
    assert.equal(await operator.apply(required), 'updated');
    assert.equal(await operator.apply(required), 'unchanged');
    const { spec } = await world.people.get(Deployment, keyOf(required));
    assert.notEqual(spec.template.metadata?.annotations?.[CONFIG_HASH], FOO_BAR_HASH);
  });

  it('operator/R38: goes on without a hash when what it is made of is missing, and says so', async () => {
    const world = await open();
    const { namespace, operands } = world;
    const operator = world.operator();
    await world.people.delete(ConfigMap, { namespace, name: 'configmap' });
    assert.equal(await operator.apply(operands.daemonSet()), 'created');
    await world.people.delete(Secret, { namespace, name: 'secret' });
    assert.equal(await operator.apply(operands.daemonSet()), 'unchanged');
    // Said once: nothing is written for as long as nothing changes.
    assert.equal(await operator.apply(operands.daemonSet()), 'unchanged');
    const { spec } = await world.people.get(DaemonSet, keyOf(operands.daemonSet()));
    assert.equal(spec.template.metadata?.annotations?.[CONFIG_HASH], undefined);
    const prefix = 'Warning ConfigurationCheckFailed DaemonSet/cnm: error calculating configuration hash:';
    assert.deepEqual(
      operator.events.filter((event) => event.startsWith('Warning')),
      [
        `${prefix} configmaps "configmap" not found`,
        `${prefix} [configmaps "configmap" not found, secrets "secret" not found]`,
      ],
    );
  });

  it('operator/R43: a DaemonSet that lost a label is written once, and never again by any process', async () => {
    const world = await open();
    const operator = world.operator();
    const required = world.operands.daemonSet();
    await operator.apply(required);
    await editAs(world, DaemonSet, required, (draft) => {
      draft.metadata.labels = {};
    });
    assert.equal(await operator.apply(required), 'updated');
    const { metadata } = await world.people.get(DaemonSet, keyOf(required));
    assert.deepEqual([metadata.generation, metadata.annotations?.[GENERATION]], [1, '2']);
    for (const process of [operator, world.operator()]) {
      process.writes.length = 0;
      assert.deepEqual([await process.apply(required), await process.apply(required)], ['unchanged', 'unchanged']);
      assert.deepEqual(process.writes, []);
    }
  });

  for (const kind of [Deployment, DaemonSet] as const) {
    it(`operator/R41: a ${kind.kind} whose annotation pretends to know of a foreign edit is reverted all the same`, async () => {
      const world = await open();
      const operator = world.operator();
      const required = kind.kind === 'Deployment' ? world.operands.deployment() : world.operands.daemonSet();
      await operator.apply(required);
      for (const process of [operator, world.operator()]) {
        await editAs<Deployment | DaemonSet>(world, kind, required, (draft) => {
          if (draft.spec.template.spec !== undefined) draft.spec.template.spec.hostPID = true;
          const next = ((draft.metadata.generation ?? 0) + 1).toString(16);
          draft.metadata.annotations = { ...draft.metadata.annotations, [GENERATION]: next };
        });
        assert.equal(await process.apply(required), 'updated');
        const { spec } = await world.people.get<Deployment | DaemonSet, unknown>(kind, keyOf(required));
        assert.equal(spec.template.spec?.hostPID, undefined);
        assert.equal(await process.apply(required), 'unchanged');
      }
      const next = world.operator();
      assert.equal(await next.apply(required), 'unchanged');
      assert.deepEqual(next.writes, []);
    });
  }

  it('operator/R41: annotations of ours that somebody took away come back, without a new generation of pods', async () => {
    const world = await open();
    const operator = world.operator();
    const required = world.operands.daemonSet();
    await operator.apply(required);
    await editAs(world, DaemonSet, required, (draft) => {
      draft.metadata.annotations = {};
    });
    assert.equal(await operator.apply(required), 'updated');
    const { metadata } = await world.people.get(DaemonSet, keyOf(required));
    assert.deepEqual([metadata.generation, metadata.annotations?.[GENERATION]], [1, '2']);
    assert.equal(await world.operator().apply(required), 'unchanged');
  });

  it('operator/R42: another selector is another object, which the server has agreed to before', async () => {
    const world = await open();
    const operator = world.operator();
    await operator.apply(world.operands.deployment());
    const before = await world.people.get(Deployment, keyOf(world.operands.deployment()));
    operator.events.length = 0;
    const required = world.operands.deployment({ app: 'other' });
    assert.equal(await operator.apply(required), 'recreated');
    const after = await world.people.get(Deployment, keyOf(required));
    assert.notEqual(after.metadata.uid, before.metadata.uid);
    assert.equal(after.metadata.annotations?.[GENERATION], '1');
    assert.deepEqual(operator.events, [
      'Normal ResourceRecreating Deployment/ccm: Deployment ccm is deleted and created again: spec.selector cannot be changed',
      'Normal ResourceRecreateSuccess Deployment/ccm: Resource was successfully recreated',
    ]);
    assert.equal(await operator.apply(required), 'unchanged');
  });

  it('operator/R42: nothing is deleted when the server would not take the new one', async () => {
    const world = await open();
    const operator = world.operator();
    await operator.apply(world.operands.daemonSet());
    const before = await world.people.get(DaemonSet, keyOf(world.operands.daemonSet()));
    const wrong = mutable(world.operands.daemonSet({ app: 'other' }));
    wrong.spec.template.metadata = { labels: { app: 'third' } };
    await assert.rejects(
      operator.apply(wrong),
      /^SlipwayError: new resource validation prior to old resource deletion failed: .*`selector` does not match template `labels`/,
    );
    const after = await world.people.get(DaemonSet, keyOf(before));
    assert.equal(after.metadata.uid, before.metadata.uid);
    assert.match(operator.events.at(-1) ?? '', /^Warning ResourceCreateFailed DaemonSet\/cnm: .*selector/);
  });

  it('operator/R42: waits for a finalizer that holds the old one, and creates when it is gone', async () => {
    const world = await open();
    const operator = world.operator();
    const first = { ...world.operands.deployment() };
    await operator.apply({ ...first, metadata: { ...first.metadata, finalizers: ['example.com/hold'] } });
    const required = world.operands.deployment({ app: 'other' });
    await assert.rejects(operator.apply(required), (error) => isAlreadyExists(error));
    assert.match(operator.events.at(-1) ?? '', /^Warning ResourceCreateFailed Deployment\/ccm: .*being deleted/);
    await assert.rejects(operator.apply(required), /Deployment .*\/ccm is being deleted/);
    await editAs(world, Deployment, required, (draft) => {
      draft.metadata.finalizers = [];
    });
    assert.equal(await operator.apply(required), 'created');
  });

  it('says so when somebody else was faster, and wins the next time', async () => {
    const world = await open();
    const operator = world.operator();
    await operator.apply(world.operands.deployment());
    const required = world.operands.deployment({ image: 'example.com/ccm:2' });
    operator.beforeWrite = () =>
      editAs(world, Deployment, required, (draft) => {
        draft.metadata.labels = { ...draft.metadata.labels, faster: 'yes' };
      });
    await assert.rejects(operator.apply(required), (error) => isConflict(error));
    assert.match(
      operator.events.at(-1) ?? '',
      /^Warning ResourceUpdateFailed Deployment\/ccm: .*has been modified/,
    );
    operator.beforeWrite = async () => {};
    assert.equal(await operator.apply(required), 'updated');
    const { metadata } = await world.people.get(Deployment, keyOf(required));
    assert.equal(metadata.labels?.['faster'], 'yes');
  });

  for (const kind of [Deployment, DaemonSet] as const) {
    it(`operator/R38: a ${kind.kind} of the upstream operator is taken over in one write that keeps its pods`, async () => {
      const world = await open();
      const required = kind.kind === 'Deployment' ? world.operands.deployment() : world.operands.daemonSet();
      await world.people.create(kind as Kind, asUpstream(required));
      const before = await world.people.get<Deployment | DaemonSet, unknown>(kind, keyOf(required));
      const operator = world.operator();
      assert.equal(await operator.apply(required), 'updated');
      const after = await world.people.get<Deployment | DaemonSet, unknown>(kind, keyOf(required));
      assert.deepEqual(after.spec, before.spec);
      assert.equal(after.metadata.uid, before.metadata.uid);
      assert.equal(await operator.apply(required), 'unchanged');
      assert.equal(operator.writes.length, 1);
      assert.equal(await world.operator().apply(required), 'unchanged');
    });
  }
}

/** Two releases, with foreign edits in between, and all that was left at the end. */
async function lifeOf(
  world: ApplyWorld,
  killedAfter: number,
): Promise<{ readonly writes: number; readonly state: unknown }> {
  const { operands } = world;
  let operator = world.operator(killedAfter);
  let writes = 0;
  const finish = async (objects: readonly KubeObject[]) => {
    try {
      await operator.applyAll(objects);
      await operator.prune(objects);
    } catch (error) {
      if (!operator.isDead) throw error;
      writes += operator.writes.length;
      operator = world.operator();
      await finish(objects);
    }
  };
  await finish(operands.all());
  const body = { metadata: { labels: { 'slipway.dev/managed-by': null } } };
  await world.people.patch(DaemonSet, keyOf(operands.daemonSet()), { type: 'merge', body });
  await finish(operands.later().slice(1));
  const results = new Set(await operator.applyAll(operands.later().slice(1)));
  assert.deepEqual(results, new Set(['unchanged']));
  return { writes: writes + operator.writes.length, state: await stateOf(world) };
}

/** Without what a server makes up. */
async function stateOf({ people, operands, namespace }: ApplyWorld): Promise<unknown> {
  const lists = await Promise.all(
    APPLIED_KINDS.map((kind) => people.live.list(kind, { labels: operands.labels })),
  );
  const objects = lists
    .flatMap(({ items }) => items)
    .map((object) => ({
      ...contentOf(object),
      kind: object.kind,
      name: object.metadata.name,
      generation: object.metadata.generation,
      labels: object.metadata.labels,
      annotations: object.metadata.annotations,
    }));
  const text = JSON.stringify(objects).replaceAll(namespace, 'NAMESPACE');
  const result: unknown = JSON.parse(text.replaceAll(/"(?:clusterIP|clusterIPs)":(?:"[^"]*"|\[[^\]]*\]),?/g, ''));
  return result;
}

function contentOf(object: KubeObject): JsonObject {
  const { metadata: _metadata, status: _status, ...content } = object as unknown as JsonObject;
  return content;
}

/** As the upstream operator creates it: its own hash of the spec, the same of the configuration, no label of ours. */
function asUpstream(required: Deployment | DaemonSet): KubeObject {
  const object = mutable(required as Deployment);
  delete object.metadata.labels;
  object.metadata.annotations = { [GENERATION]: '1', [SPEC_HASH]: 'ab'.repeat(32) };
  const { metadata = {} } = object.spec.template;
  object.spec.template.metadata = {
    ...metadata,
    annotations: { ...metadata.annotations, [CONFIG_HASH]: FOO_BAR_HASH },
  };
  return object;
}

/** As somebody with an editor: reads, changes, writes. */
async function editAs<T extends KubeObject>(
  world: ApplyWorld,
  kind: Kind<T, never> | Kind<T, unknown> | Kind,
  { metadata }: Pick<KubeObject, 'metadata'>,
  edit: (draft: ReturnType<typeof mutable<T>>) => void,
): Promise<void> {
  const { name, namespace } = metadata;
  const key = namespace === undefined ? { name } : { name, namespace };
  const draft = mutable((await world.people.get(kind as Kind, key)) as T);
  edit(draft);
  await world.people.update(kind as Kind, draft);
}
