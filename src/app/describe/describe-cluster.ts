import { homedir } from 'node:os';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { redactedText } from '../../base/redaction.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { ClusterAccess } from '../../kube/config/cluster-access.ts';
import { loadKubeconfig } from '../../kube/config/kubeconfig.ts';
import { connect } from '../../kube/transport/connection.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { printYaml } from '../../object/yaml.ts';
import { CommandError, usageError } from '../failures.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import { withoutAges } from './age.ts';
import { ClusterBoard } from './board.ts';
import { ChangeWatch } from './change-watch.ts';
import { conditionFilter } from './condition-filter.ts';
import { reportDocument } from './document.ts';
import { type ClusterQuery, findCluster } from './find-cluster.ts';
import { gatherFacts } from './gather-facts.ts';
import { Hub, type WatchPlace } from './hub.ts';
import { mermaidText } from './mermaid.ts';
import { type ClusterPicture, clusterPicture, type PictureOptions } from './picture.ts';
import { type ClusterReport, clusterReport } from './report.ts';
import { readNodes } from './workload-nodes.ts';

export interface DescribeSettings {
  readonly output: 'text' | 'json' | 'yaml' | 'mermaid';
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  readonly n: string | undefined;
  readonly nodes: boolean;
  readonly expand: boolean;
  readonly all: boolean;
  readonly 'show-conditions': readonly string[];
  readonly watch: boolean;
}

/** Describes one cluster, once or for as long as it is watched. Exit code 1 when something is wrong with it. */
export async function describeCluster(
  context: VerbContext,
  settings: DescribeSettings,
  name: string,
): Promise<ExitCode> {
  const conditions = conditionFilter(settings['show-conditions']);
  if (settings.watch && settings.output === 'mermaid')
    throw usageError('--watch goes with text, json and yaml; a flowchart is of one moment');
  const options = { isExpanded: settings.expand, hasAll: settings.all, conditions };
  const access = await hubAccess(context, settings);
  await using connection = connect(access, { clock: context.clock, log: SILENT_LOG });
  const query = {
    name,
    namespace: settings.namespace ?? settings.n,
    homeNamespace: access.namespace ?? 'default',
  };
  // Awaited here: the connection ends with this function.
  return await described(context, { settings, query, transport: connection.transport, options });
}

async function hubAccess(
  { env, clock, output }: VerbContext,
  { kubeconfig, context }: DescribeSettings,
): Promise<ClusterAccess> {
  try {
    return await loadKubeconfig({
      env,
      homeDir: env['HOME'] ?? homedir(),
      clock,
      stderr: (text) => output.hint(text.trimEnd()),
      ...(kubeconfig !== undefined && { kubeconfigFlag: kubeconfig }),
      ...(context !== undefined && { contextFlag: context }),
    });
  } catch (error) {
    throw unreadable(error);
  }
}

export interface DescribeRun {
  readonly settings: DescribeSettings;
  readonly query: ClusterQuery;
  readonly transport: Transport;
  readonly options: PictureOptions;
}

/** The same over any transport. */
export async function described(context: VerbContext, run: DescribeRun): Promise<ExitCode> {
  const { clock, signal } = context;
  const { settings, transport, options } = run;
  const client = createClient({ transport, fieldManager: 'slipway/describe', clock, log: SILENT_LOG });
  const board = new ClusterBoard({ isWatched: settings.watch });
  using _shown = settings.output === 'text' ? context.output.show(board) : undefined;
  const show = (report: ClusterReport) => publish(context, settings, board, clusterPicture(report, options));
  const first = await read(context, client, run);
  show(first.report);
  if (!settings.watch) return codeOf(first.report);
  using watch = new ChangeWatch({ client, clock, signal });
  return watched(context, { watch, first, show, read: () => read(context, client, run) });
}

interface Read {
  readonly report: ClusterReport;
  readonly places: readonly WatchPlace[];
}

async function read(context: VerbContext, client: KubeClient, run: DescribeRun): Promise<Read> {
  const { clock, signal, env } = context;
  const { settings, query } = run;
  const hub = new Hub(client, signal);
  try {
    const found = await findCluster(hub, query);
    const facts = await gatherFacts(found, {
      hub,
      isComplete: settings.all || settings.output !== 'text' || settings['show-conditions'].length > 0,
      readNodes: (cluster) =>
        settings.nodes ? readNodes(cluster, { hub, env, clock, signal }) : Promise.resolve({ type: 'none' }),
      now: () => clock.now(),
    });
    const places = [...facts.listings.values()].flatMap(({ place }) => place ?? []);
    return { report: clusterReport(facts), places };
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(error);
  }
}

/** What the server or the kubeconfig refuses is no bug of ours. */
function unreadable(error: unknown): unknown {
  return error instanceof SlipwayError
    ? new CommandError('SW1401', 3, redactedText(messageOf(error)), error)
    : error;
}

interface Watched {
  readonly watch: ChangeWatch;
  readonly first: Read;
  readonly show: (report: ClusterReport) => void;
  readonly read: () => Promise<Read>;
}

/** Until somebody says stop; then the last picture decides. A cluster that goes away is the end of it, too. */
async function watched(context: VerbContext, { watch, first, show, read: again }: Watched): Promise<ExitCode> {
  const { signal, output } = context;
  let last = first;
  try {
    for (;;) {
      watch.follow(last.places);
      await watch.changed();
      const next = await again().catch((error: unknown) => absence(error));
      if (next === 'gone') {
        output.hint(`cluster ${last.report.name} is gone`);
        return 0;
      }
      if (next === 'unreachable') continue;
      const isSame = contentOf(next.report) === contentOf(last.report);
      last = next;
      if (!isSame) show(next.report);
    }
  } catch (error) {
    if (signal.aborted) return codeOf(last.report);
    throw error;
  }
}

/** While it is watched, a server that does not answer for a while is waited for. */
function absence(error: unknown): 'gone' | 'unreachable' {
  if (!(error instanceof CommandError)) throw error;
  return error.code === 'SW1402' ? 'gone' : 'unreachable';
}

const contentOf = ({ at: _at, ...report }: ClusterReport): string => withoutAges(JSON.stringify(report));

const codeOf = ({ problems }: ClusterReport): ExitCode => (problems > 0 ? 1 : 0);

function publish(
  { output }: VerbContext,
  { output: form, watch }: DescribeSettings,
  board: ClusterBoard,
  picture: ClusterPicture,
): void {
  const { report } = picture;
  switch (form) {
    case 'text':
      return board.publish(picture);
    case 'json':
      return output.result('', reportDocument(report), watch ? 'line' : 'document');
    case 'yaml':
      return output.result(`${watch ? '---\n' : ''}${printYaml(reportDocument(report)).trimEnd()}`, undefined);
    case 'mermaid':
      return output.result(mermaidText(picture), undefined);
  }
}
