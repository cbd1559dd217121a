import type { KubeObject } from '../../api/object.ts';

export interface EventDetails {
  /** What was attempted, UpperCamelCase; the reason unless told otherwise. */
  readonly action?: string;
  readonly related?: KubeObject;
}

/** Tells users what happened to an object. Never throws, never waits: delivery is somebody else's job (V3, V5). */
export interface EventRecorder {
  normal(regarding: KubeObject, reason: string, note: string, details?: EventDetails): void;
  warning(regarding: KubeObject, reason: string, note: string, details?: EventDetails): void;
}
