import type { Pod } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Lab } from '../../lab/index.ts';
import type { PhaseContext } from '../journey/phase.ts';
import { LAB } from '../lab/lab-handover.ts';
import { PROVIDER } from '../provider/definition-phase.ts';
import { isCrashing, managerPods, operatorCondition, operatorPods } from './cloud-facts.ts';
import { isLasting, warningSentence, warningsOn } from './cloud-warnings.ts';

const WITHIN = '2m';
/** Of the log of each pod. */
const LAST_LINES = 40;

/** What is still to come. */
export interface Outlook {
  readonly isDone: boolean;
  /** What becomes true when it has come. */
  readonly predicate: string;
  /** What it is to happen to; warnings on these say why it does not. */
  readonly objects: readonly KubeObject[];
}

/**
 * Waits, and says what for: the predicate, and the newest warning on its objects. Ends early when the cause is certain,
 * since nobody has to wait for what cannot come; the probes say what the cause is (experience X31).
 */
export async function waitedFor(context: PhaseContext, look: () => Promise<Outlook>): Promise<void> {
  const { lab } = LAB.get(context);
  let told = '';
  const isThere = async () => {
    const { isDone, predicate, objects } = await look();
    if (isDone) return true;
    const provider = PROVIDER.get(context);
    const pods = await managerPods(lab, provider);
    const warnings = await warningsOn(lab, objects);
    const [newest] = warnings;
    const text = newest === undefined ? predicate : `${predicate} (last warning: ${warningSentence(newest)})`;
    if (text !== told) context.waitingFor(text);
    told = text;
    // One is enough: the others may only wait until it is their turn.
    if (pods.some(isCrashing)) throw new InVain('the cloud controller manager ends over and over');
    if ((await operatorPods(lab, provider)).some(isCrashing))
      throw new InVain('the cloud operator ends over and over');
    const degraded = await operatorCondition(lab, provider, 'Degraded');
    if (degraded?.status === 'True') throw new InVain(`the cloud operator is degraded: ${degraded.message ?? ''}`);
    if (newest !== undefined && isLasting(warnings, lab.clock.now()))
      throw new InVain(`no further try helps: ${warningSentence(newest)}`);
    return { isDone, about: [...objects, ...pods], waitedFor: predicate };
  };
  await lab.until(isThere, { within: WITHIN });
}

/** It is certain that what is waited for does not come. */
class InVain extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'InVain';
  }
}

/** What pods said last, for when they are gone. */
export async function lastWords(lab: Lab, pods: readonly Pod[]): Promise<string> {
  const containers = pods.flatMap(({ metadata, spec }) => spec.containers.map(({ name }) => ({ metadata, name })));
  const texts = containers.map(async ({ metadata, name }) => {
    const logOf = (previous: boolean) =>
      lab
        .cluster()
        .logs(metadata, { container: name, previous })
        // Of a container that has not started, or has not ended yet, there is none.
        .catch(() => '');
    const [earlier, now] = [await logOf(true), await logOf(false)];
    // Of one that waits to be started again both are the same.
    const lines = (earlier === now ? now : `${earlier}${now}`).trimEnd().split('\n').slice(-LAST_LINES);
    return [`last lines of ${name} in pod ${metadata.name}:`, ...lines.map((line) => `  ${line}`)].join('\n');
  });
  return (await Promise.all(texts)).join('\n');
}
