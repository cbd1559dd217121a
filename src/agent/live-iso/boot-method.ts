import { BOOT_METHOD, type OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';

/** How a host gets into discovery: an image with the ignition as its user data, or the ISO of assisted-service. */
export type BootMethod = 'ignition' | 'live-iso';

export const BOOT_METHODS: readonly string[] = ['ignition', 'live-iso'] satisfies readonly BootMethod[];

/** Pure: what the annotation of a config says; undefined when it says something that does not exist. */
export function bootMethodOf({ metadata: { annotations = {} } }: OpenshiftAssistedConfig): BootMethod | undefined {
  const text = annotations[BOOT_METHOD] ?? 'ignition';
  return isMethod(text) ? text : undefined;
}

const isMethod = (text: string): text is BootMethod => BOOT_METHODS.includes(text);

export const bootMethodProblem = ({ metadata: { annotations = {} } }: OpenshiftAssistedConfig): string =>
  `the annotation ${BOOT_METHOD} must be ignition or live-iso; it is "${annotations[BOOT_METHOD] ?? ''}"; correct it`;
