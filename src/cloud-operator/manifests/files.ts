import type { KubeObject } from '../../api/object.ts';
import { openStackAccess, operatorAccess } from './access.ts';
import {
  clusterOperator,
  credentialsRequest,
  defaultDeny,
  imagesConfigMap,
  namespaceOf,
} from './cluster-objects.ts';
import { annotated, type Installation, type ManifestFile } from './installation.ts';
import { alertRules, scrapedService } from './monitoring.ts';
import { metricsService, operatorDeployment } from './operator-deployment.ts';

/** When it is applied. Monitoring comes last: its kinds are those of an operator that needs nodes which this one brings up. */
const RUN_LEVELS = { operator: '0000_26', monitoring: '0000_90' } as const;

/**
 * What the cluster version operator applies, in the order of the names (R91): requests for credentials come before the
 * Deployment that waits for them, and the ClusterOperator last, because nothing after an unhappy one is applied.
 */
export function installationFiles(installation: Installation): readonly ManifestFile[] {
  const fileOf = (level: keyof typeof RUN_LEVELS, [part, objects]: Part): ManifestFile => ({
    name: `${RUN_LEVELS[level]}_${installation.names.clusterOperator}-operator_${part}.yaml`,
    objects: objects.map(annotated),
    ...(level === 'monitoring' && { needsMonitoring: true }),
  });
  return [
    ...partsOf(installation).map((part) => fileOf('operator', part)),
    ...monitoringOf(installation).map((part) => fileOf('monitoring', part)),
  ]
    .filter(({ objects }) => objects.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

/**
 * For the `manifests/` of an installer (R89): without the ClusterOperator, which the operator makes itself, and without
 * what waits for monitoring, since the bootstrap machine goes on only when everything has been created.
 */
export function dayOneFiles(installation: Installation): readonly ManifestFile[] {
  const isLater = ({ objects, needsMonitoring }: ManifestFile) =>
    needsMonitoring === true || objects.some(({ kind }) => kind === 'ClusterOperator');
  return installationFiles(installation).filter((file) => !isLater(file));
}

/** The end of its name, and what is in it. */
type Part = readonly [string, readonly KubeObject[]];

function partsOf(installation: Installation): readonly Part[] {
  const { isForPlatforms, names, credentials, operandAccess } = installation;
  const namespaces = [names.operatorNamespace, names.managedNamespace];
  return [
    ['00_namespace', namespaces.map(namespaceOf)],
    ['01_images.configmap', [imagesConfigMap(installation)]],
    ['02_rbac_operator', operatorAccess(installation)],
    ['03_rbac_provider', operandAccess],
    ['04_rbac_provider_openstack', isForPlatforms ? openStackAccess() : []],
    ['05_metrics-service', [metricsService(installation)]],
    ['10_networkpolicy-default-deny', namespaces.map(defaultDeny)],
    ...credentials.map(
      (request) => [`15_credentialsrequest-${request.metadata.name}`, [credentialsRequest(request)]] as const,
    ),
    ['50_deployment', [operatorDeployment(installation)]],
    ['60_clusteroperator', [clusterOperator(installation)]],
  ];
}

const monitoringOf = (installation: Installation): readonly Part[] => [
  ['00_servicemonitor', scrapedService(installation)],
  ['01_alerts', [alertRules(installation)]],
];
