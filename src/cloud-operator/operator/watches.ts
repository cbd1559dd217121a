import { isDeepStrictEqual } from 'node:util';
import { ConfigMap, Pod, Secret } from '../../api/generated/core-v1.ts';
import { type Kind, type KubeObject, resourceOf } from '../../api/object.ts';
import {
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Proxy,
  SINGLETON,
} from '../../api/openshift/config-v1.ts';
import type { KindCacheOptions } from '../../kube/cache/cache.ts';
import { Channel, type ChannelSource } from '../../kube/controller/channel.ts';
import { type Controller, controllerOf } from '../../kube/controller/controller.ts';
import { byType, type Predicate, resourceVersionChanged } from '../../kube/controller/predicates.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';
import { WATCHING } from '../../kube/rbac/rules.ts';
import { eventNeeds } from '../../kube/rbac/runtime-needs.ts';
import { applyNeeds, type OperandKind } from '../apply/applier.ts';
import { prunedKinds, pruneNeeds } from '../apply/prune.ts';
import { changesGatesVersion } from '../config/feature-gates.ts';
import type { OperatorNames } from '../names.ts';
import { OperatorStatus } from '../status/operator-status.ts';
import { isForeignTo } from '../status/own-echo.ts';
import type { Operands } from './operands.ts';
import type { CloudOperator } from './reconcile.ts';

export interface ControllerParts {
  readonly names: OperatorNames;
  readonly kinds: readonly OperandKind[];
  /** Whether operands of kinds that are deployed no more are looked for. */
  readonly prune: boolean;
  readonly imagesChanged: ChannelSource;
  readonly operator: CloudOperator;
  readonly operands: Operands;
  readonly status: OperatorStatus;
}

/** In metrics and in the name of the field manager. */
export const CONTROLLER_NAME = 'cloud-operator';
const CLUSTER_VERSION = { name: 'version' } as const;

/** There is one of each, and nobody has to read others. */
const SINGLETONS: readonly (readonly [Kind, string])[] = [
  [Infrastructure, SINGLETON.name],
  [FeatureGate, SINGLETON.name],
  [Proxy, SINGLETON.name],
  [ClusterVersion, CLUSTER_VERSION.name],
];

/** Only what the operator looks at is read: operands where they are, and objects that are one of a kind (R3). */
export function operatorCache(
  { managedNamespace, clusterOperator }: OperatorNames,
  kinds: readonly OperandKind[],
) {
  const named = (name: string): KindCacheOptions => ({ fields: `metadata.name=${name}` });
  const namespaced = kinds.filter(({ kind }) => kind.scope === 'Namespaced');
  return {
    namespaces: [managedNamespace],
    byKind: Object.fromEntries<KindCacheOptions>([
      ...namespaced.map(({ kind, namespaces }) => [resourceOf(kind), { namespaces }] as const),
      ...[ConfigMap, Secret].map((kind) => [resourceOf(kind), { namespaces: [managedNamespace] }] as const),
      [resourceOf(ClusterOperator), named(clusterOperator)],
      ...SINGLETONS.map(([kind, name]) => [resourceOf(kind), named(name)] as const),
    ]),
  };
}

/**
 * Whatever happens, there is one thing to do (section 6). Upstream watches KubeControllerManager as well and never looks
 * at it; we do not.
 */
export function cloudOperatorController(parts: ControllerParts): Controller {
  const { names, kinds, prune, imagesChanged, operator, operands, status } = parts;
  const { clusterOperator, managedNamespace } = names;
  const KEY = { name: clusterOperator };
  const mapped = () => [KEY];
  const only = (name: string) => (object: KubeObject) => (object.metadata.name === name ? [KEY] : []);
  const local: Predicate = ({ object }) => object.metadata.namespace === managedNamespace;
  // A cluster where nothing happens is told that there is nothing to do.
  const beginning = new Channel();
  beginning.send(KEY);
  const builder = controllerOf(CONTROLLER_NAME)
    .watchesChannel(beginning)
    .watchesChannel(imagesChanged)
    .watches(ClusterOperator, only(clusterOperator), [resourceVersionChanged, isForeignTo(status)])
    // Its resyncs are let through: whatever no event tells of is found within ten minutes.
    .watches(Infrastructure, only(SINGLETON.name))
    .watches(FeatureGate, only(SINGLETON.name), [resourceVersionChanged])
    .watches(Proxy, only(SINGLETON.name), [resourceVersionChanged])
    .watches(ClusterVersion, only(CLUSTER_VERSION.name), [byType({ update: changesGatesVersion })])
    .watches(Secret, mapped, [local, resourceVersionChanged])
    .watches(ConfigMap, mapped, [local, resourceVersionChanged]);
  for (const { kind } of kinds.filter((one) => one.kind !== ConfigMap)) {
    builder.watches(kind, mapped, [({ object }) => operands.isOperand(withKind(object, kind)), isRealChange]);
  }
  const controller = builder.reconcileKeys((_key, context) => operator.reconcile(context));
  // Narrower than what it says of itself, since the cache is.
  return { ...controller, needs: operatorNeeds(names, kinds, prune) };
}

/** Everything that the controller asks of the API server (R92). */
export function operatorNeeds(
  { clusterOperator, managedNamespace }: OperatorNames,
  kinds: readonly OperandKind[],
  prune = false,
): readonly Need[] {
  return [
    needs(ClusterOperator, ['list', 'watch'], { names: [clusterOperator] }),
    ...OperatorStatus.needs(clusterOperator),
    ...SINGLETONS.map(([kind, name]) => needs(kind, WATCHING, { names: [name] })),
    ...applyNeeds(kinds, managedNamespace),
    ...(prune ? pruneNeeds(prunedKinds(kinds, managedNamespace)) : []),
    needs(Pod, ['list'], { namespace: managedNamespace }),
    // Of objects without a namespace, events are written there.
    ...eventNeeds().map((need) => ({ ...need, namespace: 'default' })),
  ];
}

/** Objects of a cache may come without it. */
const withKind = (object: KubeObject, { kind }: Kind): KubeObject => ({ ...object, kind });

/** A write that changes nothing but its own traces is no reason to look (R44). */
const isRealChange: Predicate = ({ type, old, object }) =>
  type !== 'update' || old === undefined || !isDeepStrictEqual(withoutTraces(old), withoutTraces(object));

function withoutTraces(object: KubeObject): KubeObject {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
