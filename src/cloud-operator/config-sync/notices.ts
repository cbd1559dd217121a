import type { KubeObject } from '../../api/object.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';

export interface Notice {
  /** What the user has to look at. */
  readonly regarding: KubeObject;
  readonly reason: string;
  readonly note: string;
}

/** Warnings about what users wrote: at most once per change of it, however often it is looked at. */
export class Notices {
  #told = '';

  /** All that is to be said now. `state` is what it is said of: when that changes, it is said again. */
  tell(events: EventRecorder, notices: readonly Notice[], state: string): void {
    const told = JSON.stringify([state, notices.map(({ reason, note }) => [reason, note])]);
    if (told === this.#told) return;
    this.#told = told;
    for (const notice of notices) events.warning(notice.regarding, notice.reason, notice.note);
  }
}
