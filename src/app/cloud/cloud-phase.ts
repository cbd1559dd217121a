import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Node } from '../../api/generated/core-v1.ts';
import type { ProgressRow } from '../../api/journey.ts';
import { causeChain, messageOf } from '../../base/errors.ts';
import type { Lab } from '../../lab/index.ts';
import type { Phase, PhaseContext, PhaseOutcome, PhaseSuccess } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { helloServiceManifest } from '../lab/hello.ts';
import { labFailure } from '../lab/lab-failure.ts';
import { LAB } from '../lab/lab-handover.ts';
import { unlessStopped } from '../lab/lab-phase.ts';
import { PROVIDER } from '../provider/definition-phase.ts';
import type { LoadedProvider } from '../provider/load-provider.ts';
import {
  balancerUrl,
  isCrashing,
  isInitialised,
  leadingPod,
  machineNodes,
  managerPods,
  UNINITIALIZED,
} from './cloud-facts.ts';
import { cloudProbes } from './cloud-probes.ts';
import { endEarlierLife, installInLab } from './install-in-lab.ts';
import { bootMachines, type MachineWish, machineWishes, removeEarlierRun } from './lab-machines.ts';

const ANSWER_MS = 2000;
const PAUSE_MS = 200;
const WITHIN = '2m';

/** Machines of a cloud become nodes, the cloud controller manager runs as a pod, and a load balancer answers. */
export const cloudPhase: Phase = {
  id: 'cloud',
  needs: ['definition', 'cluster'],
  run,
  probes: cloudProbes,
};

async function run(context: PhaseContext): Promise<PhaseOutcome> {
  const { lab, hasHello } = LAB.get(context);
  if (!hasHello) return { health: 'skipped', detail: 'the scenario describes a lab of its own' };
  try {
    return await unlessStopped(worked(context, lab, PROVIDER.get(context)), context.signal);
  } catch (error) {
    context.signal.throwIfAborted();
    return await failed(context, lab, error);
  }
}

async function worked(context: PhaseContext, lab: Lab, provider: LoadedProvider): Promise<PhaseSuccess> {
  const { signal } = context;
  const cluster = lab.cluster();
  const machines = machineWishes(provider.definition);
  const { startedAt } = LAB.get(context);
  context.waitingFor('nothing is left of an earlier run');
  await endEarlierLife(lab, provider, startedAt);
  await removeEarlierRun({ lab, cluster, signal }, machines, startedAt);
  context.progress(`starting ${machines.length} machines in the cloud`);
  context.waitingFor('the machines of the cloud are nodes');
  await bootMachines({ lab, cluster, signal }, machines);
  const show = nodeRows(context, machines);
  show(await machineNodes(lab, machines));
  context.progress('deploying the cloud controller manager');
  await installInLab(lab, provider);
  context.waitingFor('the cloud controller manager initialises the nodes');
  await lab.until(() => areInitialised(context, machines, show), { within: WITHIN });
  context.waitingFor('a pod of the cloud controller manager leads');
  const pod = await leaderOf(lab, provider);
  context.progress('asking for a load balancer');
  await cluster.apply(helloServiceManifest);
  context.waitingFor('the load balancer answers');
  const url = await answeringUrl(context, lab);
  return success(context, lab, { machines: machines.length, url, pod });
}

interface Reached {
  readonly machines: number;
  readonly url: string;
  readonly pod: { readonly namespace?: string; readonly name: string };
}

function success({ folder }: PhaseContext, lab: Lab, { machines, url, pod }: Reached): PhaseSuccess {
  const kubectl = `kubectl --kubeconfig ${shellWord(shownPath(folder, lab.cluster().kubeconfigPath))}`;
  return {
    health: 'done',
    detail: `${machines} nodes initialised, load balancer ${new URL(url).host} answers`,
    addresses: [{ label: 'load balancer', value: url }],
    tries: [
      { kind: 'command', text: `curl ${url}` },
      { kind: 'command', text: `${kubectl} get nodes -L topology.kubernetes.io/zone -o wide` },
      { kind: 'command', text: `${kubectl} logs -n ${pod.namespace ?? 'default'} ${pod.name}` },
    ],
  };
}

type ShowNodes = (nodes: readonly Node[]) => void;

