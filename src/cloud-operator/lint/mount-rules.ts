import { type LintContext, type Problem, unless, type WorkloadRule } from './rule.ts';
import { DEPLOYED, flagOf, volumesOf, type Workload } from './workload.ts';

const HOST_FOLDER = '/etc/kubernetes';
const TRUST_FOLDER = '/etc/pki/ca-trust/extracted/pem';

/** About files that programs see (W20, W27, W29, W34). */
export const MOUNT_RULES: readonly WorkloadRule[] = [
  {
    id: 'CCM-W20',
    severity: 'error',
    targets: DEPLOYED,
    title: 'the folder of the host that says where the API server is',
    why: 'the address of the Service kubernetes works only once there is a service network',
    fix: 'mount hostPath /etc/kubernetes (type Directory) read-only at /etc/kubernetes in every container',
    check: (workload) =>
      unless(seesHostFolder(workload), 'cannot find the API server URL before service network is up', [
        ...workload.podPath,
        'volumes',
      ]),
  },
  {
    id: 'CCM-W27',
    severity: 'error',
    targets: DEPLOYED,
    title: 'the authorities that the cluster trusts',
    why: 'behind a proxy, or with a cloud of your own, calls fail without the certificates of the cluster',
    fix: `make a volume trusted-ca of ConfigMap ccm-trusted-ca with key ca-bundle.crt as tls-ca-bundle.pem, and mount it read-only at ${TRUST_FOLDER} in every container`,
    check: (workload) =>
      unless(
        seesTrustedCa(workload),
        `volume trusted-ca of ConfigMap ccm-trusted-ca is not mounted read-only at ${TRUST_FOLDER} in every container`,
        [...workload.podPath, 'volumes'],
      ),
  },
  {
    id: 'CCM-W29',
    severity: 'error',
    targets: ['deployment'],
    title: 'a cloud configuration on both sides, or on none',
    why: 'the operator keeps ConfigMap cloud-conf only for providers that declare it',
    fix: 'declare cloudConfig in the definition (for manifests without one, lint with --cloud-config), mount ConfigMap cloud-conf, and pass --cloud-config',
    check: cloudConfigProblem,
  },
  {
    id: 'CCM-W34',
    severity: 'error',
    targets: DEPLOYED,
    title: 'Secrets that somebody produces',
    why: 'a pod waits without end for a Secret that nobody makes',
    fix: 'declare a CredentialsRequest for it in the definition (in a file beside manifests without one), or make the volume optional',
    check: (workload, { secrets }) =>
      secretsOf(workload).flatMap((name) =>
        secrets.has(name)
          ? []
          : [{ text: `secret ${name} has no CredentialsRequest`, at: [...workload.podPath, 'volumes'] }],
      ),
  },
];

function seesHostFolder(workload: Workload): boolean {
  const volumes = volumesOf(workload).filter(
    ({ hostPath }) => hostPath?.path === HOST_FOLDER && hostPath.type === 'Directory',
  );
  return workload.containers.every(({ volumeMounts = [] }) =>
    volumeMounts.some(
      ({ name, mountPath, readOnly }) =>
        mountPath === HOST_FOLDER && readOnly === true && volumes.some((volume) => volume.name === name),
    ),
  );
}

function seesTrustedCa(workload: Workload): boolean {
  const volumes = volumesOf(workload).filter(
    ({ name, configMap }) =>
      name === 'trusted-ca' &&
      configMap?.name === 'ccm-trusted-ca' &&
      configMap.items?.some(({ key, path }) => key === 'ca-bundle.crt' && path === 'tls-ca-bundle.pem') === true,
  );
  return workload.containers.every(({ volumeMounts = [] }) =>
    volumeMounts.some(
      ({ name, mountPath, readOnly }) =>
        mountPath === TRUST_FOLDER && readOnly === true && volumes.some((volume) => volume.name === name),
    ),
  );
}

function cloudConfigProblem(workload: Workload, { hasCloudConfig }: LintContext): Problem | undefined {
  const isMounted = mountsCloudConf(workload);
  const isPassed = (flagOf(workload, '--cloud-config') ?? '') !== '';
  const at = [...workload.podPath, 'volumes'];
  if (!hasCloudConfig && isMounted) return { text: 'cloud-conf mounted but not declared', at };
  if (!hasCloudConfig) return unless(!isPassed, '--cloud-config is passed, but cloud-conf is not mounted', at);
  if (!isMounted) return { text: 'cloud-conf declared but not mounted', at };
  return unless(isPassed, 'cloud-conf declared and mounted, but --cloud-config is not passed', [
    ...workload.podPath,
    'containers',
  ]);
}

/** By whichever container: one may prepare it for another. */
function mountsCloudConf(workload: Workload): boolean {
  const { containers, initContainers } = workload;
  const mounted = new Set(
    [...containers, ...initContainers].flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)),
  );
  return volumesOf(workload).some(
    ({ name, configMap, projected }) =>
      mounted.has(name) &&
      (configMap?.name === 'cloud-conf' ||
        projected?.sources?.some((source) => source.configMap?.name === 'cloud-conf') === true),
  );
}

const secretsOf = (workload: Workload): readonly string[] => {
  const mounted = volumesOf(workload).flatMap(({ secret, projected }) => [
    ...(secret === undefined || secret.optional === true ? [] : [secret.secretName ?? '']),
    ...(projected?.sources ?? []).flatMap((source) =>
      source.secret === undefined || source.secret.optional === true ? [] : [source.secret.name ?? ''],
    ),
  ]);
  return [...new Set(mounted)];
};
