import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Variables } from '../../oracles/cache.ts';
import { ControlPlane, type ControlPlaneOptions } from '../../oracles/run/control-plane.ts';
import { freePort } from '../../oracles/run/port.ts';
import { parseDuration } from '../../src/base/duration.ts';
import { oracleFile } from './needs-oracle.ts';

/** kube-apiserver needs about 5 s on an idle machine of two cores; CI runs two of them beside a compiler. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 2000;

export interface StartKubernetesOptions
  extends Partial<Pick<ControlPlaneOptions, 'baseDirectory' | 'extraArguments' | 'pickPort' | 'purpose'>> {
  /** Also runs kube-controller-manager: ServiceAccounts, garbage collection, workload controllers. */
  readonly controllerManager?: boolean;
  /** Also runs kube-scheduler. */
  readonly scheduler?: boolean;
  /** Where the environment is taken from; tests of this harness bring their own. */
  readonly variables?: Variables;
}

/**
 * A real Kubernetes API on loopback with RBAC, ready to use; `await using` stops it and removes every trace. The
 * suite must be guarded by needsOracle: without the programs this rejects.
 */
export function startKubernetes(options: StartKubernetesOptions = {}): Promise<ControlPlane> {
  const { controllerManager = false, scheduler = false, variables = process.env, ...rest } = options;
  return ControlPlane.start({
    programs: {
      etcd: oracleFile('etcd', variables),
      kubeApiserver: oracleFile('kube-apiserver', variables),
      kubeControllerManager: controllerManager ? oracleFile('kube-controller-manager', variables) : undefined,
      kubeScheduler: scheduler ? oracleFile('kube-scheduler', variables) : undefined,
    },
    baseDirectory: instancesDirectory(),
    purpose: 'functional',
    now: () => new Date(),
    pickPort: freePort,
    startTimeoutMs: duration(variables['KUBEBUILDER_CONTROLPLANE_START_TIMEOUT'], START_TIMEOUT_MS),
    stopTimeoutMs: duration(variables['KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT'], STOP_TIMEOUT_MS),
    isOutputAttached: variables['KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT'] === 'true',
    ...rest,
  });
}

/** One per user. The number, not the name: in OpenShift a container's user has none. */
export const instancesDirectory = (): string => join(tmpdir(), `slipway-oracles-${process.geteuid?.() ?? 'user'}`);

const duration = (text: string | undefined, defaultMs: number): number =>
  text === undefined || text === '' ? defaultMs : parseDuration(text);
