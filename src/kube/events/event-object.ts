import type { Event as CoreEvent, ObjectReference } from '../../api/generated/core-v1.ts';
import type { Event, EventSeries } from '../../api/generated/events-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import type { CreateOf, KubeObject } from '../../api/object.ts';
import { microTime, time } from '../../api/time.ts';
import { dnsSubdomainProblems } from '../../object/names.ts';

/** Who reports. */
export interface Reporter {
  /** A qualified name: `slipway.dev/machines`. */
  readonly controller: string;
  /** `<controller>-<host>`. */
  readonly instance: string;
}

/** Something that happened, as the recorder was told. */
export interface Occurrence {
  readonly reporter: Reporter;
  readonly regarding: KubeObject;
  readonly related: KubeObject | undefined;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** An Event of events.k8s.io/v1 with what is always written here. */
export type EventObject = Event &
  Required<Pick<Event, 'type' | 'reason' | 'action' | 'note' | 'reportingController' | 'regarding'>>;

/** How often it happened, and when last. */
export interface SeriesState {
  readonly count: number;
  readonly lastObserved: Date;
}

const LONGEST_NOTE = 1024;
const LONGEST_TEXT = 128;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The longest beginning of a text that has at most `bytes` bytes in UTF-8; no character is cut in two. */
export function cutText(text: string, bytes: number): string {
  const whole = text.toWellFormed();
  // Three bytes per UTF-16 unit at most: short texts need no encoding.
  if (whole.length * 3 <= bytes) return whole;
  const encoded = encoder.encode(whole);
  if (encoded.length <= bytes) return whole;
  let end = bytes;
  // 10xxxxxx continues a character.
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(encoded.subarray(0, end));
}

/** What makes two occurrences one series (V2). The version of the object is no part of it: it changes all the time. */
export const seriesKey = ({ reporter, regarding, related, type, reason, action }: Occurrence): string =>
  JSON.stringify([
    type,
    action,
    reason,
    reporter.controller,
    reporter.instance,
    identity(regarding),
    related === undefined ? null : identity(related),
  ]);

/** An object, whatever its state. */
export const identity = ({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): string =>
  JSON.stringify([apiVersion, kind, namespace ?? '', name, uid ?? '']);

/** `<object>.<hex nanoseconds>`; some names of objects are no names for an event, those get an identifier instead. */
export function eventName(objectName: string, nanoseconds: bigint, uuid: () => string): string {
  const name = `${objectName}.${nanoseconds.toString(16)}`;
  return dnsSubdomainProblems(name).length === 0 ? name : `${uuid()}.${nanoseconds.toString(16)}`;
}

/** The object to create, in events.k8s.io/v1 (V1). */
export function eventObject(occurrence: Occurrence, name: string, at: Date): EventObject {
  const { reporter, regarding, related, type, reason, action, note } = occurrence;
  const namespace = regarding.metadata.namespace ?? '';
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: namespace === '' ? 'default' : namespace },
    type,
    reason: cutText(reason, LONGEST_TEXT),
    action: cutText(action, LONGEST_TEXT),
    note: cutText(note, LONGEST_NOTE),
    reportingController: reporter.controller,
    reportingInstance: cutText(reporter.instance, LONGEST_TEXT),
    eventTime: microTime(at),
    regarding: reference(regarding),
    ...(related !== undefined && { related: reference(related) }),
  };
}

function reference({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace = '', name, uid = '', resourceVersion = '' } = metadata;
  return {
    apiVersion,
    kind,
    ...(namespace !== '' && { namespace }),
    name,
    ...(uid !== '' && { uid }),
    ...(resourceVersion !== '' && { resourceVersion }),
  };
}

export const seriesFields = ({ count, lastObserved }: SeriesState): EventSeries => ({
  count,
  lastObservedTime: microTime(lastObserved),
});

/** The same event as the core group spells it; the fields of old are set too, because old readers know no others. */
export function coreEvent(event: EventObject, at: Date, series?: SeriesState): CreateOf<CoreEvent> {
  const { regarding, note, reportingController, ...rest } = event;
  return {
    ...rest,
    apiVersion: 'v1',
    involvedObject: regarding,
    message: note,
    reportingComponent: reportingController,
    source: { component: reportingController },
    firstTimestamp: time(at),
    lastTimestamp: time(series?.lastObserved ?? at),
    count: series?.count ?? 1,
  };
}

/** The merge patch that brings a written event to the state of its series. */
export const seriesPatch = (series: SeriesState, isCore: boolean): JsonObject => ({
  series: { ...seriesFields(series) },
  ...(isCore && { count: series.count, lastTimestamp: time(series.lastObserved) }),
});
