import type { Pod } from '../../api/generated/core-v1-types.ts';
import type { Event } from '../../api/generated/events-v1-types.ts';
import { type KubeObject, keyOf, keyText } from '../../api/object.ts';

/** What was seen when somebody had waited in vain. */
export interface Picture {
  /** What he waited for, as he said it. */
  readonly waitedFor: string;
  readonly withinText: string;
  readonly now: Date;
  /** The objects that it was about, and what belongs to them. */
  readonly objects: readonly KubeObject[];
  readonly pods: readonly Pod[];
  readonly events: readonly Event[];
  /** By `<namespace>/<pod> <container>`; of containers that are not ready. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
  /** What keeps lab time from passing. */
  readonly holds: readonly string[];
  /** What happens next, when nothing else does. */
  readonly nextTimers: readonly string[];
}

const LAST_EVENTS = 10;
const LAST_LINES = 20;

/** Pure: why it has not happened, for the person who waited (B2). */
export function explanation(picture: Picture): string {
  const { waitedFor, withinText, objects, pods, now, holds, nextTimers } = picture;
  const sections = [
    `not within ${withinText} of lab time: ${waitedFor}`,
    ...objects.map(objectText),
    ...pods.map((pod) => podText(pod)),
    eventsText(picture.events, now),
    ...[...picture.logs].map(([name, lines]) => section(`last lines of ${name}:`, lines.slice(-LAST_LINES))),
    section('held by:', holds),
    section('next:', nextTimers),
  ];
  return sections.filter((text) => text !== '').join('\n');
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : [title, ...lines.map((line) => `  ${line}`)].join('\n');

const nameOf = (object: KubeObject): string => `${object.kind} ${keyText(keyOf(object))}`;

interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

function objectText(object: KubeObject): string {
  const conditions = conditionsOf(object).map(conditionText);
  return section(`${nameOf(object)}:`, conditions.length === 0 ? ['no conditions yet'] : conditions);
}

function conditionsOf(object: KubeObject): readonly ConditionLike[] {
  const { status } = object as { readonly status?: { readonly conditions?: readonly ConditionLike[] } };
  return status?.conditions ?? [];
}

function conditionText({ type, status, reason = '', message = '' }: ConditionLike): string {
  const why = [reason, message].filter((text) => text !== '').join(': ');
  return `${type}=${status}${why === '' ? '' : ` ${why}`}`;
}

function podText(pod: Pod): string {
  const {
    phase = 'Pending',
    conditions = [],
    containerStatuses = [],
    initContainerStatuses = [],
  } = pod.status ?? {};
  const containers = [...initContainerStatuses, ...containerStatuses].map(
    ({ name, ready, restartCount, state = {} }) => {
      const { waiting, terminated } = state;
      const why = waiting ?? terminated;
      const what =
        why === undefined
          ? 'running'
          : [why.reason ?? '', why.message ?? ''].filter((text) => text !== '').join(': ');
      return `container ${name}: ${what}, ${ready ? 'ready' : 'not ready'}, ${restartCount} restarts`;
    },
  );
  const unmet = conditions.filter(({ status }) => status !== 'True').map(conditionText);
  const where = pod.spec.nodeName === undefined ? 'on no node' : `on ${pod.spec.nodeName}`;
  return [`${nameOf(pod)}: ${phase}, ${where}`, ...[...unmet, ...containers].map((line) => `  ${line}`)].join(
    '\n',
  );
}

function eventsText(events: readonly Event[], now: Date): string {
  const last = events.toSorted((a, b) => timeOf(a) - timeOf(b)).slice(-LAST_EVENTS);
  const lines = last.map((event) => {
    const { type = 'Normal', reason = '', note = '', regarding } = event;
    const age = Math.max(0, Math.round((now.getTime() - timeOf(event)) / 1000));
    return `${age}s ago ${type} ${reason} ${regarding?.kind ?? ''} ${regarding?.name ?? ''}: ${note}`;
  });
  return section('events:', lines);
}

const timeOf = ({ eventTime, series, metadata }: Event): number =>
  Date.parse(series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp ?? '');
