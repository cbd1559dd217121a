import type { Clock } from '../../../base/clock.ts';
import { userError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { AddressPlan } from '../../address/address-plan.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import { openCompileCache } from '../../process/compile-cache.ts';
import { startProcessHost } from '../../process/start-process-host.ts';
import type { Warden } from '../../process/warden.ts';
import type { LabOptions } from '../../setup/lab-options.ts';
import { containerRuntime } from './chosen-runtime.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import { InProcessRuntime, type PodTransport } from './in-process-runtime.ts';
import { processRuntime } from './process-runtime.ts';
import { simulatedRuntime } from './simulated-runtime.ts';

export interface RuntimeParts {
  readonly options: LabOptions;
  readonly plan: AddressPlan;
  readonly directory: string;
  readonly identity: string;
  readonly warden: Warden;
  readonly clock: LabClock;
  readonly real: Clock;
  readonly log: Log;
}

/** Runs the containers of all nodes of a lab. Disposing it ends every process. */
export interface LabRuntime extends ContainerRuntime, AsyncDisposable {
  /** How files reach containers, and why. */
  readonly summary: string;
  /** SIGKILL to every process at once, without waiting (P15). */
  kill(): void;
  /** The same for one pod. */
  killPod(uid: string): void;
  /** The same runtime for pods of one cluster: containers in this process act as the accounts of their pods. */
  inCluster(transportAs: PodTransport): ContainerRuntime;
  /** Ends the containers in this process, as long as there is an API server. */
  stopInside(): Promise<void>;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Beside this file's folder; the extension is that of this file, since the package holds JavaScript. */
const PRELOAD = new URL(`../../process/preload${import.meta.url.slice(-3)}`, import.meta.url).href;

/** Starts what ends processes, and ends those of an earlier life. */
export async function startRuntime({ options, plan, ...parts }: RuntimeParts): Promise<LabRuntime> {
  const { clock, real } = parts;
  refuseUnknown(options);
  const { images = {}, unknownImages = 'simulate', isolation = 'auto', maxChildren, data } = options;
  const hasPrograms = Object.keys(images).length > 0;
  // What no program needs is not found out, and not made.
  const isChosen = hasPrograms || isolation !== 'auto';
  const compileCache = hasPrograms ? await openCompileCache() : undefined;
  const host = await startProcessHost({
    ...parts,
    isEphemeral: data === undefined,
    preload: PRELOAD,
    environment: plan.environment,
    isolation: isChosen ? isolation : 'rewrite',
    ...(compileCache !== undefined && { compileCache }),
    ...(maxChildren !== undefined && { maxChildren }),
  });
  const processes = processRuntime({ host, clock, real, path: PATH });
  const simulated = simulatedRuntime(clock);
  const inside = new InProcessRuntime({ clock, real });
  const chosen = { catalogue: images, processes, simulated, unknownImages };
  const inProcess = { names: options.inProcess ?? [], runtime: inside };
  return {
    ...containerRuntime({ ...chosen, inProcess }),
    inCluster: (transportAs) => containerRuntime({ ...chosen, inProcess: { ...inProcess, transportAs } }),
    summary: isChosen ? host.isolationText : 'No image has a program: every container is simulated.',
    kill: () => {
      inside.kill();
      host.killAll();
    },
    killPod: (uid) => {
      inside.kill(uid);
      host.killAll(`${uid}/`);
    },
    stopInside: () => inside[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function refuseUnknown({ inProcess = [], images = {} }: LabOptions): void {
  const able = Object.keys(images).filter((name) => images[name]?.run !== undefined);
  const unknown = inProcess.find((name) => !able.includes(name));
  if (unknown === undefined) return;
  const found = able.length === 0 ? 'no image has one' : `those that have one are ${able.join(', ')}`;
  throw userError('UnknownInProcess', `inProcess: images has no "${unknown}" with a function run; ${found}`);
}
