import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Node } from '../../api/generated/core-v1.ts';
import { messageOf } from '../../base/errors.ts';
import { createLog } from '../../base/log.ts';
import type { Lab, LabCluster, LabOptions } from '../../lab/index.ts';
import { onceAborted } from '../journey/abort-listener.ts';
import type { Phase, PhaseContext, PhaseOutcome, PhaseSuccess } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { warningText } from '../journey/warning-text.ts';
import { helloLab, startHello } from './hello.ts';
import { labFailure } from './lab-failure.ts';
import { LAB } from './lab-handover.ts';
import type { Scenario } from './scenario-file.ts';

/** Clusters on this machine, until one is installed on bare metal: nodes come up, and a pod runs as a process. */
export const labPhase = (scenario?: Scenario): Phase => ({
  id: 'cluster',
  provisional: {
    title: 'lab',
    promise: 'Nodes come up on this machine, and a pod runs on one of them as a real process that answers.',
  },
  needs: ['hub'],
  run: (context) => run(context, scenario),
  probes: [],
});

async function run(context: PhaseContext, scenario: Scenario | undefined): Promise<PhaseOutcome> {
  const { data, signal } = context;
  const options = scenario?.options ?? helloLab();
  // A folder for each scenario: objects of one lab would be found by the next.
  const folder = join(data, scenario === undefined ? 'lab' : `lab-${scenario.name}`);
  context.progress(scenario === undefined ? 'starting a cluster with two nodes' : `starting ${scenario.name}`);
  // Its clock is that of the machine, unless a scenario says otherwise.
  const startedAt = context.clock.now();
  let lab: Lab;
  try {
    const starting = started(context, { ...options, data: folder });
    lab = await unlessStopped(starting, signal, () => context.keep('the lab', endOf(starting)));
  } catch (error) {
    return labFailure(error, { detail: 'the lab did not start' });
  }
  context.keep('the lab', lab);
  LAB.put(context, { lab, hasHello: scenario === undefined, startedAt });
  try {
    const names = (options.clusters ?? [{ name: 'lab' }]).map(({ name }) => name);
    const clusters = names.map((name) => lab.cluster(name));
    return scenario === undefined
      ? await unlessStopped(withHello(context, lab, startedAt), signal)
      : await described(context, { lab, clusters, hasCloud: Boolean(options.cloud) });
  } catch (error) {
    signal.throwIfAborted();
    const detail = scenario === undefined ? 'the pod does not run' : 'the clusters do not answer';
    return await notRunning(context, lab, { error, detail });
  }
}

async function started({ clock, ...context }: PhaseContext, options: LabOptions): Promise<Lab> {
  const write = (line: string) => context.warn(warningText(line));
  const log = createLog({ level: 'warn', write, now: () => clock.now() });
  // Loaded when its turn has come: the hub does not wait for it.
  const { startLab } = await import('../../lab/index.ts');
  return startLab(options, { log });
}

/** Rejects at once when the user wants to stop; `leave` sees to what is still under way. */
export async function unlessStopped<T>(promise: Promise<T>, signal: AbortSignal, leave = () => {}): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  using _ = onceAborted(signal, () => stopped.reject(signal.reason));
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    if (signal.aborted) leave();
  }
}

/** What has not started yet can only be ended when it has. */
const endOf = (starting: Promise<Lab>) => ({
  [Symbol.asyncDispose]: async () => {
    const lab = await starting.catch(() => undefined);
    await lab?.[Symbol.asyncDispose]();
  },
});

/** A line for each node, below that of its cluster where there are several. */
async function shownNodes(
  context: PhaseContext,
  { name, client }: LabCluster,
  { length }: readonly LabCluster[],
): Promise<readonly string[]> {
  const { items } = await client.list(Node);
  const nodes = items.map(({ metadata }) => metadata.name);
  for (const node of nodes)
    context.row({ path: length === 1 ? [node] : [name, node], health: 'done', word: 'ready' });
  return nodes;
}

/** A line for each node, told again when it changes. Resolves with how many there are, and how many are ready. */
function nodeCounts(context: PhaseContext, { client }: LabCluster, startedAt: Date) {
  const told = new Map<string, boolean>();
  return async (): Promise<{ readonly all: number; readonly ready: number }> => {
    const { items } = await client.list(Node);
    for (const node of items) {
      const { name } = node.metadata;
      const isReady = isReadySince(node, startedAt);
      const state = isReady ? ({ health: 'done', word: 'ready' } as const) : NOT_READY;
      if (told.get(name) !== isReady) context.row({ path: [name], ...state });
      told.set(name, isReady);
    }
    return { all: items.length, ready: items.filter((node) => isReadySince(node, startedAt)).length };
  };
}

