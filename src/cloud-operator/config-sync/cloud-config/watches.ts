import { ConfigMap } from '../../../api/generated/core-v1.ts';
import {
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  SINGLETON,
} from '../../../api/openshift/config-v1.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { byType } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { changesGatesVersion } from '../../config/feature-gates.ts';
import { OperatorStatus } from '../../status/operator-status.ts';
import { isForeignTo } from '../../status/own-echo.ts';
import {
  CLOUD_CONF,
  SHARED_CLOUD_CONFIG,
  SHARED_NAMESPACE,
  USER_NAMESPACE,
  watchedNamespaces,
} from '../places.ts';
import { changesReport, withinReach } from '../report-watch.ts';
import { type CloudConfigOptions, CloudConfigReconciler } from './reconcile.ts';

/** There is one cloud config, whatever it is made of. */
const KEY = { name: CLOUD_CONF };
const one = ({ metadata }: { readonly metadata: { readonly name: string } }) =>
  metadata.name === SINGLETON.name ? [KEY] : [];

/** What providers have to do with the cloud config that operators share. */
export interface SharedUse {
  /** Any of them reads it, or publishes it. */
  readonly usesShared: boolean;
  /** Any of them gives its own to other operators (R67). */
  readonly publishes: boolean;
}

export function cloudConfigController(
  options: CloudConfigOptions,
  { usesShared, publishes }: SharedUse,
): Controller {
  const { managedNamespace, clusterOperator } = options;
  const reconciler = new CloudConfigReconciler(options);
  const controller = controllerOf('cloud-config', { maxConcurrent: 1 })
    .watches(ConfigMap, cloudConfigKeys(managedNamespace))
    .watches(Infrastructure, one)
    .watches(Network, one)
    .watches(FeatureGate, one)
    // Says which version is meant as long as the program does not know its own (R14); changes all the time otherwise.
    .watches(ClusterVersion, () => [KEY], [byType({ update: changesGatesVersion })])
    .watches(ClusterOperator, ({ metadata }) => (metadata.name === clusterOperator ? [KEY] : []), [
      changesReport('CloudConfigController'),
      isForeignTo(reconciler.report),
    ])
    .needs(
      ...OperatorStatus.needs(clusterOperator),
      needs(ConfigMap, ['create', 'update', 'delete'], { namespace: managedNamespace, names: [CLOUD_CONF] }),
      ...(publishes
        ? [
            needs(ConfigMap, ['create', 'update'], {
              namespace: SHARED_NAMESPACE,
              names: [SHARED_CLOUD_CONFIG.name],
            }),
          ]
        : []),
    )
    .reconcileKeys((_key, context) => reconciler.reconcile(context));
  const namespaces = watchedNamespaces(options, usesShared);
  return withinReach(controller, { namespaces, clusterOperator });
}

/** Of all ConfigMaps of users, only the one that the Infrastructure names; when it names another, that is an event too. */
const cloudConfigKeys =
  (managedNamespace: string): MapFunction<ConfigMap> =>
  ({ metadata: { namespace, name } }, { cache }) => {
    const isOurs = namespace === managedNamespace && name === CLOUD_CONF;
    const isShared = namespace === SHARED_NAMESPACE && name === SHARED_CLOUD_CONFIG.name;
    const infrastructures = cache.informer(Infrastructure);
    // Before the first list is there, nobody knows which one is named: then it may be this one.
    const isNamed = () =>
      namespace === USER_NAMESPACE &&
      (!infrastructures.isSynced || name === infrastructures.get(SINGLETON)?.spec?.cloudConfig?.name);
    return isOurs || isShared || isNamed() ? [KEY] : [];
  };
