import { type ContainerStatus, type Pod, Service } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { messageOf } from '../../base/errors.ts';
import type { Lab } from '../../lab/index.ts';
import type { Phase, PhaseContext, Probe, ProbeAnswer } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { HELLO_SERVICE } from '../lab/hello.ts';
import { LAB } from '../lab/lab-handover.ts';
import { whileUp } from '../lab/lab-phase.ts';
import { PROVIDER } from '../provider/definition-phase.ts';
import {
  balancerUrl,
  type Installed,
  installedNames,
  isInitialised,
  leadingPod,
  machineNodes,
  managerPods,
  operatorCondition,
  operatorOf,
  operatorPods,
} from './cloud-facts.ts';
import { warningSentence, warningsOn } from './cloud-warnings.ts';
import { isReadyNode, JOURNEY_MACHINES, machineStates } from './lab-machines.ts';

/** What a probe looks at. */
interface Scene {
  readonly lab: Lab;
  readonly provider: Installed;
  readonly signal: AbortSignal;
  readonly kubectl: string;
  readonly namespace: string;
}

const TRUE: ProbeAnswer = { isTrue: true };
const SHOWN_LINES = 3;
const BACK_OFF = 'CrashLoopBackOff';
const TROUBLE = / (WARN|ERROR) /;

/** What must be true for the phase to succeed, in the order in which it becomes true (experience X31). */
export const cloudProbes: Phase['probes'] = [
  probe('the machines of the cloud are nodes', machinesAreNodes),
  probe('the cloud operator stays up', operatorStaysUp),
  probe('the cloud operator can deploy', operatorDeploys),
  probe('a pod of the cloud controller manager exists', podExists),
  probe('the cloud controller manager stays up', managerStaysUp),
  probe('the provider answers', providerAnswers),
  probe('a pod of the cloud controller manager leads', leads),
  probe('the nodes are initialised', areInitialised),
  probe('the load balancer has an address', hasAddress),
];

function probe(predicate: string, ask: (scene: Scene) => Promise<ProbeAnswer>): Probe {
  return { predicate, ask: (context) => ask(sceneOf(context)) };
}

function sceneOf(context: PhaseContext): Scene {
  const { lab } = LAB.get(context);
  const provider = PROVIDER.get(context);
  const kubeconfig = shownPath(context.folder, lab.cluster().kubeconfigPath);
  const { namespace } = installedNames(provider.definition);
  const kubectl = `kubectl --kubeconfig ${shellWord(kubeconfig)}`;
  return { lab, provider, signal: context.signal, kubectl, namespace };
}

async function machinesAreNodes({ lab, signal, kubectl }: Scene): Promise<ProbeAnswer> {
  const machines = JOURNEY_MACHINES;
  const ready = (await machineNodes(lab, machines)).filter(isReadyNode).map(({ metadata }) => metadata.name);
  const missing = machines.filter(({ name }) => !ready.includes(name));
  if (missing.length === 0) return TRUE;
  const states = await machineStates(lab, signal);
  const texts = missing.map(({ name }) => `${name} (${states.get(name) ?? 'not in the cloud'})`);
  return {
    isTrue: false,
    evidence: `these machines are no nodes that are ready: ${texts.join(', ')}`,
    next: whileUp(`${kubectl} get nodes,csr`),
  };
}

async function podExists({ lab, provider, kubectl, namespace }: Scene): Promise<ProbeAnswer> {
  const pods = await managerPods(lab, provider);
  const [waiting] = pods;
  if (pods.some(({ spec }) => (spec.nodeName ?? '') !== '')) return TRUE;
  const { message } = waiting?.status?.conditions?.find(({ type }) => type === 'PodScheduled') ?? {};
  const evidence =
    waiting === undefined
      ? `namespace ${namespace} has no pod of it`
      : `pod ${waiting.metadata.name} is on no node: ${message ?? 'nobody has said why'}`;
  return { isTrue: false, evidence, next: whileUp(`${kubectl} get events -n ${namespace}`) };
}

async function operatorStaysUp(scene: Scene): Promise<ProbeAnswer> {
  const { namespace } = operatorOf(scene.provider.definition).deployment;
  return staysUp({ ...scene, namespace }, await operatorPods(scene.lab, scene.provider));
}

async function operatorDeploys({ lab, provider, kubectl }: Scene): Promise<ProbeAnswer> {
  const degraded = await operatorCondition(lab, provider, 'Degraded');
  if (degraded?.status !== 'True') return TRUE;
  const { clusterOperator } = operatorOf(provider.definition);
  const next = whileUp(`${kubectl} get clusteroperator ${clusterOperator} -o yaml`);
  return { isTrue: false, evidence: `ClusterOperator ${clusterOperator}: ${degraded.message ?? ''}`, next };
}

async function managerStaysUp(scene: Scene): Promise<ProbeAnswer> {
  return staysUp(scene, await managerPods(scene.lab, scene.provider));
}

