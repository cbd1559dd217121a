import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CREATED, type CreatedRow, createOurs, groupOf, textOf } from '../../../test/conformance/builtin-cases.ts';
import { recorded } from '../../../test/conformance/recording.ts';
import { cloneJson, type JsonObject } from '../../object/json.ts';
import { builtinResources } from '../builtin-data/builtin-resources.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import { ClusterIpAllocator, NodePortAllocator } from './allocators.ts';
import { strategyOf } from './strategies.ts';

const deps = () => ({ clusterIps: new ClusterIpAllocator(), nodePorts: new NodePortAllocator() });
const strategy = (group: string, kind: string): Strategy => strategyOf(group, kind, deps());
const context = (subresource = ''): WriteContext => ({
  now: new Date('2026-01-01T00:00:00Z'),
  isDryRun: false,
  subresource,
  user: { name: 'jane', groups: ['dev'] },
});

/** Every stored kind of one version that a rule holds for, CRDs aside: they have a strategy of their own. */
function kindsWith(holds: (strategy: Strategy) => boolean): readonly string[] {
  const kinds = builtinResources().filter(
    ({ isStored, group, version }) =>
      isStored && group !== 'apiextensions.k8s.io' && !(group === 'autoscaling' && version === 'v1'),
  );
  const held = kinds.filter(({ group, kind }) => holds(strategy(group, kind)));
  return held.map(({ group, kind }) => `${group === '' ? 'core' : group}/${kind}`).sort();
}

