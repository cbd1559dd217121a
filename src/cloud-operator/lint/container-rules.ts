import type { Container } from '../../api/generated/core-v1.ts';
import { type LintContext, type Problem, unless, type WorkloadRule } from './rule.ts';
import { DEPLOYED, EVERY_POD, programOf, type Workload } from './workload.ts';

const HOST_PORTS: readonly number[] = [10_258, 10_263];

/** One problem per container that is not as it should be. */
export const perContainer = (
  { containers, podPath }: Workload,
  isRight: (container: Container) => boolean,
  text: string,
): readonly Problem[] =>
  containers.flatMap((container, index) =>
    isRight(container) ? [] : [{ text: `/${container.name}: ${text}`, at: [...podPath, 'containers', index] }],
  );

/** About containers: names, images, resources, ports and rights (W01–W04, W19, W23, W30, W35). */
export const CONTAINER_RULES: readonly WorkloadRule[] = [
  {
    id: 'CCM-W01',
    severity: 'error',
    targets: DEPLOYED,
    title: 'a container with the name by which images are replaced',
    why: 'the operator replaces images by the names of containers',
    fix: 'name the container cloud-controller-manager (in a DaemonSet cloud-node-manager)',
    check: (workload) =>
      unless(
        workload.containers.filter(({ name }) => name === programOf(workload)).length === 1,
        `no container named ${programOf(workload)}; its image would not be substituted`,
        [...workload.podPath, 'containers'],
      ),
  },
  {
    id: 'CCM-W02',
    severity: 'error',
    targets: EVERY_POD,
    title: 'images that come from the payload',
    why: 'an image that is written down is not mirrored, not updated and not signed with the release',
    fix: 'bind the container to a key of images.json in the definition, or write {{ .images.… }} in the template',
    check: unboundImages,
  },
  {
    id: 'CCM-W03',
    severity: 'error',
    severityNote: 'warning for init containers',
    targets: DEPLOYED,
    title: 'requests for processor time and memory',
    why: 'without requests the scheduler does not keep room for it on the control plane',
    fix: 'set resources.requests.cpu and resources.requests.memory',
    check: (workload) => [
      ...missingRequests(workload, 'containers'),
      ...missingRequests(workload, 'initContainers').map((problem) => ({
        ...problem,
        severity: 'warning' as const,
      })),
    ],
  },
  {
    id: 'CCM-W04',
    severity: 'error',
    targets: DEPLOYED,
    title: 'no limits',
    why: 'a control plane that is short of time must not be held back by its own limits',
    fix: 'remove resources.limits',
    check: ({ containers, podPath }) =>
      containers.flatMap(({ name, resources }, index) =>
        resources?.limits === undefined
          ? []
          : [
              {
                text: `/${name}: limits are not allowed on OpenShift control-plane workloads`,
                at: [...podPath, 'containers', index, 'resources', 'limits'],
              },
            ],
      ),
  },
  {
    id: 'CCM-W19',
    severity: 'error',
    targets: DEPLOYED,
    title: 'ports of the registry of host ports',
    why: 'on the network of the host, two programs with one port do not start',
    fix: 'declare containerPort 10258 (in a DaemonSet 10263), and no port outside of the registry',
    check: portProblem,
  },
  {
    id: 'CCM-W23',
    severity: 'error',
    targets: DEPLOYED,
    title: 'the end of the log as the reason of an exit',
    why: 'before the first node works, logs cannot be read: what a pod says of its end is all there is',
    fix: 'set terminationMessagePolicy: FallbackToLogsOnError on all containers',
    check: ({ pod, podPath }) =>
      (['containers', 'initContainers'] as const).flatMap((list) =>
        (pod[list] ?? []).flatMap(({ name, terminationMessagePolicy }, index) =>
          terminationMessagePolicy === 'FallbackToLogsOnError'
            ? []
            : [
                {
                  text: `/${name}: terminationMessagePolicy must be FallbackToLogsOnError`,
                  at: [...podPath, list, index],
                },
              ],
        ),
      ),
  },
  {
    id: 'CCM-W30',
    severity: 'warning',
    targets: EVERY_POD,
    title: 'images that are on the machine already',
    why: 'a registry that does not answer must not keep the control plane from starting',
    fix: 'set imagePullPolicy: IfNotPresent',
    check: (workload) =>
      perContainer(
        workload,
        ({ imagePullPolicy }) => imagePullPolicy === 'IfNotPresent',
        'imagePullPolicy should be IfNotPresent',
      ),
  },
  {
    id: 'CCM-W35',
    severity: 'warning',
    targets: EVERY_POD,
    title: 'no more rights on the host than needed',
    why: 'a program on the control plane that is broken into should not own the machine',
    fix: 'leave out privileged, added capabilities, hostPID and hostIPC',
    check: powerProblem,
  },
];

function unboundImages(workload: Workload, { boundContainers, boundImages }: LintContext): readonly Problem[] {
  const { containers, podPath } = workload;
  // Without the container that is looked for by its name, W01 and B02 say the same.
  if (!containers.some(({ name }) => name === programOf(workload))) return [];
  return containers.flatMap(({ name, image = '' }, index) =>
    boundContainers.has(name) || boundImages.has(image)
      ? []
      : [{ text: `/${name}: image is not bound to a payload key`, at: [...podPath, 'containers', index] }],
  );
}

function missingRequests({ pod, podPath }: Workload, list: 'containers' | 'initContainers'): readonly Problem[] {
  return (pod[list] ?? []).flatMap(({ name, resources }, index) => {
    const missing = ['cpu', 'memory'].filter((one) => resources?.requests?.[one] === undefined);
    const text = `/${name}: missing resource request ${missing.join(', ')}`;
    return missing.length === 0 ? [] : [{ text, at: [...podPath, list, index] }];
  });
}

function portProblem(workload: Workload): Problem | undefined {
  const ports = workload.containers.flatMap((one) => (one.ports ?? []).map(({ containerPort }) => containerPort));
  const wrong = ports.filter((port) => !HOST_PORTS.includes(port));
  const at = [...workload.podPath, 'containers'];
  if (wrong.length > 0) return { text: `port ${wrong.join(', ')} is not in the host port registry`, at };
  return unless(ports.length > 0, `no port is declared; the host port registry has ${HOST_PORTS.join(', ')}`, at);
}

function powerProblem(workload: Workload): Problem | undefined {
  const { pod } = workload;
  const powers = [
    ...(pod.hostPID === true ? ['hostPID'] : []),
    ...(pod.hostIPC === true ? ['hostIPC'] : []),
    ...workload.containers.flatMap(({ name, securityContext }) => [
      ...(securityContext?.privileged === true ? [`${name} is privileged`] : []),
      ...(securityContext?.capabilities?.add ?? []).map((one) => `${name} adds ${one}`),
    ]),
  ];
  return unless(
    powers.length === 0,
    `more rights on the host than needed: ${powers.join(', ')}`,
    workload.podPath,
  );
}
