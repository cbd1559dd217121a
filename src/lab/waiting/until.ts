import { Pod } from '../../api/generated/core-v1.ts';
import { Event } from '../../api/generated/events-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { goDuration, parseDuration } from '../../base/duration.ts';
import { TimeUp } from '../clock/auto-lab-clock.ts';
import type { LabClock } from '../clock/lab-clock.ts';
import type { Awaited, LabCluster } from '../cluster/lab-cluster.ts';
import type { WriteLog } from '../cluster/write-log.ts';
import { explanation } from './explanation.ts';

/** What somebody waits for; asked again after every write to an API server and every second of lab time. */
export type Check = () => Promise<Awaited | boolean> | Awaited | boolean;

export interface UntilOptions {
  /** Lab time, such as `5m`. */
  readonly within: string;
}

export interface WaitingParts {
  readonly clock: LabClock;
  readonly clusters: () => readonly LabCluster[];
  readonly writes: WriteLog;
  readonly holds: () => readonly string[];
}

const RECHECK_MS = 1000;

/** Waits, letting automatic time pass. Rejects with a picture of why it has not happened (B2). */
export async function until(parts: WaitingParts, check: Check, { within }: UntilOptions): Promise<void> {
  const { clock, writes } = parts;
  let last: Awaited = { isDone: false, about: [], waitedFor: 'what was asked for' };
  const asked = async (): Promise<boolean> => {
    const answer = await check();
    if (typeof answer === 'boolean') return answer;
    last = answer;
    return answer.isDone;
  };
  const stop = new AbortController();
  const happened = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const changed = Promise.withResolvers<void>();
      using _writes = writes.subscribe(() => changed.resolve());
      using _timer = clock.timer(RECHECK_MS, changed.resolve);
      if (await asked()) return;
      await changed.promise;
    }
  };
  try {
    await clock.through(happened(), parseDuration(within));
  } catch (error) {
    if (!(error instanceof TimeUp)) throw error;
    throw new Error(await pictureText(parts, last, within), { cause: error });
  } finally {
    stop.abort();
  }
}

async function pictureText(parts: WaitingParts, { about, waitedFor }: Awaited, within: string): Promise<string> {
  const seen = await Promise.all(parts.clusters().map((cluster) => surroundings(cluster, about)));
  return explanation({
    waitedFor,
    withinText: goDuration(parseDuration(within)),
    now: parts.clock.now(),
    objects: about,
    pods: seen.flatMap(({ pods }) => pods),
    events: seen.flatMap(({ events }) => events),
    logs: new Map(seen.flatMap(({ logs }) => logs)),
    holds: parts.holds(),
    nextTimers: [],
  });
}

/** Pods that belong to the objects or are in trouble, what was said of them, and their last words. */
async function surroundings(cluster: LabCluster, about: readonly KubeObject[]) {
  const namespaces = new Set(about.map(({ metadata }) => metadata.namespace));
  const { items: all } = await cluster.client.list(Pod);
  const pods = all.filter((pod) => namespaces.has(pod.metadata.namespace) && !isReady(pod));
  const names = new Set([...about, ...pods].map(({ metadata }) => metadata.name));
  const { items: events } = await cluster.client.list(Event);
  const logs = await Promise.all(pods.flatMap((pod) => lastLines(cluster, pod)));
  return { pods, logs, events: events.filter(({ regarding }) => names.has(regarding?.name ?? '')) };
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

const lastLines = (cluster: LabCluster, { metadata, status }: Pod) =>
  (status?.containerStatuses ?? [])
    .filter(({ ready }) => !ready)
    .map(async ({ name }): Promise<readonly [string, readonly string[]]> => {
      const text = await cluster.logs(metadata, { container: name }).catch(() => '');
      const lines = text.split('\n').filter((line) => line !== '');
      return [`${metadata.namespace}/${metadata.name} ${name}`, lines];
    });
