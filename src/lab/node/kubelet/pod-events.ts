import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import type { EventRecorder } from '../../../kube/events/event-recorder.ts';
import { nameHash } from '../../../object/name-hash.ts';
import type { RunningContainer } from '../runtime/container-runtime.ts';
import type { Waiting } from './container-seen.ts';

/** Tells users what happened to a pod. */
export class PodEvents {
  readonly #recorder: EventRecorder;
  readonly #pod: () => Pod;
  /** Of what is told only once per pod; bounded by the few reasons there are. */
  readonly #told = new Set<string>();

  constructor(recorder: EventRecorder, pod: () => Pod) {
    this.#recorder = recorder;
    this.#pod = pod;
  }

  normal(reason: string, message: string): void {
    this.#recorder.normal(this.#pod(), reason, message, { action: actionOf(reason, message) });
  }

  warning(reason: string, message: string): void {
    this.#recorder.warning(this.#pod(), reason, message, { action: actionOf(reason, message) });
  }

  /** Once in the life of the pod on this node, whatever the message is. */
  once(reason: string, message: string): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    this.normal(reason, message);
  }
}

/** Events with the same reason and action are one series, which keeps its first message: containers must not share it. */
const actionOf = (reason: string, message: string): string => `${reason}-${nameHash(message)}`;

/** What users see of a start. */
export function tellStart(events: PodEvents, going: RunningContainer, { name, image = '' }: Container): void {
  if (!going.isSimulated) events.normal('Pulled', `Container image "${image}" already present on machine`);
  events.normal('Created', `Created container: ${name}`);
  events.normal('Started', `Started container ${name}`);
  for (const { reason, message } of going.notices ?? []) {
    if (reason === 'NotEnforced') events.once(reason, message);
    else events.normal(reason, message);
  }
}

/** What users see of a start that failed. */
export function tellFailure(
  events: PodEvents,
  { reason, message }: Required<Waiting>,
  { name, image = '' }: Container,
): void {
  switch (reason) {
    case 'ErrImagePull':
      events.normal('Pulling', `Pulling image "${image}"`);
      return events.warning('Failed', message);
    case 'ErrImageNeverPull':
      return events.warning(reason, message);
    case 'ContainerCreating':
      return events.warning('TooManyProcesses', message);
    default:
      // As a kubelet tells it: the image is there, and a program that cannot run was a container before it was started.
      events.normal('Pulled', `Container image "${image}" already present on machine`);
      if (reason === 'RunContainerError') events.normal('Created', `Created container: ${name}`);
      return events.warning('Failed', `Error: ${message}`);
  }
}
