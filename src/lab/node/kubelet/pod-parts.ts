import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { EventRecorder } from '../../../kube/events/event-recorder.ts';
import type { AddressPlan, LabAddress } from '../../address/address-plan.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import type { HostPorts } from '../host-ports/host-ports.ts';
import type { ContainerLog } from '../logs/container-log.ts';
import type { StartProbes } from '../probes/prober.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';

/** The node that pods are on. */
export interface PodNode {
  readonly name: string;
  readonly address: LabAddress;
  /** Everything that the node has on this machine is below. */
  readonly root: string;
}

/** What a container starts with; `command` and `args` are those of the image when they are absent (N11, N24). */
export interface StartSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  /** Events Warning of the pod; the container starts nevertheless. */
  readonly warnings?: readonly { readonly reason: string; readonly message: string }[];
}

/** What the pods of one node are made with. */
export interface PodParts {
  readonly node: PodNode;
  readonly runtime: ContainerRuntime;
  readonly volumes: PodVolumes;
  readonly startProbes: StartProbes;
  /** The status of the pod has its addresses. Rejects with a ContainerProblem, and is asked again. */
  readonly resolveStart: (pod: Pod, container: Container) => Promise<StartSettings>;
  readonly openLog: (pod: Pod, container: Container, restartCount: number) => ContainerLog | Promise<ContainerLog>;
  readonly addresses: Pick<AddressPlan, 'pods' | 'owns' | 'toWire' | 'target'>;
  /** Ports of the node that lead to pods (X4); a pod that does not get its ports waits for them. */
  readonly hostPorts?: Pick<HostPorts, 'open' | 'close'>;
  /** Lab time. */
  readonly clock: LabClock;
  /** For what happens to processes: grace and hooks (T6). */
  readonly real: Clock;
  readonly events: EventRecorder;
  readonly log: Log;
  /** The longest that a crash loop waits (N13). */
  readonly crashLoopMaxMs: number;
  /** The longest that a process gets to stop, whatever its pod says (T6). */
  readonly maxGraceMs: number;
}

/** Whoever works longer than that may be waiting for lab time himself: it must go on. */
const LONGEST_HOLD_MS = 2000;

/** Automatic time stands still while the node works on files and processes; for two seconds of real time at most. */
export function holdTime({ clock, real }: Pick<PodParts, 'clock' | 'real'>, reason: string): Disposable {
  const hold = clock.hold(reason);
  const timer = real.timer(LONGEST_HOLD_MS, () => hold[Symbol.dispose]());
  return {
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      hold[Symbol.dispose]();
    },
  };
}

/** `name_namespace(uid)`, as the kubelet calls pods in its messages. */
export const podTitle = ({ metadata: { name, namespace = '', uid = '' } }: Pod): string =>
  `${name}_${namespace}(${uid})`;
