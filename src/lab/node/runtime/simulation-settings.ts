import { z } from 'zod';
import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import { parseDuration } from '../../../base/duration.ts';
import { messageOf } from '../../../base/errors.ts';
import { controllerReferenceOf } from '../../../object/owner-references.ts';
import { ContainerProblem } from './container-runtime.ts';

const PREFIX = 'simulate.slipway.dev/';

/** How a simulated container behaves (N12). */
export interface Simulation {
  readonly readyAfterMs: number;
  /** It runs until it is stopped when there is none. */
  readonly exit?: { readonly code: number; readonly afterMs: number };
}

const duration = z.string().transform((text, context) => {
  try {
    const ms = parseDuration(text);
    if (ms >= 0) return ms;
    context.addIssue(`"${text}" is in the past`);
  } catch (error) {
    context.addIssue(messageOf(error));
  }
  return z.NEVER;
});

const SETTINGS = z.strictObject({
  readyAfter: duration.optional(),
  exit: z.strictObject({ code: z.int().min(0).max(255), after: duration.optional() }).optional(),
});

const EXAMPLE = '{"readyAfter":"2s","exit":{"code":1,"after":"5s"}}';
/** How long the work of a Job takes. */
const JOB_MS = 1000;

/** What the pod says of one container, else what is usual for it. Throws a ContainerProblem when nobody can read that. */
export function simulationOf(pod: Pod, container: Container): Simulation {
  const key = `${PREFIX}${container.name}`;
  const text = pod.metadata.annotations?.[key];
  if (text === undefined) return { readyAfterMs: 0, ...usualExit(pod, container) };
  const { readyAfter = 0, exit } = settingsIn(key, text);
  return {
    readyAfterMs: readyAfter,
    ...(exit === undefined ? usualExit(pod, container) : { exit: { code: exit.code, afterMs: exit.after ?? 0 } }),
  };
}

function settingsIn(key: string, text: string): z.infer<typeof SETTINGS> {
  try {
    return SETTINGS.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? error.issues.map(issueText).join('; ') : messageOf(error);
    throw new ContainerProblem(
      'CreateContainerConfigError',
      `annotation ${key} says ${text}: ${why}; write for example ${EXAMPLE}`,
    );
  }
}

const issueText = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.join('.')}: ${message}`;

/** An init container has nothing to do, so that the pod goes on; a Job's work is done after a second. */
function usualExit(pod: Pod, container: Container): Pick<Simulation, 'exit'> {
  const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) === true;
  if (isInit) return container.restartPolicy === 'Always' ? {} : { exit: { code: 0, afterMs: 0 } };
  const isOfJob = controllerReferenceOf(pod)?.kind === 'Job';
  return isOfJob ? { exit: { code: 0, afterMs: JOB_MS } } : {};
}
