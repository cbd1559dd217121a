import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Node, Service } from '../../api/generated/core-v1.ts';
import type { ProgressRow } from '../../api/journey.ts';
import { causeChain, messageOf } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import type { Lab } from '../../lab/index.ts';
import type { Phase, PhaseContext, PhaseOutcome, PhaseSuccess } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { HELLO_SERVICE, helloServiceManifest, startHello } from '../lab/hello.ts';
import { labFailure } from '../lab/lab-failure.ts';
import { LAB } from '../lab/lab-handover.ts';
import { unlessStopped } from '../lab/lab-phase.ts';
import { PROVIDER } from '../provider/definition-phase.ts';
import type { LoadedProvider } from '../provider/load-provider.ts';
import {
  balancerUrl,
  isInitialised,
  leadingPod,
  machineNodes,
  managerPods,
  operatorCondition,
  operatorPods,
  UNINITIALIZED,
} from './cloud-facts.ts';
import { cloudProbes } from './cloud-probes.ts';
import { lastWords, type Outlook, waitedFor } from './cloud-wait.ts';
import { endEarlierLife, installInLab } from './install-in-lab.ts';
import { JOURNEY_MACHINES, type JourneyMachine, undoEarlierRun } from './lab-machines.ts';

const ANSWER_MS = 2000;
const PAUSE_MS = 200;

/** In the cluster that was installed: the cloud controller manager runs as a pod, nodes are initialised, a load balancer answers. */
export const cloudPhase: Phase = {
  id: 'cloud',
  needs: ['definition', 'cluster'],
  run,
  probes: cloudProbes,
};

async function run(context: PhaseContext): Promise<PhaseOutcome> {
  const { lab, isScenario } = LAB.get(context);
  if (isScenario) return { health: 'skipped', detail: 'the scenario describes a lab of its own' };
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
  const machines = JOURNEY_MACHINES;
  const { startedAt } = LAB.get(context);
  context.waitingFor('nothing is left of an earlier run');
  await endEarlierLife(lab, provider, startedAt);
  await undoEarlierRun({ lab, cluster, signal });
  const show = nodeRows(context, machines);
  show(await machineNodes(lab, machines));
  context.progress('installing the cloud operator, which deploys the cloud controller manager');
  await installInLab(lab, provider);
  await waitedFor(context, () => initialised(lab, machines, show));
  const pod = await leaderOf(context, provider);
  await waitedFor(context, () => operatorAvailable(lab, provider));
  context.progress('starting a pod as a process');
  const hello = await startHello(lab, signal);
  context.row({ path: [hello.node, hello.pod], health: 'done', word: 'running', note: `process ${hello.pid}` });
  const reached = { machines: machines.length, pod };
  // A cloud may have none of its own.
  if (!(provider.definition.ccm.controllers ?? []).includes('service')) return success(context, lab, reached);
  context.progress('asking for a load balancer');
  await cluster.apply(helloServiceManifest);
  return success(context, lab, { ...reached, url: await answeringUrl(context) });
}

interface Reached {
  readonly machines: number;
  /** Of the load balancer, where the provider has them. */
  readonly url?: string;
  readonly pod: { readonly namespace?: string; readonly name: string };
}

function success({ folder }: PhaseContext, lab: Lab, { machines, url, pod }: Reached): PhaseSuccess {
  const kubectl = `kubectl --kubeconfig ${shellWord(shownPath(folder, lab.cluster().kubeconfigPath))}`;
  const balancer =
    url === undefined
      ? 'no load balancer: the provider runs no service controller'
      : `load balancer ${new URL(url).host} answers`;
  return {
    health: 'done',
    detail: `${machines} nodes initialised, ${balancer}`,
    addresses: url === undefined ? [] : [{ label: 'load balancer', value: url }],
    tries: [
      ...(url === undefined ? [] : [{ kind: 'command', text: `curl ${url}` } as const]),
      { kind: 'command', text: `${kubectl} get clusteroperators` },
      { kind: 'command', text: `${kubectl} get nodes -L topology.kubernetes.io/zone -o wide` },
      { kind: 'command', text: `${kubectl} logs -n ${pod.namespace ?? 'default'} ${pod.name}` },
    ],
  };
}

type ShowNodes = (nodes: readonly Node[]) => void;