const NOT_READY = { health: 'waiting', word: 'not ready' } as const;

/** An earlier run leaves nodes behind that were ready when it ended, which says nothing of now. */
function isReadySince({ status }: Node, moment: Date): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  // Times of objects are cut to seconds.
  const sinceMs = Math.floor(moment.getTime() / 1000) * 1000;
  return ready?.status === 'True' && Date.parse(ready.lastHeartbeatTime ?? '') >= sinceMs;
}

async function withHello(context: PhaseContext, lab: Lab, startedAt: Date): Promise<PhaseSuccess> {
  const counts = nodeCounts(context, lab.cluster(), startedAt);
  await counts();
  context.progress('starting a pod as a process');
  context.waitingFor('the pod of Deployment hello answers');
  const cluster = lab.cluster();
  const { pod, node, url, pid } = await startHello(lab, context.signal);
  context.row({ path: [node, pod], health: 'done', word: 'running', note: `process ${pid}` });
  const { all, ready } = await counts();
  const nodes = ready === all ? counted(all, 'node') : `${ready} of ${counted(all, 'node')}`;
  const kubectl = kubectlFor(context, cluster);
  return {
    health: 'done',
    detail: `${nodes} ready, a pod is process ${pid} on ${node}`,
    addresses: [
      { label: 'lab cluster', value: cluster.url, note: kubeconfigNote(context, cluster) },
      { label: 'pod hello', value: url },
    ],
    tries: [
      { kind: 'command', text: `curl ${url}` },
      { kind: 'command', text: `kill -9 ${pid}; ${kubectl} get pods -o wide` },
    ],
  };
}

interface Described {
  readonly lab: Lab;
  readonly clusters: readonly LabCluster[];
  readonly hasCloud: boolean;
}

async function described(context: PhaseContext, { lab, clusters, hasCloud }: Described): Promise<PhaseSuccess> {
  const shown = await Promise.all(clusters.map((cluster) => shownNodes(context, cluster, clusters)));
  const cloudFile = join(lab.directory, 'cloud.json');
  // Secrets are in no event: whoever may read the file may use the cloud.
  if (hasCloud) await writeFile(cloudFile, cloudText(lab), { mode: 0o600 });
  const counts = [
    counted(clusters.length, 'cluster'),
    counted(shown.flat().length, 'node'),
    ...(hasCloud ? ['a cloud'] : []),
  ];
  return {
    health: 'done',
    detail: counts.join(', '),
    addresses: [
      ...clusters.map((cluster) => ({
        label: `cluster ${cluster.name}`,
        value: cluster.url,
        note: kubeconfigNote(context, cluster),
      })),
      ...(hasCloud
        ? [
            {
              label: 'cloud',
              value: lab.cloud.url,
              note: `credentials in ${shownPath(context.folder, cloudFile)}`,
            },
          ]
        : []),
    ],
    tries: clusters.map((cluster) => ({ kind: 'command', text: `${kubectlFor(context, cluster)} get nodes` })),
  };
}

const cloudText = ({ cloud }: Lab): string =>
  `${JSON.stringify({ url: cloud.url, credentials: cloud.credentials() }, null, 2)}\n`;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const kubeconfigNote = ({ folder }: PhaseContext, { kubeconfigPath }: LabCluster): string =>
  `kubeconfig ${shownPath(folder, kubeconfigPath)}`;

const kubectlFor = ({ folder }: PhaseContext, { kubeconfigPath }: LabCluster): string =>
  `kubectl --kubeconfig ${shellWord(shownPath(folder, kubeconfigPath))}`;

/** A command of a failure that asks the lab, which ends with the journey. */
export const whileUp = (command: string): readonly string[] => ['while the lab runs, so without --once:', command];

/** The whole picture goes to a file: a journey has one line for it. */
async function notRunning(
  context: PhaseContext,
  lab: Lab,
  { error, detail }: { readonly error: unknown; readonly detail: string },
): Promise<PhaseOutcome> {
  const file = join(lab.directory, 'not-ready.txt');
  // On a full disk the cause is all there is.
  const isWritten = await writeFile(file, `${messageOf(error)}\n`).then(
    () => true,
    () => false,
  );
  const look = isWritten ? [shownPath(context.folder, file)] : [];
  const next = whileUp(`${kubectlFor(context, lab.cluster())} describe pods`);
  return labFailure(error, { detail, look, next });
}