describe('strategyOf', () => {
  it('apiserver/M8: counts generations of kinds with a spec that controllers watch', () => {
    const counted = kindsWith(({ tracksGeneration }) => tracksGeneration);
    for (const kind of [
      'apps/Deployment',
      'apps/DaemonSet',
      'apps/StatefulSet',
      'apps/ReplicaSet',
      'core/ReplicationController',
      'batch/Job',
      'batch/CronJob',
      'core/Pod',
      'policy/PodDisruptionBudget',
      'networking.k8s.io/NetworkPolicy',
      'networking.k8s.io/Ingress',
      'admissionregistration.k8s.io/MutatingWebhookConfiguration',
    ]) {
      assert.ok(counted.includes(kind), kind);
    }
    for (const kind of [
      'ConfigMap',
      'Secret',
      'ServiceAccount',
      'Event',
      'Namespace',
      'Node',
      'Service',
      'Endpoints',
    ]) {
      assert.equal(counted.includes(`core/${kind}`), false, kind);
    }
    assert.equal(
      counted.some((kind) => kind.startsWith('rbac') || kind.includes('Lease')),
      false,
    );
  });

  it('apiserver/M8: gives a PriorityClass the generation 1 that never changes', () => {
    const object: JsonObject = { metadata: { name: 'p' }, value: 1 };
    const rules = strategy('scheduling.k8s.io', 'PriorityClass');
    rules.prepareForCreate?.(object, context());
    assert.deepEqual(object['metadata'], { name: 'p', generation: 1 });
    assert.equal(rules.tracksGeneration, false);
  });

  it('apiserver/W7: lets PUT create a few kinds only', () => {
    assert.deepEqual(
      kindsWith(({ createsOnUpdate }) => createsOnUpdate === true),
      [
        'coordination.k8s.io/Lease',
        'core/Endpoints',
        'core/Event',
        'core/LimitRange',
        'core/Service',
        'events.k8s.io/Event',
        'node.k8s.io/RuntimeClass',
        'rbac.authorization.k8s.io/ClusterRole',
        'rbac.authorization.k8s.io/ClusterRoleBinding',
        'rbac.authorization.k8s.io/Role',
        'rbac.authorization.k8s.io/RoleBinding',
      ],
    );
  });

  it('apiserver/W8: wants a resourceVersion in the PUT of a few kinds', () => {
    assert.deepEqual(
      kindsWith(({ allowsUnconditionalUpdate }) => !allowsUnconditionalUpdate),
      [
        'admissionregistration.k8s.io/MutatingAdmissionPolicy',
        'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
        'admissionregistration.k8s.io/MutatingWebhookConfiguration',
        'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
        'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
        'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
        'apiregistration.k8s.io/APIService',
        'coordination.k8s.io/Lease',
        'node.k8s.io/RuntimeClass',
        'policy/PodDisruptionBudget',
        'storage.k8s.io/CSIDriver',
        'storage.k8s.io/CSINode',
        'storage.k8s.io/CSIStorageCapacity',
        'storage.k8s.io/VolumeAttachment',
      ],
    );
  });

  it('apiserver/DE2: answers the deletion of some kinds with the object', () => {
    assert.deepEqual(
      kindsWith(({ returnsDeletedObject }) => returnsDeletedObject === true),
      [
        'core/Namespace',
        'core/PersistentVolume',
        'core/PersistentVolumeClaim',
        'core/Pod',
        'core/PodTemplate',
        'core/ResourceQuota',
        'core/Service',
        'core/ServiceAccount',
        'storage.k8s.io/CSIDriver',
        'storage.k8s.io/CSINode',
        'storage.k8s.io/StorageClass',
        'storage.k8s.io/VolumeAttachment',
        'storage.k8s.io/VolumeAttributesClass',
      ],
    );
  });

  it('apiserver/DE4: orphans the pods of jobs and replication controllers, and collects no events', () => {
    const orphans = kindsWith(({ defaultPropagation }) => defaultPropagation === 'Orphan');
    assert.deepEqual(orphans, ['batch/Job', 'core/ReplicationController']);
    assert.deepEqual(
      kindsWith(({ isCollected }) => isCollected === false),
      ['core/Event', 'events.k8s.io/Event'],
    );
  });

  it('apiserver/S2: does not let the main endpoint own a status that is a subresource', () => {
    for (const { group, kind, subresources, isStored } of builtinResources()) {
      if (!isStored || group === 'apiextensions.k8s.io' || !subresources.has('status')) continue;
      const { resetFields } = strategy(group, kind);
      const isPlain = resetFields === undefined;
      assert.ok(isPlain || resetFields['']?.includes('status'), `${group}/${kind}`);
      assert.equal(isPlain, UNRULED.has(kind), `${group}/${kind}`);
    }
  });

  it('names the fields that can be selected by', () => {
    const fields = (group: string, kind: string) =>
      Object.keys(strategy(group, kind).selectableFields ?? {}).sort();
    assert.deepEqual(fields('', 'Pod'), [
      'spec.hostNetwork',
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.nominatedNodeName',
      'status.phase',
      'status.podIP',
    ]);
    assert.deepEqual(fields('', 'Event').length, 11);
    assert.deepEqual(fields('batch', 'Job'), ['status.successful']);
    assert.deepEqual(fields('certificates.k8s.io', 'CertificateSigningRequest'), ['spec.signerName']);
  });

  it('reads the value of a selectable field, empty when there is none', () => {
    const read = (group: string, kind: string, field: string, object: JsonObject) =>
      strategy(group, kind).selectableFields?.[field]?.(object);
    const pod = {
      spec: { nodeName: 'n', hostNetwork: true },
      status: { podIPs: [{ ip: '1.2.3.4' }], podIP: '5' },
    };
    assert.equal(read('', 'Pod', 'spec.nodeName', pod), 'n');
    assert.equal(read('', 'Pod', 'spec.hostNetwork', pod), 'true');
    assert.equal(read('', 'Pod', 'status.podIP', pod), '1.2.3.4');
    assert.equal(read('', 'Pod', 'status.phase', pod), '');
    assert.equal(read('', 'Node', 'spec.unschedulable', {}), 'false');
    assert.equal(read('batch', 'Job', 'status.successful', { status: { succeeded: 2 } }), '2');
    const event = { regarding: { name: 'p' }, reportingController: 'c' };
    assert.equal(read('events.k8s.io', 'Event', 'regarding.name', event), 'p');
    assert.equal(read('', 'Event', 'source', { source: {}, reportingComponent: 'c' }), 'c');
    for (const [field, want] of [
      ['spec.type', 'NodePort'],
      ['spec.clusterIP', '10.0.0.9'],
    ] as const) {
      assert.equal(read('', 'Service', field, { spec: { type: 'NodePort', clusterIP: '10.0.0.9' } }), want);
    }
  });

  for (const { name, asked, pod, want } of [
    { name: 'the grace of its spec', asked: undefined, pod: {}, want: 30 },
    { name: 'the grace that is asked for', asked: 5, pod: {}, want: 5 },
    { name: 'one second for a negative wish', asked: -1, pod: {}, want: 1 },
    { name: 'no time when no node knows it', asked: 5, pod: { nodeName: '' }, want: 0 },
    { name: 'no time when it has ended', asked: undefined, pod: { phase: 'Succeeded' }, want: 0 },
  ]) {
    it(`apiserver/DE5: gives a pod ${name}`, () => {
      const { nodeName = 'n', phase = 'Running' }: { nodeName?: string; phase?: string } = pod;
      const object = { spec: { nodeName, terminationGracePeriodSeconds: 30 }, status: { phase } };
      assert.equal(strategy('', 'Pod').gracePeriod?.(object, asked), want);
    });
  }

  it('apiserver/M9: forces the name of a namespace into its labels on every write', () => {
    const object: JsonObject = { metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'b' } } };
    strategy('', 'Namespace').setDefaults?.(object);
    assert.deepEqual(object['metadata'], { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } });
  });

  it('apiserver/M9: keeps phase and finalizers of a namespace from everyone but /finalize', () => {
    const old = { metadata: { name: 'a' }, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    const sent = (): JsonObject => ({ metadata: { name: 'a' }, spec: {}, status: { phase: 'Terminating' } });
    const rules = strategy('', 'Namespace');
    const updated = sent();
    rules.prepareForUpdate?.(updated, old, context());
    assert.deepEqual(updated, old);
    const finalized = sent();
    rules.prepareForUpdate?.(finalized, old, context('finalize'));
    assert.deepEqual(finalized, { ...old, spec: {} });
  });

  it('apiserver/G14: refuses a lease of no length', () => {
    const errors = strategy('coordination.k8s.io', 'Lease').validate?.(
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      context(),
    );
    assert.deepEqual(
      errors?.map(({ field }) => field),
      ['spec.leaseDurationSeconds', 'spec.leaseTransitions'],
    );
  });

  it('apiserver/V7: fills in what a webhook leaves open', () => {
    const object: JsonObject = {
      metadata: { name: 'w' },
      webhooks: [
        {
          name: 'a.ex.io',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          rules: [{ operations: ['*'] }],
          clientConfig: { service: { name: 's' } },
        },
      ],
    };
    strategy('admissionregistration.k8s.io', 'MutatingWebhookConfiguration').setDefaults?.(object);
    const clientConfig = { service: { namespace: '', name: 's', port: 443 } };
    assert.deepEqual(object['webhooks'], [
      {
        name: 'a.ex.io',
        clientConfig,
        rules: [{ operations: ['*'], scope: '*' }],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        sideEffects: 'None',
        timeoutSeconds: 10,
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: 'Never',
      },
    ]);
  });

  it('apiserver/Z4: never lets a binding point to another role', () => {
    const binding = (name: string): JsonObject => ({
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    });
    const errors = strategy('rbac.authorization.k8s.io', 'ClusterRoleBinding').validateUpdate?.(
      binding('b'),
      binding('a'),
      context(),
    );
    assert.deepEqual(
      errors?.map(({ field }) => field),
      ['roleRef'],
    );
  });

  it('keeps a kind without rules as it comes', () => {
    assert.deepEqual(strategy('ex.io', 'Thing'), { tracksGeneration: false, allowsUnconditionalUpdate: true });
  });

  it('finds nothing left to default the second time', () => {
    for (const { name, sent, stored } of recorded<CreatedRow>(CREATED)) {
      if (stored === undefined) continue;
      const { object } = createOurs(sent);
      const again = cloneJson(object);
      const version = textOf(sent, 'apiVersion').split('/').at(-1);
      strategyOf(groupOf(sent), textOf(sent, 'kind'), deps(), version).setDefaults?.(again);
      assert.deepEqual(again, object, name);
    }
  });
});

/** Kinds without rules of their own yet. */
const UNRULED = new Set([
  'ServiceCIDR',
  'ResourceClaim',
  'ResourceSlice',
  'DeviceClass',
  'MutatingAdmissionPolicy',
]);
