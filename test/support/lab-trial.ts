import {
  type ContainerState,
  type ContainerStatus,
  Pod,
  type PodCondition,
} from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import type { ImageCatalogue, Lab, LabCluster, LabOptions } from '../../src/lab/index.ts';
import { startLab } from '../../src/lab/index.ts';

/** Where programs of tests listen. Not 8080: whoever has that on all addresses of this machine has it on those of a lab. */
export const PORT = 18_417;

/** A shell, and a few programs that listen. */
export const IMAGES = {
  sh: { argv: ['/bin/sh', '-c'], entrypoint: 2 },
  /** Answers with the name of its pod. Exits with 2 when it is given a flag. */
  web: {
    argv: [
      'node',
      '-e',
      `if (process.argv.length > 1) process.exit(2);
      require('node:http')
        .createServer((request, response) => response.end(process.env.HOSTNAME))
        .listen(${PORT}, () => console.log('listening'))`,
      '--',
    ],
    entrypoint: 4,
  },
  /** Takes connections and never answers. */
  mute: { argv: ['node', '-e', `require('node:http').createServer(() => {}).listen(${PORT})`] },
} as const satisfies ImageCatalogue;

/** What a pod and its first container look like to people; the pod has the address ADDRESS and the UID UID. */
export interface PodPicture {
  readonly phase: string;
  readonly state: string;
  readonly lastState: string;
  readonly restarts: number;
  /** `False ContainersNotReady: containers with unready status: [c]` */
  readonly ready: string;
}

type PodSpec = Pod['spec'];

/** A lab with pods that a test looks at. */
export class LabTrial implements AsyncDisposable {
  readonly lab: Lab;

  private constructor(lab: Lab) {
    this.lab = lab;
  }

  static async start(options: LabOptions = {}): Promise<LabTrial> {
    return new LabTrial(await startLab({ nodes: 1, images: IMAGES, maxGraceMs: 2000, ...options }));
  }

  get cluster(): LabCluster {
    return this.lab.cluster();
  }

  async create(name: string, spec: PodSpec): Promise<void> {
    await this.cluster.client.create(Pod, { metadata: { name, namespace: 'default' }, spec });
  }

  pod(name: string): Promise<Pod | undefined> {
    return this.cluster.client.find(Pod, { namespace: 'default', name });
  }

  /** Waits until a pod is so; fails with a picture of the pod as it is. */
  async until(
    name: string,
    isSo: (pod: Pod | undefined) => boolean,
    waitedFor: string,
    within = '2m',
  ): Promise<void> {
    const check = async () => {
      const pod = await this.pod(name);
      return { isDone: isSo(pod), about: pod === undefined ? [] : [pod], waitedFor: `${name}: ${waitedFor}` };
    };
    await this.lab.until(check, { within });
  }

  untilReady(name: string): Promise<void> {
    return this.until(name, (pod) => pictureOf(pod).ready === 'True', 'ready');
  }

  /** Until the state of its first container begins so. */
  untilState(name: string, start: string, within?: string): Promise<void> {
    return this.until(name, (pod) => pictureOf(pod).state.startsWith(start), start, within);
  }

  /** Where it is found in the lab. Throws when it has no address. */
  async addressOf(name: string): Promise<string> {
    const { podIP } = (await this.pod(name))?.status ?? {};
    if (podIP === undefined) throw new Error(`pod ${name} has no address`);
    return podIP;
  }

  /** The status of its first container. Throws when it has none. */
  async container(name: string): Promise<ContainerStatus> {
    const [container] = (await this.pod(name))?.status?.containerStatuses ?? [];
    if (container === undefined) throw new Error(`pod ${name} has no containers`);
    return container;
  }

  async picture(name: string): Promise<PodPicture> {
    return pictureOf(await this.pod(name));
  }

  /** `Warning BackOff …`, each once, in no particular order; not what the scheduler says. */
  async events(name: string): Promise<readonly string[]> {
    const { items } = await this.cluster.client.list(Event, { namespace: 'default' });
    const pod = await this.pod(name);
    const texts = items
      .filter(({ regarding, reason }) => regarding?.name === name && reason !== 'Scheduled')
      .map(({ type = '', reason = '', note = '' }) => anonymous(`${type} ${reason} ${note}`, pod));
    return [...new Set(texts)].toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lab[Symbol.asyncDispose]();
  }
}

/** Pure. */
export function pictureOf(pod: Pod | undefined): PodPicture {
  const { phase = 'gone', containerStatuses = [], conditions = [] } = pod?.status ?? {};
  const [{ state, lastState, restartCount } = NO_CONTAINER] = containerStatuses;
  return {
    phase,
    state: anonymous(stateText(state), pod),
    lastState: anonymous(stateText(lastState), pod),
    restarts: restartCount,
    ready: conditionText(conditions.find(({ type }) => type === 'Ready')),
  };
}

const NO_CONTAINER: Pick<ContainerStatus, 'state' | 'lastState' | 'restartCount'> = { restartCount: 0 };

const conditionText = ({ status, reason = '', message }: PodCondition = { type: '', status: '' }): string =>
  titled(`${status} ${reason}`.trim(), message);

const titled = (title: string, message = ''): string => (message === '' ? title : `${title}: ${message}`);

/** `waiting CrashLoopBackOff: back-off 10s …`, `terminated Error 2`, `running` or nothing. */
function stateText({ waiting, terminated, running }: ContainerState = {}): string {
  if (waiting !== undefined) return titled(`waiting ${waiting.reason ?? ''}`, waiting.message);
  if (terminated === undefined) return running === undefined ? '' : 'running';
  const { reason = '', exitCode, message } = terminated;
  return titled(`terminated ${reason} ${exitCode}`, message);
}

function anonymous(text: string, pod: Pod | undefined): string {
  const { metadata, status } = pod ?? {};
  return [[metadata?.uid, 'UID'] as const, [status?.podIP, 'ADDRESS'] as const].reduce(
    (changed, [from, to]) => (from === undefined ? changed : changed.replaceAll(from, to)),
    text,
  );
}
