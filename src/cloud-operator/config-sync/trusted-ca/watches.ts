import { ConfigMap } from '../../../api/generated/core-v1.ts';
import { ClusterOperator, Proxy, SINGLETON } from '../../../api/openshift/config-v1.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { OperatorStatus } from '../../status/operator-status.ts';
import { isForeignTo } from '../../status/own-echo.ts';
import { CLOUD_CONF, TRUSTED_CA, USER_NAMESPACE } from '../places.ts';
import { changesReport, withinReach } from '../report-watch.ts';
import { type TrustedCaOptions, TrustedCaReconciler } from './reconcile.ts';

/** There is one bundle, whatever it is made of. */
const KEY = { name: TRUSTED_CA };

export function trustedCaController(options: TrustedCaOptions): Controller {
  const { managedNamespace, clusterOperator } = options;
  const reconciler = new TrustedCaReconciler(options);
  const controller = controllerOf('trusted-ca', { maxConcurrent: 1 })
    .watches(ConfigMap, bundleKeys(managedNamespace))
    .watches(Proxy, ({ metadata }) => (metadata.name === SINGLETON.name ? [KEY] : []))
    .watches(ClusterOperator, ({ metadata }) => (metadata.name === clusterOperator ? [KEY] : []), [
      changesReport('TrustedCABundleControllerController'),
      isForeignTo(reconciler.report),
    ])
    .needs(
      ...OperatorStatus.needs(clusterOperator),
      needs(ConfigMap, ['create', 'update', 'delete'], { namespace: managedNamespace, names: [TRUSTED_CA] }),
    )
    .reconcileKeys((_key, context) => reconciler.reconcile(context));
  return withinReach(controller, { namespaces: [managedNamespace, USER_NAMESPACE], clusterOperator });
}

/**
 * Of all ConfigMaps of users, only the one that the Proxy names; when it names another, that is an event too. Others
 * make no work, so they neither write anything nor end a run of failures (R61, R80).
 */
const bundleKeys =
  (managedNamespace: string): MapFunction<ConfigMap> =>
  ({ metadata: { namespace, name } }, { cache }) => {
    const isOurs = namespace === managedNamespace && (name === TRUSTED_CA || name === CLOUD_CONF);
    const proxies = cache.informer(Proxy);
    // Before the first list is there, nobody knows which one is named: then it may be this one.
    const isNamed = () =>
      namespace === USER_NAMESPACE &&
      (!proxies.isSynced || name === proxies.get(SINGLETON)?.spec?.trustedCA?.name);
    return isOurs || isNamed() ? [KEY] : [];
  };
