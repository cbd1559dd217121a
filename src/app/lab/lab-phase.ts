import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Node } from '../../api/generated/core-v1.ts';
import { createLog } from '../../base/log.ts';
import type { Lab, LabCluster, LabOptions } from '../../lab/index.ts';
import { onceAborted } from '../journey/abort-listener.ts';
import type { Phase, PhaseContext, PhaseOutcome, PhaseSuccess } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { warningText } from '../journey/warning-text.ts';
import { labFailure } from './lab-failure.ts';
import { LAB } from './lab-handover.ts';
import type { Scenario } from './scenario-file.ts';

/** Clusters on this machine as somebody has described them, instead of one that is installed on bare metal. */
export const labPhase = (scenario: Scenario): Phase => ({
  id: 'cluster',
  provisional: {
    title: 'lab',
    promise: 'The clusters of your scenario come up on this machine, and kubectl works with them.',
  },
  needs: ['hub'],
  run: (context) => run(context, scenario),
  probes: [],
});

async function run(context: PhaseContext, { name: scenario, options }: Scenario): Promise<PhaseOutcome> {
  const { data, signal } = context;
  // A folder for each scenario: objects of one lab would be found by the next.
  const folder = join(data, `lab-${scenario}`);
  context.progress(`starting ${scenario}`);
  // Its clock is that of the machine, unless the scenario says otherwise.
  const startedAt = context.clock.now();
  let lab: Lab;
  try {
    const starting = startedLab(context, { ...options, data: folder });
    lab = await unlessStopped(starting, signal, () => context.keep('the lab', endOf(starting)));
  } catch (error) {
    return labFailure(error, { detail: 'the lab did not start' });
  }
  context.keep('the lab', lab);
  LAB.put(context, { lab, isScenario: true, startedAt });
  try {
    const names = (options.clusters ?? [{ name: 'lab' }]).map(({ name }) => name);
    const clusters = names.map((name) => lab.cluster(name));
    return await described(context, { lab, clusters, hasCloud: Boolean(options.cloud) });
  } catch (error) {
    signal.throwIfAborted();
    return labFailure(error, { detail: 'the clusters do not answer' });
  }
}

/** Warnings of it are those of the phase. */
export async function startedLab({ clock, ...context }: PhaseContext, options: LabOptions): Promise<Lab> {
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
