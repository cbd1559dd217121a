import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type NodeSketch, type PodSketch, viewLike } from '../../../../test/support/pretend-cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim, Volume } from '../../../api/generated/core-v1-types.ts';
import type { CSINode, StorageClass } from '../../../api/generated/storage-v1-types.ts';
import type { ObjectMeta } from '../../../api/object.ts';
import { decide } from './decision.ts';
import type { StorageObjects } from './storage-view.ts';

const BOUND = { 'pv.kubernetes.io/bind-completed': 'yes' };
const ZONE = 'topology.kubernetes.io/zone';

interface ClaimSketch {
  readonly metadata?: Partial<ObjectMeta>;
  readonly volume?: string;
  readonly className?: string;
  readonly phase?: 'Bound' | 'Lost' | 'Pending';
}

const claim = ({ metadata, volume, className, phase = 'Pending' }: ClaimSketch): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', ...metadata },
  spec: {
    ...(volume !== undefined && { volumeName: volume }),
    ...(className !== undefined && { storageClassName: className }),
  },
  status: { phase },
});
const bound = (volume: string, name = 'data') =>
  claim({ metadata: { name, annotations: BOUND }, volume, phase: 'Bound' });

const volume = (name: string, zone?: string, driver = 'csi.example'): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    csi: { driver, volumeHandle: `handle-${name}` },
    ...(zone !== undefined && {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }] },
      },
    }),
  },
});
const storageClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'csi.example',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
});
const csiNode = (name: string, count?: number): CSINode => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name },
  spec: {
    drivers: [{ name: 'csi.example', nodeID: name, ...(count !== undefined && { allocatable: { count } }) }],
  },
});

interface Things {
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
  readonly classes?: readonly StorageClass[];
  readonly csiNodes?: readonly CSINode[];
}

const byName = <T extends { readonly metadata: ObjectMeta }>(things: readonly T[] = []) =>
  new Map(things.map((thing) => [thing.metadata.name, thing]));
const storageOf = ({ claims = [], volumes, classes, csiNodes }: Things): StorageObjects => ({
  claims: new Map(claims.map((one) => [`default/${one.metadata.name}`, one])),
  volumes: byName(volumes),
  classes: byName(classes),
  csiNodes: byName(csiNodes),
});

const NODES: readonly NodeSketch[] = [
  { name: 'a', labels: { [ZONE]: 'a' } },
  { name: 'b', labels: { [ZONE]: 'b' } },
];
const using = (...names: readonly string[]): PodSketch => ({
  spec: { volumes: names.map((name): Volume => ({ name, persistentVolumeClaim: { claimName: name } })) },
});

const decisionOf = (things: Things, pod: PodSketch = using('data'), others: readonly PodSketch[] = []) =>
  decide(factsLike(pod), viewLike({ nodes: NODES, pods: others, storage: storageOf(things) }));

const messageOf = (...given: Parameters<typeof decisionOf>): string => {
  const decision = decisionOf(...given);
  assert.ok(decision.type === 'unschedulable');
  return decision.message.replace(' preemption: not simulated by the lab.', '');
};

const WAITING = { classes: [storageClass('slow')] };
const EPHEMERAL: PodSketch = { spec: { volumes: [{ name: 'tmp', ephemeral: {} }] } };

interface Problem {
  readonly what: string;
  readonly things: Things;
  readonly pod?: PodSketch;
  readonly message: string;
}

const UNBOUND = 'pod has unbound immediate PersistentVolumeClaims';
const PROBLEMS: readonly Problem[] = [
  { what: 'that is not there', things: {}, message: 'persistentvolumeclaim "data" not found' },
  {
    what: 'that nobody has made yet',
    things: {},
    pod: EPHEMERAL,
    message: 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-tmp"',
  },
  {
    what: 'that was made for somebody else',
    things: { claims: [claim({ metadata: { name: 'p-tmp' } })] },
    pod: EPHEMERAL,
    message: 'PVC default/p-tmp was not created for pod default/p (pod is not owner)',
  },
  {
    what: 'that has lost its volume',
    things: { claims: [claim({ volume: 'v', phase: 'Lost' })] },
    message: 'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
  },
  {
    what: 'that goes',
    things: { claims: [claim({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })] },
    message: 'persistentvolumeclaim "data" is being deleted',
  },
  { what: 'without a class', things: { claims: [claim({})] }, message: UNBOUND },
  {
    what: 'of a class that binds at once',
    things: {
      claims: [claim({ className: 'fast' })],
      classes: [storageClass('fast', { volumeBindingMode: 'Immediate' })],
    },
    message: UNBOUND,
  },
  { what: 'of a class that is not there', things: { claims: [claim({ className: 'none' })] }, message: UNBOUND },
  {
    what: 'that is only half bound',
    things: { claims: [claim({ className: 'slow', volume: 'v' })], ...WAITING },
    message: UNBOUND,
  },
];

