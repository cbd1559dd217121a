import { Event } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Lab } from '../../lab/index.ts';
import { PROVIDER_ERRORS, type ProviderErrorKind } from '../../sdk/provider/provider-error.ts';

/** Whoever of the cloud controller manager speaks of objects. */
const SOURCES = new Set(['cloud-node-controller', 'cloud-node-lifecycle-controller', 'service-controller']);
/** Failures that the next try meets again, whatever happens in the cloud meanwhile. */
const LASTING_KINDS: readonly ProviderErrorKind[] = [
  'invalid',
  'out-of-range',
  'unsupported',
  'denied',
  'unauthenticated',
  'unknown',
];
const LASTING_REASONS: ReadonlySet<string> = new Set(LASTING_KINDS.map((kind) => PROVIDER_ERRORS[kind].reason));
/** About ten tries: the pause between two of them grows from a few milliseconds to seconds. */
const LASTING_MS = 10_000;

/** What the cloud controller manager warned of on these objects, the newest first. */
export async function warningsOn(lab: Lab, objects: readonly KubeObject[]): Promise<readonly Event[]> {
  const { items } = await lab.cluster().client.list(Event);
  const isAbout = ({ involvedObject: { kind, name, uid } }: Event) =>
    objects.some(
      // One of the same name that is gone has left its events behind: an earlier run, say.
      (object) =>
        object.kind === kind &&
        object.metadata.name === name &&
        (uid ?? object.metadata.uid) === object.metadata.uid,
    );
  return items
    .filter((event) => event.type === 'Warning' && SOURCES.has(event.source?.component ?? '') && isAbout(event))
    .toSorted((one, other) => lastMs(other) - lastMs(one));
}

/** `Node w-1: CloudDenied: what the cloud said`. */
export function warningSentence({ involvedObject, reason = '', message = '' }: Event): string {
  return `${involvedObject.kind ?? ''} ${involvedObject.name ?? ''}: ${reason}: ${message}`;
}

/** Whether the newest of these tells of something that was met over and over, and that no further try heals. Pure. */
export function isLasting(warnings: readonly Event[], now: Date): boolean {
  const [newest] = warnings;
  if (newest === undefined || !LASTING_REASONS.has(newest.reason ?? '')) return false;
  const same = warnings.filter(
    ({ reason, involvedObject: { name } }) => reason === newest.reason && name === newest.involvedObject.name,
  );
  return now.getTime() - Math.min(...same.map(firstMs)) >= LASTING_MS;
}

/** Not a number where nobody has said when. */
const firstMs = ({ eventTime, firstTimestamp }: Event): number => Date.parse(eventTime ?? firstTimestamp ?? '');

/** Of several times, since some are cut to seconds. */
function lastMs({ series, lastTimestamp, eventTime, firstTimestamp }: Event): number {
  const texts = [series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp];
  return Math.max(...texts.map((text) => Date.parse(text ?? '') || 0));
}
