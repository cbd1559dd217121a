import type { Deployment } from '../../src/api/generated/apps-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { DEFAULT_SECURE_PORT, PROGRAM } from '../../src/cloud/manifests/install-options.ts';
import { TOLERATIONS } from '../../src/cloud/manifests/pod.ts';
import { flagOf, type LintSubject, subjectOf, volumesOf } from './install-linter-subject.ts';

/** Something about a manifest with which a cluster would not come up, or not stay up. */
export interface Finding {
  /** `ccm/O8`. */
  readonly rule: string;
  /** `Deployment acme/acme-cloud-controller-manager`. */
  readonly object: string;
  readonly message: string;
}

interface Check {
  readonly rule: string;
  /** What is wrong, or undefined. */
  readonly problem: (subject: LintSubject) => string | undefined;
}

/** `problem` unless it is so. */
const must = (isSo: boolean, problem: string): string | undefined => (isSo ? undefined : problem);

/** For every pod of a cloud controller manager: it runs before nearly everything else does (B11). */
const POD_CHECKS: readonly Check[] = [
  {
    rule: 'ccm/O7',
    problem: ({ container }) =>
      must(container.name === PROGRAM, `no container is called ${PROGRAM}; its image would not be substituted`),
  },
  {
    rule: 'ccm/B11',
    problem: ({ pod }) => must(pod.hostNetwork === true, 'needs hostNetwork: the pod network waits for it'),
  },
  {
    rule: 'ccm/B11',
    problem: ({ pod }) =>
      must(pod.dnsPolicy !== 'ClusterFirstWithHostNet', 'asks the DNS of the cluster, which waits for it'),
  },
  {
    rule: 'ccm/B11',
    problem: ({ values }) => {
      const name = values.find((value) => /\.svc(\.|:|\/|$)/.test(value));
      return must(name === undefined, `"${name}" is a name that only the DNS of the cluster knows`);
    },
  },
  {
    rule: 'ccm/O7',
    problem: ({ container: { resources } }) =>
      must(resources?.limits === undefined, 'has limits; a busy control plane would hold it back'),
  },
];

const DEPLOYMENT_CHECKS: readonly Check[] = [
  {
    rule: 'ccm/O7',
    problem: ({ container: { resources } }) =>
      must(
        resources?.requests?.['cpu'] !== undefined && resources.requests['memory'] !== undefined,
        'requests no cpu or no memory',
      ),
  },
  {
    rule: 'ccm/O7',
    problem: ({ object }) =>
      must(
        deploymentSpec(object).strategy?.type === 'Recreate',
        'needs strategy Recreate: the port is the host’s',
      ),
  },
  {
    rule: 'ccm/O7',
    problem: ({ pod }) =>
      must(pod.priorityClassName === 'system-cluster-critical', 'needs priorityClassName system-cluster-critical'),
  },
  {
    rule: 'ccm/O7',
    problem: ({ pod }) =>
      must(
        pod.nodeSelector?.['node-role.kubernetes.io/master'] === '',
        'is not kept to the control plane by nodeSelector node-role.kubernetes.io/master: ""',
      ),
  },
  {
    rule: 'ccm/O7',
    problem: (subject) =>
      must(
        (deploymentSpec(subject.object).replicas ?? 1) < 2 || isSpread(subject),
        'several replicas may land on one host: require anti-affinity on kubernetes.io/hostname',
      ),
  },
  { rule: 'ccm/O8', problem: missingToleration },
  {
    rule: 'ccm/O8',
    problem: ({ pod }) => {
      const loose = pod.tolerations?.find(({ operator }) => operator !== 'Exists');
      return must(loose === undefined, `tolerates ${loose?.key} with one value only; write operator: Exists`);
    },
  },
  {
    rule: 'ccm/O9',
    problem: (subject) =>
      must(
        hasHostFolder(subject) && subject.words.some((word) => word.includes('/etc/kubernetes/apiserver-url.env')),
        'does not read /etc/kubernetes/apiserver-url.env of the host: the address of the API server is not known otherwise',
      ),
  },
  {
    rule: 'ccm/O10',
    problem: (subject) => {
      const volume = volumesOf(subject).find(
        ({ configMap, secret }) =>
          (configMap !== undefined && configMap.optional !== true) ||
          (secret !== undefined && secret.optional !== true),
      );
      return must(volume === undefined, `waits for the volume ${volume?.name}; make it optional`);
    },
  },
];