/** A row for each machine, as it is. Each is told when it changes. */
function nodeRows(context: PhaseContext, machines: readonly MachineWish[]): ShowNodes {
  const told = new Map<string, string>();
  return (nodes) => {
    for (const machine of machines) {
      const row = rowOf(
        machine,
        nodes.find(({ metadata }) => metadata.name === machine.name),
      );
      const text = JSON.stringify(row);
      if (told.get(machine.name) !== text) context.row(row);
      told.set(machine.name, text);
    }
  };
}

function rowOf({ name, zone }: MachineWish, node: Node | undefined): ProgressRow {
  if (node === undefined || !isInitialised(node))
    return { path: [name], health: 'working', word: 'uninitialised', note: `zone ${zone}` };
  const shown = node.metadata.labels?.['topology.kubernetes.io/zone'] ?? '';
  const note = `${node.spec?.providerID ?? ''} zone ${shown}`;
  return { path: [name], health: 'done', word: 'initialised', note };
}

async function areInitialised(
  context: PhaseContext,
  machines: readonly MachineWish[],
  show: ShowNodes,
): Promise<boolean> {
  const { lab } = LAB.get(context);
  const nodes = await machineNodes(lab, machines);
  const isDone = nodes.length === machines.length && nodes.every(isInitialised);
  show(nodes);
  if (!isDone) await requireNoCrash(lab, PROVIDER.get(context));
  return isDone;
}

/** The pod that does the work now: what an earlier run did proves nothing about this one. */
async function leaderOf(lab: Lab, provider: LoadedProvider) {
  let leader: Awaited<ReturnType<typeof leadingPod>>;
  const isThere = async () => {
    leader = await leadingPod(lab, provider);
    if (leader === undefined) await requireNoCrash(lab, provider);
    return leader !== undefined;
  };
  await lab.until(isThere, { within: WITHIN });
  if (leader === undefined) throw new Error('no pod of the cloud controller manager leads');
  return leader.metadata;
}

/** Nobody has to wait for what ends over and over; the probes say why it does. */
async function requireNoCrash(lab: Lab, provider: LoadedProvider): Promise<void> {
  // One is enough: the others may only wait until it is their turn.
  if ((await managerPods(lab, provider)).some(isCrashing)) throw new CrashLoop();
}

class CrashLoop extends Error {
  constructor() {
    super('the cloud controller manager ends over and over');
    this.name = 'CrashLoop';
  }
}

/** Resolves with where it is reached, once something behind it has answered. */
async function answeringUrl({ signal }: PhaseContext, lab: Lab): Promise<string> {
  let url: string | undefined;
  const isAnswering = async () => {
    url = await balancerUrl(lab);
    if (url === undefined) return false;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    try {
      const answer = await fetch(url, { signal: limit });
      await answer.text();
      return answer.ok;
    } catch {
      await pause(PAUSE_MS, undefined, { signal });
      return false;
    }
  };
  await lab.until(isAnswering, { within: WITHIN });
  return url ?? '';
}

/** What was waited for in vain is explained by the probes (experience X31); the whole picture goes to a file. */
async function failed(context: PhaseContext, lab: Lab, error: unknown): Promise<PhaseOutcome> {
  const detail = 'the cloud does not serve the cluster';
  const isWaited = causeChain(error).some((one) => one instanceof Error && WAITED.has(one.name));
  if (!isWaited) return labFailure(error, { detail });
  const file = join(lab.directory, 'cloud-not-ready.txt');
  const look = await writeFile(file, `${messageOf(error)}\n`).then(
    () => [shownPath(context.folder, file)],
    // On a full disk the cause is all there is.
    () => [],
  );
  return { health: 'failed', detail, what: await whatFailed(context), code: 'SW1108', look };
}

/** What can be seen from outside; why it is so is a matter of the probes. */
async function whatFailed(context: PhaseContext): Promise<string> {
  const { lab } = LAB.get(context);
  const machines = machineWishes(PROVIDER.get(context).definition);
  const nodes = await machineNodes(lab, machines);
  const waiting = nodes.filter((node) => !isInitialised(node)).length;
  if (nodes.length < machines.length) return `${nodes.length} of ${machines.length} machines are nodes`;
  if (waiting > 0) return `${waiting} of ${machines.length} nodes still carry the taint ${UNINITIALIZED}`;
  if ((await leadingPod(lab, PROVIDER.get(context))) === undefined)
    return 'the cloud controller manager does not work';
  return 'the load balancer of Service hello does not answer';
}

const WAITED: ReadonlySet<string> = new Set(['TimeUp', 'CrashLoop']);
