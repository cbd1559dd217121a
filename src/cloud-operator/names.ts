import { MANAGED_NAMESPACE } from './definition.ts';

/** What one installation of the operator is called (D1). */
export interface OperatorNames {
  /** Where the cloud controller manager runs. */
  readonly managedNamespace: string;
  readonly operatorNamespace: string;
  readonly clusterOperator: string;
  readonly operatorLease: string;
  readonly configSyncLease: string;
}

/** Instead of the operator of the payload, under its names: `replace`. Beside it, under names of its own: `sidecar`. */
export type OperatorMode = 'replace' | 'sidecar';

const UPSTREAM: OperatorNames = {
  managedNamespace: MANAGED_NAMESPACE,
  operatorNamespace: `${MANAGED_NAMESPACE}-operator`,
  clusterOperator: 'cloud-controller-manager',
  operatorLease: 'cluster-cloud-controller-manager-leader',
  configSyncLease: 'cluster-cloud-config-sync-leader',
};

export const operatorNames = (mode: OperatorMode, id: string): OperatorNames =>
  mode === 'replace'
    ? UPSTREAM
    : {
        managedNamespace: `openshift-${id}-cloud-controller-manager`,
        operatorNamespace: `openshift-${id}-cloud-controller-manager-operator`,
        clusterOperator: `${id}-cloud-controller-manager`,
        operatorLease: `${id}-cloud-controller-manager-leader`,
        configSyncLease: `${id}-cloud-config-sync-leader`,
      };