describe('claims', () => {
  for (const { what, things, pod = using('data'), message } of PROBLEMS) {
    it(`lab/K2: one ${what} keeps a pod from every node`, () =>
      assert.equal(messageOf(things, pod), `0/2 nodes are available: ${message}.`));
  }

  it('lab/K2: a volume keeps its pod where it can be reached', () => {
    const things = { claims: [bound('v')], volumes: [volume('v', 'b')] };
    assert.deepEqual(decisionOf(things), { type: 'placed', node: 'b', claims: [] });
    const nowhere = { claims: [bound('v')], volumes: [volume('v', 'c')] };
    assert.equal(
      messageOf(nowhere),
      "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.",
    );
  });

  it('lab/K2: a volume that is gone keeps its pod from every node', () => {
    const want =
      '0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).';
    assert.equal(messageOf({ claims: [bound('v')] }), want);
  });

  it('lab/K2: one that waits for its first pod gets its volume where the pod goes', () => {
    const things = { claims: [claim({ className: 'slow' })], ...WAITING };
    assert.deepEqual(decisionOf(things), { type: 'placed', node: 'a', claims: ['data'] });
  });

  it('lab/K2: the annotation of an older kind says the class, too', () => {
    const metadata = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'slow' } };
    assert.equal(decisionOf({ claims: [claim({ metadata })], ...WAITING }).type, 'placed');
  });

  it('lab/K2: one whose volume is being made keeps its pod there', () => {
    const metadata = { annotations: { 'volume.kubernetes.io/selected-node': 'b' } };
    const things = { claims: [claim({ className: 'slow', metadata })], ...WAITING };
    assert.deepEqual(decisionOf(things), { type: 'placed', node: 'b', claims: ['data'] });
  });

  it('lab/K2: one that an earlier pod took along keeps the next pod with it, until that is over', () => {
    const view = viewLike({
      nodes: NODES,
      storage: storageOf({ claims: [claim({ className: 'slow' })], ...WAITING }),
    });
    const facts = factsLike(using('data'));
    view.storage.select('default/data', { node: 'b', uid: 'first' });
    assert.deepEqual(decide(facts, view), { type: 'placed', node: 'b', claims: ['data'] });
    view.storage.release('first');
    assert.deepEqual(decide(facts, view), { type: 'placed', node: 'a', claims: ['data'] });
  });

  const NOT_MADE: readonly (readonly [what: string, one: StorageClass])[] = [
    ['without a provisioner', storageClass('slow', { provisioner: 'kubernetes.io/no-provisioner' })],
    [
      'for other zones',
      storageClass('slow', { allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ['c'] }] }] }),
    ],
    ['for no zone', storageClass('slow', { allowedTopologies: [{}] })],
  ];
  for (const [what, one] of NOT_MADE) {
    it(`lab/K2: of a class ${what} get no volume`, () => {
      const want = "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.";
      assert.equal(messageOf({ claims: [claim({ className: 'slow' })], classes: [one] }), want);
    });
  }

  it('lab/K2: a class may be for some zones', () => {
    const one = storageClass('slow', {
      allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ['b'] }] }],
    });
    assert.deepEqual(decisionOf({ claims: [claim({ className: 'slow' })], classes: [one] }), {
      type: 'placed',
      node: 'b',
      claims: ['data'],
    });
  });
});

describe('limits of volumes', () => {
  const others = [{ name: 'o', node: 'a', ...using('one') }];
  const claims = [bound('v1', 'one'), bound('v2', 'two'), bound('v3', 'three')];
  const volumes = [volume('v1'), volume('v2'), volume('v3', undefined, 'other.example')];
  const full = { claims, volumes, csiNodes: [csiNode('a', 1), csiNode('b', 0)] };

  it('lab/K2: keep pods from nodes that cannot attach more', () => {
    const want = '0/2 nodes are available: 2 node(s) exceed max volume count.';
    assert.equal(messageOf(full, using('two'), others), want);
  });

  it('lab/K2: do not count what is attached already', () => {
    assert.equal(decisionOf(full, using('one'), others).type, 'placed');
  });

  it('lab/K2: hold for the driver they are of', () => {
    assert.equal(decisionOf(full, using('three'), others).type, 'placed');
  });

  it('lab/K2: are none where a node says none', () => {
    const unlimited = { claims, volumes, csiNodes: [csiNode('a'), csiNode('b', 0)] };
    assert.deepEqual(decisionOf(unlimited, using('two'), others), { type: 'placed', node: 'a', claims: [] });
  });

  it('lab/K2: count volumes that are still to be made', () => {
    const waiting = (name: string) => claim({ metadata: { name }, className: 'slow' });
    const things = {
      claims: [waiting('two'), waiting('three')],
      ...WAITING,
      csiNodes: [csiNode('a', 1), csiNode('b', 1)],
    };
    assert.equal(decisionOf(things, using('two')).type, 'placed');
    assert.match(messageOf(things, using('two', 'three')), /2 node\(s\) exceed max volume count/);
  });
});
