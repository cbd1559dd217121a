import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { StatusError } from '../../../apiserver/status.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Metrics } from '../../../kube/metrics/metrics.ts';
import type { ContainerLogs } from '../logs/container-logs.ts';
import { logOptions } from '../logs/log-options.ts';
import { hasContainer, logChoice } from './log-choice.ts';
import { type ContainerUsage, type NodeIdentity, podMetrics, statsSummary } from './node-numbers.ts';
import {
  jsonResponse,
  type NodeRequest,
  type NodeResponse,
  type NodeServe,
  textResponse,
} from './node-request.ts';

export interface NodeRoutesOptions {
  readonly node: NodeIdentity;
  /** The pods of the node, with the newest status that the node itself knows. */
  readonly pods: () => readonly Pod[];
  readonly logs: Pick<ContainerLogs, 'runs' | 'read'>;
  /** Lab time. */
  readonly clock: Clock;
  /** What containers use, as far as they are processes. */
  readonly usages?: () => Promise<readonly ContainerUsage[]>;
  /** More for `/metrics`, such as what probes count. */
  readonly metrics?: Pick<Metrics, 'text'>;
}

const NOT_FOUND = textResponse(404, '404 page not found');
/** Into a container: that takes a connection of another kind. */
const CONNECTING = new Set(['exec', 'attach', 'portForward', 'run', 'cri']);

/** What a node answers, whoever asks and by whatever way (N40–N42). */
export function nodeRoutes(options: NodeRoutesOptions): NodeServe {
  return async (request) => {
    const names = namesIn(request.path);
    const [first = ''] = names ?? [];
    if (names === undefined) return textResponse(400, 'the path cannot be decoded');
    if (CONNECTING.has(first)) return notImplemented(first);
    if (request.method !== 'GET') return textResponse(405, 'only GET is allowed');
    if (first === 'containerLogs' && names.length === 4) return await containerLog(options, request, names);
    const route = ROUTES.get(names.join('/'));
    return route === undefined ? NOT_FOUND : await route(options);
  };
}

type Route = (options: NodeRoutesOptions) => Promise<NodeResponse> | NodeResponse;

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['healthz', () => textResponse(200, 'ok')],
  ['pods', ({ pods }) => jsonResponse({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: pods() })],
  [
    'metrics',
    async ({ pods, metrics }) => {
      const body = `${podMetrics(pods())}${(await metrics?.text()) ?? ''}`;
      return { status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body };
    },
  ],
  [
    'stats/summary',
    async ({ node, usages, clock }) => jsonResponse(statsSummary(node, (await usages?.()) ?? [], clock.now())),
  ],
]);

/** Undefined when it holds what no name can be. */
function namesIn(path: string): readonly string[] | undefined {
  try {
    return path
      .split('/')
      .filter((name) => name !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

const notImplemented = (what: string): NodeResponse =>
  textResponse(501, `${what} is not available: nodes of the lab do not open connections into containers yet`);

async function containerLog(
  { pods, logs, clock }: NodeRoutesOptions,
  { query, signal }: NodeRequest,
  [, namespace, name, container = '']: readonly string[],
): Promise<NodeResponse> {
  const isMeant = ({ metadata }: Pod) => metadata.name === name && metadata.namespace === namespace;
  const pod = pods().find(isMeant);
  if (pod === undefined) return textResponse(404, `pod "${name}" does not exist`);
  if (!hasContainer(pod, container))
    return textResponse(404, `container "${container}" not found in pod "${name}"`);
  try {
    const options = logOptions(query, clock.now());
    const wanted = { pod, container, isPrevious: options.previous === true };
    const choice = logChoice(wanted, await logs.runs(wanted));
    if (choice.kind === 'problem') return textResponse(400, choice.text);
    return { status: 200, body: choice.kind === 'run' ? logs.read(wanted, choice.run, options, signal) : '' };
  } catch (error) {
    if (error instanceof StatusError) return textResponse(error.code, error.message);
    throw error;
  }
}