/** A row for each machine, as it is. Each is told when it changes. */
function nodeRows(context: PhaseContext, machines: readonly JourneyMachine[]): ShowNodes {
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

function rowOf({ name }: JourneyMachine, node: Node | undefined): ProgressRow {
  if (node === undefined || !isInitialised(node))
    return { path: [name], health: 'working', word: 'uninitialised' };
  const shown = node.metadata.labels?.['topology.kubernetes.io/zone'] ?? '';
  const note = `${node.spec?.providerID ?? ''} zone ${shown}`;
  return { path: [name], health: 'done', word: 'initialised', note };
}

async function initialised(lab: Lab, machines: readonly JourneyMachine[], show: ShowNodes): Promise<Outlook> {
  const nodes = await machineNodes(lab, machines);
  show(nodes);
  const objects = nodes.filter((node) => !isInitialised(node));
  const names = objects.map(({ metadata }) => metadata.name).join(', ');
  return {
    isDone: nodes.length === machines.length && objects.length === 0,
    predicate: `the cloud controller manager initialises ${names}`,
    objects,
  };
}

async function operatorAvailable(lab: Lab, provider: LoadedProvider): Promise<Outlook> {
  const available = await operatorCondition(lab, provider, 'Available');
  return { isDone: available?.status === 'True', predicate: 'the cloud operator is available', objects: [] };
}

/** The pod that does the work now: what an earlier run did proves nothing about this one. */
async function leaderOf(context: PhaseContext, provider: LoadedProvider) {
  const { lab } = LAB.get(context);
  let leader: Awaited<ReturnType<typeof leadingPod>>;
  await waitedFor(context, async () => {
    leader = await leadingPod(lab, provider);
    const predicate = 'a pod of the cloud controller manager leads';
    return { isDone: leader !== undefined, predicate, objects: [] };
  });
  if (leader === undefined) throw new Error('no pod of the cloud controller manager leads');
  return leader.metadata;
}

/** Resolves with where it is reached, once something behind it has answered. */
async function answeringUrl(context: PhaseContext): Promise<string> {
  const { lab } = LAB.get(context);
  let url: string | undefined;
  await waitedFor(context, async () => {
    url = await balancerUrl(lab);
    const service = await lab.cluster().client.find(Service, HELLO_SERVICE);
    // What is said of it does not count any more once it has an address.
    const objects = service === undefined || url !== undefined ? [] : [service];
    const isDone = url !== undefined && (await isAnswering(url, context.signal));
    return {
      isDone,
      predicate: url === undefined ? 'Service hello gets a load balancer' : 'the load balancer answers',
      objects,
    };
  });
  return url ?? '';
}

async function isAnswering(url: string, signal: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const answer = await fetch(url, { signal: limit });
    await answer.text();
    return answer.ok;
  } catch {
    await pause(PAUSE_MS, undefined, { signal });
    return false;
  }
}

/** What was waited for in vain is explained by the probes (experience X31); the whole picture goes to a file. */
async function failed(context: PhaseContext, lab: Lab, error: unknown): Promise<PhaseOutcome> {
  const detail = 'the cloud does not serve the cluster';
  const isWaited = causeChain(error).some((one) => one instanceof Error && WAITED.has(one.name));
  if (!isWaited) return labFailure(error, { detail });
  const file = join(lab.directory, 'cloud-not-ready.txt');
  const provider = PROVIDER.get(context);
  const pods = [...(await operatorPods(lab, provider)), ...(await managerPods(lab, provider))];
  const picture = [messageOf(error), await lastWords(lab, pods)].filter((text) => text !== '').join('\n');
  const look = await writeFile(file, `${redactedText(picture)}\n`).then(
    () => [shownPath(context.folder, file)],
    // On a full disk the cause is all there is.
    () => [],
  );
  return { health: 'failed', detail, what: await whatFailed(context), code: 'SW1108', look };
}

/** What can be seen from outside; why it is so is a matter of the probes. */
async function whatFailed(context: PhaseContext): Promise<string> {
  const { lab } = LAB.get(context);
  const machines = JOURNEY_MACHINES;
  const nodes = await machineNodes(lab, machines);
  const waiting = nodes.filter((node) => !isInitialised(node)).length;
  if (nodes.length < machines.length) return `${nodes.length} of ${machines.length} machines are nodes`;
  if (waiting > 0) return `${waiting} of ${machines.length} nodes still carry the taint ${UNINITIALIZED}`;
  if ((await leadingPod(lab, PROVIDER.get(context))) === undefined)
    return 'the cloud controller manager does not work';
  return 'the load balancer of Service hello does not answer';
}

const WAITED: ReadonlySet<string> = new Set(['TimeUp', 'InVain']);
