import { type LintContext, type Problem, unless, type WorkloadRule } from './rule.ts';
import { covers, DEPLOYED, EVERY_POD, programOf, tolerates, type Workload } from './workload.ts';

const PLATFORM_LABEL = 'infrastructure.openshift.io/';
const MANAGEMENT = 'target.workload.openshift.io/management';
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';

const inPod = (workload: Workload, ...path: readonly PropertyKey[]): readonly PropertyKey[] => [
  ...workload.podPath,
  ...path,
];

/** About where pods run, and beside what (W05–W18). */
export const PLACEMENT_RULES: readonly WorkloadRule[] = [
  {
    id: 'CCM-W05',
    severity: 'error',
    targets: ['deployment'],
    title: 'at least two replicas',
    why: 'with one, nodes and load balancers wait while it is moved; the operator makes one of two on a single node',
    fix: 'set replicas: 2',
    check: ({ spec: { replicas = 1 } }) =>
      unless(replicas >= 2, `replicas must be at least 2 for HA (found ${replicas})`, ['spec', 'replicas']),
  },
  {
    id: 'CCM-W06',
    severity: 'error',
    severityNote: 'warning when it is preferred only',
    targets: ['deployment'],
    title: 'replicas on different nodes',
    why: 'both would go down with one machine, and they cannot share its port',
    fix: 'require podAntiAffinity with topologyKey kubernetes.io/hostname and the labels of the pods',
    check: spreadProblem,
  },
  {
    id: 'CCM-W07',
    severity: 'error',
    bootstrapSeverity: 'warning',
    targets: EVERY_POD,
    title: 'toleration of nodes that are not initialised',
    why: 'nobody else takes that taint away: it would wait for itself',
    fix: `tolerate ${UNINITIALIZED}:NoSchedule with operator Exists`,
    check: (workload) =>
      unless(
        tolerates(workload, { key: UNINITIALIZED, effect: 'NoSchedule', value: 'true' }),
        'cannot start on an uninitialized node',
        inPod(workload, 'tolerations'),
      ),
  },
  {
    id: 'CCM-W08',
    severity: 'error',
    bootstrapSeverity: 'warning',
    targets: EVERY_POD,
    title: 'toleration of nodes without a network',
    why: 'the pod network comes up on nodes that are initialised',
    fix: 'tolerate node.kubernetes.io/not-ready:NoSchedule with operator Exists',
    check: (workload) =>
      unless(
        tolerates(workload, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }),
        'cannot start before the CNI is ready',
        inPod(workload, 'tolerations'),
      ),
  },
  {
    id: 'CCM-W09',
    severity: 'error',
    targets: ['deployment'],
    title: 'toleration of the control plane',
    why: 'the nodes that it has to run on keep others away',
    fix: 'tolerate node-role.kubernetes.io/master:NoSchedule with operator Exists',
    check: (workload) =>
      unless(
        tolerates(workload, { key: 'node-role.kubernetes.io/master', effect: 'NoSchedule' }),
        'cannot run on control-plane nodes',
        inPod(workload, 'tolerations'),
      ),
  },
  {
    id: 'CCM-W10',
    severity: 'warning',
    targets: ['deployment'],
    title: 'a short wait on nodes that are gone',
    why: 'pods stay for five minutes on a node that does not answer, unless told otherwise',
    fix: 'tolerate unreachable and not-ready with effect NoExecute and tolerationSeconds 120',
    check: (workload) =>
      unless(
        ['node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready'].every((key) =>
          (workload.pod.tolerations ?? []).some(
            (one) => covers(one, { key, effect: 'NoExecute' }) && one.tolerationSeconds === 120,
          ),
        ),
        'default 300s eviction delays failover',
        inPod(workload, 'tolerations'),
      ),
  },
  {
    id: 'CCM-W11',
    severity: 'error',
    targets: EVERY_POD,
    title: 'the network of the host',
    why: 'the pod network waits for nodes that it initialises',
    fix: 'set hostNetwork: true',
    check: (workload) =>
      unless(
        workload.pod.hostNetwork === true,
        'must use the host network (runs before CNI)',
        inPod(workload, 'hostNetwork'),
      ),
  },
  {
    id: 'CCM-W12',
    severity: 'error',
    targets: DEPLOYED,
    title: 'the account that has the permissions',
    why: 'roles of the platform are bound to accounts of these names',
    fix: 'set serviceAccountName to cloud-controller-manager (in a DaemonSet cloud-node-manager)',
    check: (workload) =>
      unless(
        (workload.pod.serviceAccountName ?? workload.pod.serviceAccount) === programOf(workload),
        `serviceAccountName must be ${programOf(workload)}`,
        inPod(workload, 'serviceAccountName'),
      ),
  },
  {
    id: 'CCM-W13',
    severity: 'warning',
    targets: EVERY_POD,
    title: 'no deprecated field for the account',
    why: 'serviceAccount is an old name of serviceAccountName',
    fix: 'write serviceAccountName',
    check: (workload) =>
      unless(
        workload.pod.serviceAccount === undefined,
        'use serviceAccountName',
        inPod(workload, 'serviceAccount'),
      ),
  },
  {
    id: 'CCM-W14',
    severity: 'error',
    targets: DEPLOYED,
    title: 'the priority of the platform',
    why: 'others would be kept and it would be evicted when a node is full',
    fix: 'set priorityClassName to system-cluster-critical (in a DaemonSet system-node-critical)',
    check: (workload) => {
      const want = workload.target === 'daemonset' ? 'system-node-critical' : 'system-cluster-critical';
      return unless(
        workload.pod.priorityClassName === want,
        `priorityClassName must be ${want}`,
        inPod(workload, 'priorityClassName'),
      );
    },
  },
  {
    id: 'CCM-W15',
    severity: 'error',
    targets: ['deployment'],
    title: 'a place on the control plane',
    why: 'workers come and go, and have no credentials of the cloud',
    fix: 'set nodeSelector node-role.kubernetes.io/master: ""',
    check: (workload) =>
      unless(
        workload.pod.nodeSelector?.['node-role.kubernetes.io/master'] === '',
        'must be pinned to control-plane nodes',
        inPod(workload, 'nodeSelector'),
      ),
  },
  {
    id: 'CCM-W16',
    severity: 'error',
    targets: ['deployment'],
    title: 'no two of them on one host during a rollout',
    why: 'the port is that of the host: the old one has to be gone before the new one can have it',
    fix: 'set strategy.type: Recreate',
    check: ({ spec: { strategy } }) =>
      unless(strategy?.type === 'Recreate', 'host port cannot be shared during rollout; use strategy Recreate', [
        'spec',
        'strategy',
      ]),
  },
  {
    id: 'CCM-W17',
    severity: 'error',
    targets: DEPLOYED,
    title: 'a workload of the management of the cluster',
    why: 'with workload partitioning, management runs on processors of its own',
    fix: `annotate the pods with ${MANAGEMENT}: '{"effect": "PreferredDuringScheduling"}'`,
    check: ({ metadata }) =>
      unless(
        metadata.annotations?.[MANAGEMENT]?.replaceAll(/\s/g, '') === '{"effect":"PreferredDuringScheduling"}',
        'missing management workload annotation',
        ['spec', 'template', 'metadata'],
      ),
  },
  {
    id: 'CCM-W18',
    severity: 'error',
    targets: DEPLOYED,
    title: 'labels by which budget and Service find the pods',
    why: 'the PodDisruptionBudget and the Service that the operator adds select by them',
    fix: 'put k8s-app and the label of the platform on the object, its selector and its template',
    check: labelProblems,
  },
];

