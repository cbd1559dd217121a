import type { Container, EnvVar, Probe, Toleration, Volume, VolumeMount } from '../../api/generated/core-v1.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { UNINITIALIZED_TAINT } from '../node/desired.ts';
import { DEFAULT_PROVIDER_FILE, DEFAULT_SECURE_PORT, type InstallOptions, PROGRAM } from './install-options.ts';

/** A folder that a container sees, and where it comes from. */
export interface Mount {
  readonly volume: Volume;
  readonly path: string;
}

/** Taints under which it has to start: nobody else takes the first two off (O8). Always `Exists`, whatever the value. */
export const TOLERATIONS: readonly Toleration[] = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
  { key: UNINITIALIZED_TAINT, operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 120 },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 120 },
];

/** Where the cloud configuration is in the pod, and what the file is called wherever it comes from. */
export const CLOUD_CONFIG_FILE = 'cloud.conf';

/** The flags of every installation. */
export const commonFlags = (
  { name }: Pick<ProviderDefinition, 'name'>,
  { providerFile = DEFAULT_PROVIDER_FILE, securePort = DEFAULT_SECURE_PORT }: InstallOptions,
): readonly string[] => [`--cloud-provider=${name}`, `--provider=${providerFile}`, `--secure-port=${securePort}`];

export interface ContainerParts {
  readonly options: InstallOptions;
  readonly flags: readonly string[];
  readonly env: readonly EnvVar[];
  readonly mounts: readonly Mount[];
}

/** The container, without limits: a control plane that is short of time must not be held back by its own (O7). */
export function containerOf({ options, flags, env, mounts }: ContainerParts): Container {
  const { image, securePort = DEFAULT_SECURE_PORT } = options;
  return {
    name: PROGRAM,
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['run', PROGRAM, ...flags],
    ...(env.length > 0 && { env }),
    ...(securePort > 0 && serving(securePort)),
    resources: { requests: { cpu: '200m', memory: '50Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    // Why it ended is on the Pod even where no log can be read, such as before the first node works.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...(mounts.length > 0 && { volumeMounts: mounts.map(asVolumeMount) }),
  };
}

const serving = (port: number): Pick<Container, 'ports' | 'livenessProbe' | 'readinessProbe'> => ({
  ports: [{ name: 'https', containerPort: port, protocol: 'TCP' }],
  livenessProbe: probe('/healthz', { initialDelaySeconds: 10, periodSeconds: 10 }),
  // An installation waits for it: it is asked soon.
  readinessProbe: probe('/readyz', { initialDelaySeconds: 2, periodSeconds: 5 }),
});

/** The kubelet does not check the certificate, which is the program's own unless it was given one. */
const probe = (path: string, times: Pick<Probe, 'initialDelaySeconds' | 'periodSeconds'>): Probe => ({
  httpGet: { path, port: 'https', scheme: 'HTTPS' },
  ...times,
  timeoutSeconds: 5,
});

const asVolumeMount = ({ volume, path }: Mount): VolumeMount => ({
  name: volume.name,
  mountPath: path,
  readOnly: true,
});

export const hostFolder = (name: string, hostPath: string, path = hostPath): Mount => ({
  volume: { name, hostPath: { path: hostPath, type: 'Directory' } },
  path,
});