const STATIC_POD_CHECKS: readonly Check[] = [
  {
    rule: 'ccm/O17',
    problem: ({ object }) =>
      must(object.metadata.namespace === 'kube-system', 'a pod of the bootstrap machine belongs into kube-system'),
  },
  {
    rule: 'ccm/O17',
    problem: ({ pod }) =>
      must(pod.priorityClassName === 'system-node-critical', 'needs priorityClassName system-node-critical'),
  },
  {
    rule: 'ccm/O17',
    problem: (subject) => {
      const flags = [
        ['--controllers', 'cloud-node'],
        ['--leader-elect', 'false'],
        ['--use-service-account-credentials', 'false'],
      ] as const;
      const wrong = flags.find(([flag, value]) => flagOf(subject, flag) !== value);
      return must(wrong === undefined, `needs ${wrong?.join('=')}`);
    },
  },
  {
    rule: 'ccm/O17',
    problem: (subject) =>
      must(
        (flagOf(subject, '--kubeconfig') ?? '') !== '',
        'needs --kubeconfig: a static pod has no service account',
      ),
  },
  {
    rule: 'ccm/O17',
    problem: (subject) =>
      must(!refersToObjects(subject), 'refers to a ConfigMap, Secret or account, which no static pod can'),
  },
];

/**
 * What would go wrong with the pods of a cloud controller manager, ours or not (B11). Objects without pods are not
 * judged; an empty list is a good result.
 */
export function lintManifests(objects: readonly KubeObject[]): readonly Finding[] {
  const subjects = objects.flatMap((object) => subjectOf(object) ?? []);
  return [
    ...subjects.flatMap((subject) =>
      [...POD_CHECKS, ...(subject.object.kind === 'Pod' ? STATIC_POD_CHECKS : DEPLOYMENT_CHECKS)].flatMap(
        (check) => {
          const message = check.problem(subject);
          return message === undefined ? [] : [{ rule: check.rule, object: shownObject(subject.object), message }];
        },
      ),
    ),
    ...sharedPorts(subjects),
  ];
}

const shownObject = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

const deploymentSpec = (object: KubeObject): Partial<Deployment['spec']> =>
  (object as Partial<Deployment>).spec ?? {};

const isSpread = ({ pod }: LintSubject): boolean =>
  (pod.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(
    ({ topologyKey }) => topologyKey === 'kubernetes.io/hostname',
  );

/** Those with a time limit are for a faster change of the leader only. */
function missingToleration({ pod }: LintSubject): string | undefined {
  const has = pod.tolerations ?? [];
  const missing = TOLERATIONS.filter(({ tolerationSeconds }) => tolerationSeconds === undefined).find(
    ({ key, effect }) =>
      !has.some(
        (one) => (one.key === key || one.key === undefined) && (one.effect === effect || one.effect === undefined),
      ),
  );
  return must(missing === undefined, `does not tolerate ${missing?.key}`);
}

function hasHostFolder(subject: LintSubject): boolean {
  const names = volumesOf(subject).flatMap(({ name, hostPath }) =>
    hostPath?.path === '/etc/kubernetes' ? [name] : [],
  );
  return (subject.container.volumeMounts ?? []).some(
    ({ name, readOnly, mountPath }) =>
      names.includes(name) && readOnly === true && mountPath === '/etc/kubernetes',
  );
}

const refersToObjects = (subject: LintSubject): boolean =>
  subject.pod.serviceAccountName !== undefined ||
  volumesOf(subject).some(({ hostPath, emptyDir }) => hostPath === undefined && emptyDir === undefined) ||
  (subject.container.env ?? []).some(({ valueFrom }) => valueFrom !== undefined) ||
  (subject.container.envFrom ?? []).length > 0;

/** Two programs on the network of one host cannot have the same port (O12). */
function sharedPorts(subjects: readonly LintSubject[]): readonly Finding[] {
  const deployed = subjects.filter(({ object, pod }) => object.kind !== 'Pod' && pod.hostNetwork === true);
  return deployed.flatMap((subject, at) => {
    const port = portOf(subject);
    const other = deployed.slice(0, at).find((one) => port !== '0' && portOf(one) === port);
    if (other === undefined) return [];
    const message = `listens on port ${port} of the host, as ${shownObject(other.object)} does; give one another --secure-port`;
    return [{ rule: 'ccm/O12', object: shownObject(subject.object), message }];
  });
}

const portOf = (subject: LintSubject): string => flagOf(subject, '--secure-port') ?? String(DEFAULT_SECURE_PORT);