/** Whether one that has ended stays this time is only known when it is ready. */
async function staysUp(scene: Scene, pods: readonly Pod[]): Promise<ProbeAnswer> {
  const containers = pods.flatMap((pod) =>
    (pod.status?.containerStatuses ?? []).map((status) => ({ pod, status })),
  );
  // Of several the one that ended most often: others may have had their turn for the first time only.
  const [ended] = containers
    .filter(({ status }) => !status.ready && endsOf(status) > 0)
    .toSorted((one, other) => endsOf(other.status) - endsOf(one.status));
  if (ended !== undefined) return endedAnswer(scene, ended);
  const [first] = containers;
  if (first === undefined || containers.some(({ status }) => status.state?.running !== undefined)) return TRUE;
  const { reason = 'it waits', message = 'nobody has said why' } = first.status.state?.waiting ?? {};
  return { isTrue: false, evidence: `pod ${first.pod.metadata.name} does not start: ${reason}: ${message}` };
}

/** One that waits to be started again has ended once more than it was started again. */
const endsOf = ({ restartCount, state }: ContainerStatus): number =>
  restartCount + (state?.terminated === undefined && state?.waiting?.reason !== BACK_OFF ? 0 : 1);

async function endedAnswer(
  scene: Scene,
  { pod, status }: { readonly pod: Pod; readonly status: ContainerStatus },
): Promise<ProbeAnswer> {
  const { name } = pod.metadata;
  const said =
    (status.state?.terminated ?? status.lastState?.terminated)?.message ??
    (await lastLog(scene, pod, status.name));
  return {
    isTrue: false,
    evidence: `pod ${name} ended ${times(endsOf(status))}: ${lastLines(said)}`,
    look: whileUp(`${scene.kubectl} logs --previous -n ${scene.namespace} ${name} -c ${status.name}`),
  };
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const lastLines = (text: string): string => text.trimEnd().split('\n').slice(-SHOWN_LINES).join(' · ');

async function lastLog({ lab }: Scene, { metadata }: Pod, container: string): Promise<string> {
  const said = lab.cluster().logs(metadata, { container, previous: true });
  return said.catch((error: unknown) => messageOf(error));
}

/** What is told on an object counts as long as the object waits; otherwise, what is told in the log. */
async function providerAnswers(scene: Scene): Promise<ProbeAnswer> {
  const waiting = await waitingObjects(scene);
  if (waiting.length === 0) return TRUE;
  const { lab, provider, kubectl, namespace } = scene;
  const pods = await managerPods(lab, provider);
  const pod = (await leadingPod(lab, provider)) ?? pods[0];
  const [warning] = await warningsOn(lab, waiting);
  const told = warning === undefined ? undefined : warningSentence(warning);
  const evidence = told ?? (pod === undefined ? undefined : await troubleOf(scene, pod, waiting));
  if (evidence === undefined) return TRUE;
  const look = pod === undefined ? [] : whileUp(`${kubectl} logs -n ${namespace} ${pod.metadata.name}`);
  return { isTrue: false, evidence, look };
}

/** The newest line of its log that says that something is wrong with one of these objects. */
async function troubleOf(
  { lab }: Scene,
  { metadata }: Pod,
  objects: readonly KubeObject[],
): Promise<string | undefined> {
  const names = objects.map((object) => object.metadata.name);
  const log = await lab
    .cluster()
    .logs(metadata)
    .catch(() => '');
  const isAbout = (line: string) => TROUBLE.test(line) && names.some((name) => line.includes(name));
  const line = log.split('\n').findLast(isAbout);
  return line === undefined ? undefined : `pod ${metadata.name}: ${line}`;
}

/** What the phase waits for: nodes, and the Service. */
async function waitingObjects({ lab }: Scene): Promise<readonly KubeObject[]> {
  const nodes = await machineNodes(lab, JOURNEY_MACHINES);
  const service = await lab.cluster().client.find(Service, HELLO_SERVICE);
  const isWaiting = service !== undefined && (service.status?.loadBalancer?.ingress ?? []).length === 0;
  return [...nodes.filter((node) => !isInitialised(node)), ...(isWaiting ? [service] : [])];
}

async function leads({ lab, provider, kubectl, namespace }: Scene): Promise<ProbeAnswer> {
  if ((await leadingPod(lab, provider)) !== undefined) return TRUE;
  const next = whileUp(`${kubectl} get leases -n ${namespace}`);
  return { isTrue: false, evidence: `none of its pods holds the lease in namespace ${namespace}`, next };
}

async function areInitialised({ lab, kubectl }: Scene): Promise<ProbeAnswer> {
  const nodes = await machineNodes(lab, JOURNEY_MACHINES);
  const waiting = nodes.filter((node) => !isInitialised(node)).map(({ metadata }) => metadata.name);
  if (waiting.length === 0) return TRUE;
  const next = whileUp(`${kubectl} describe nodes ${waiting.join(' ')}`);
  return { isTrue: false, evidence: `these nodes still wait for it: ${waiting.join(', ')}`, next };
}

async function hasAddress({ lab, kubectl }: Scene): Promise<ProbeAnswer> {
  const { namespace, name } = HELLO_SERVICE;
  const next = whileUp(`${kubectl} describe service -n ${namespace} ${name}`);
  if ((await balancerUrl(lab)) !== undefined) return TRUE;
  return { isTrue: false, evidence: `Service ${name} has no address of a load balancer`, next };
}