function spreadProblem(workload: Workload): Problem | undefined {
  const { pod, metadata } = workload;
  const anti = pod.affinity?.podAntiAffinity ?? {};
  type Term = NonNullable<typeof anti.requiredDuringSchedulingIgnoredDuringExecution>[number];
  const spreads = ({ topologyKey, labelSelector }: Term) =>
    topologyKey === 'kubernetes.io/hostname' &&
    Object.entries(labelSelector?.matchLabels ?? {}).every(([key, value]) => metadata.labels?.[key] === value) &&
    Object.keys(labelSelector?.matchLabels ?? {}).length === Object.keys(metadata.labels ?? {}).length;
  if ((anti.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(spreads)) return undefined;
  const preferred = anti.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const isPreferred = preferred.some(({ podAffinityTerm }) => spreads(podAffinityTerm));
  return {
    text: 'replicas may land on one node: add hostname anti-affinity',
    at: inPod(workload, 'affinity'),
    ...(isPreferred && { severity: 'warning' }),
  };
}

function labelProblems(workload: Workload, { platformLabel }: LintContext): readonly Problem[] {
  const { object, spec, metadata } = workload;
  const places = {
    object: object.metadata.labels,
    selector: spec.selector?.matchLabels,
    template: metadata.labels,
  };
  return ['k8s-app', `${PLATFORM_LABEL}${programOf(workload)}`].flatMap((label) => {
    const wanted = label.startsWith(PLATFORM_LABEL) ? platformLabel : undefined;
    const isRight = (value: string | undefined) =>
      value !== undefined && (wanted === undefined || value === wanted);
    const missing = Object.entries(places).flatMap(([place, labels]) => (isRight(labels?.[label]) ? [] : [place]));
    const shown = wanted === undefined ? label : `${label}: ${wanted}`;
    if (missing.length === 0) return [];
    return [{ text: `label ${shown} missing on ${missing.join(', ')}`, at: ['metadata', 'labels'] }];
  });
}
