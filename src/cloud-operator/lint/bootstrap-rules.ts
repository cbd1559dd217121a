import { type LintContext, type Problem, type RuleText, unless, type WorkloadRule } from './rule.ts';
import { flagOf, hasFlag, holds, programOf, seenAt, volumesOf, type Workload } from './workload.ts';

const BOOTSTRAP = ['bootstrap'] as const;
const SECRETS = '/etc/kubernetes/bootstrap-secrets';
const CONFIGS = '/etc/kubernetes/bootstrap-configs';
const SECURE_PORT = 10_258;

/** Decided before there is a pod to look at. */
export const ONLY_PODS: RuleText = {
  id: 'CCM-B01',
  severity: 'error',
  title: 'nothing but static pods',
  why: 'the bootstrap machine has a kubelet, and no controller that would make pods of anything else',
  fix: 'move the object to assets/, which the operator applies',
};

const inContainers: readonly PropertyKey[] = ['spec', 'containers'];

/** About static pods of the bootstrap machine (B02–B11). */
export const BOOTSTRAP_RULES: readonly WorkloadRule[] = [
  {
    id: 'CCM-B02',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'a container with the name by which images are replaced',
    why: 'images of static pods are replaced by the names of containers, too',
    fix: 'name the container cloud-controller-manager',
    check: (workload) =>
      unless(
        workload.containers.some(({ name }) => name === programOf(workload)),
        `no container named ${programOf(workload)}`,
        inContainers,
      ),
  },
  {
    id: 'CCM-B03',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'the kubeconfig of the bootstrap machine',
    why: 'a static pod has no service account',
    fix: `mount hostPath ${SECRETS}, and pass --kubeconfig with the kubeconfig below it`,
    check: (workload) =>
      unless(isBelow(workload, '--kubeconfig', SECRETS), 'must use the bootstrap kubeconfig', inContainers),
  },
  {
    id: 'CCM-B04',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'the cloud configuration of the bootstrap machine',
    why: 'ConfigMap cloud-conf is not there yet; the installer puts the text into a file',
    fix: `mount hostPath ${CONFIGS}, and pass --cloud-config=<mount>/cloud.conf`,
    check: cloudConfigProblem,
  },
  {
    id: 'CCM-B05',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'only the controller that initialises nodes',
    why: 'whatever else it did would be done again, differently, by the Deployment',
    fix: 'pass --controllers=cloud-node',
    check: (workload) =>
      unless(
        hasFlag(workload, '--controllers', 'cloud-node'),
        'run only the cloud-node controller during bootstrap',
        inContainers,
      ),
  },
  {
    id: 'CCM-B06',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'no leader election',
    why: 'a lease that the bootstrap machine takes with it would hold up the Deployment',
    fix: 'pass --leader-elect=false',
    check: (workload) =>
      unless(hasFlag(workload, '--leader-elect', 'false'), 'missing flag --leader-elect=false', inContainers),
  },
  {
    id: 'CCM-B07',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'the namespace of static pods',
    why: 'kube-system is the only namespace that is there from the start',
    fix: 'set namespace: kube-system',
    check: ({ object }) =>
      unless(object.metadata.namespace === 'kube-system', 'namespace must be kube-system', [
        'metadata',
        'namespace',
      ]),
  },
  {
    id: 'CCM-B08',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'the priority of the platform',
    why: 'the machine is small, and this must not be what is evicted',
    fix: 'set priorityClassName: system-node-critical',
    check: ({ pod }) =>
      unless(
        ['system-node-critical', 'system-cluster-critical'].includes(pod.priorityClassName ?? ''),
        'priorityClassName must be system-node-critical or system-cluster-critical',
        ['spec', 'priorityClassName'],
      ),
  },
  {
    id: 'CCM-B09',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'nothing that the API server would have to give',
    why: 'kubelets start static pods without an API server',
    fix: 'use hostPath volumes, and files instead of ConfigMaps and Secrets',
    check: referenceProblem,
  },
  {
    id: 'CCM-B10',
    severity: 'error',
    targets: BOOTSTRAP,
    title: 'one identity',
    why: 'accounts of controllers do not exist yet',
    fix: 'leave out --use-service-account-credentials',
    check: (workload) =>
      unless(
        (flagOf(workload, '--use-service-account-credentials') ?? 'false') === 'false',
        '--use-service-account-credentials must be absent or false',
        inContainers,
      ),
  },
  {
    id: 'CCM-B11',
    severity: 'warning',
    targets: BOOTSTRAP,
    title: 'a liveness probe at the secure port',
    why: 'other ports of the framework are gone',
    fix: `probe port ${SECURE_PORT} over HTTPS`,
    check: ({ containers }) =>
      containers.flatMap(({ name, livenessProbe, ports = [] }, index) => {
        const port = livenessProbe?.httpGet?.port ?? livenessProbe?.tcpSocket?.port;
        const number = typeof port === 'string' ? ports.find((one) => one.name === port)?.containerPort : port;
        return port === undefined || number === SECURE_PORT
          ? []
          : [
              {
                text: `/${name}: livenessProbe port ${port} differs from ${SECURE_PORT}`,
                at: [...inContainers, index, 'livenessProbe'],
              },
            ];
      }),
  },
];

/** Whether a flag names something in a folder of the host, as the container sees it. */
function isBelow(workload: Workload, flag: string, folder: string): boolean {
  const value = flagOf(workload, flag) ?? '';
  return placesOf(workload, folder).some((seen) => holds(seen, value) && value !== seen);
}

/** Where its programs see a folder of the host. */
const placesOf = (workload: Workload, folder: string): readonly string[] =>
  workload.programs.flatMap((container) => seenAt(workload, container, folder) ?? []);

function cloudConfigProblem(workload: Workload, { hasCloudConfig }: LintContext): Problem | undefined {
  if (!hasCloudConfig) return undefined;
  return unless(
    placesOf(workload, CONFIGS).some((seen) => hasFlag(workload, '--cloud-config', `${seen}/cloud.conf`)),
    `must use the cloud.conf of ${CONFIGS}`,
    inContainers,
  );
}

function referenceProblem(workload: Workload): Problem | undefined {
  const { pod, containers, initContainers } = workload;
  const volumes = volumesOf(workload).filter(({ configMap, secret, projected, persistentVolumeClaim }) =>
    [configMap, secret, projected, persistentVolumeClaim].some((one) => one !== undefined),
  );
  const variables = [...containers, ...initContainers].flatMap(({ env = [], envFrom = [] }) => [
    ...env.flatMap(({ name, valueFrom }) =>
      valueFrom?.configMapKeyRef === undefined && valueFrom?.secretKeyRef === undefined ? [] : [name],
    ),
    ...envFrom.map(({ configMapRef, secretRef }) => configMapRef?.name ?? secretRef?.name ?? ''),
  ]);
  const account = pod.serviceAccountName ?? pod.serviceAccount;
  const found = [
    ...volumes.map(({ name }) => `volume ${name}`),
    ...variables.map((name) => `variable ${name}`),
    ...(account === undefined ? [] : [`account ${account}`]),
  ];
  return unless(found.length === 0, `static pods cannot use API objects: ${found.join(', ')}`, ['spec']);
}
