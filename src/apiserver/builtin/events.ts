import { type FieldError, invalid, required } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import { qualifiedNameProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkRule, IMMUTABLE } from './checks.ts';
import { eventFromV1 } from './event-versions.ts';
import { has, metadataOf, numberAt, objectAt, textAt } from './fields.ts';
import { type KindRules, kindStrategy } from './kind-strategy.ts';

const LONGEST = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

const fieldOf = (event: JsonObject, key: string): string => textAt(objectAt(event, 'involvedObject'), key);

const OBJECT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Field selectors read the core form of an event. */
const SELECTABLE: Readonly<Record<string, (event: JsonObject) => string>> = {
  ...Object.fromEntries(
    OBJECT_FIELDS.map((key) => [`involvedObject.${key}`, (event: JsonObject) => fieldOf(event, key)]),
  ),
  reason: (event) => textAt(event, 'reason'),
  reportingComponent: (event) => textAt(event, 'reportingComponent'),
  source: (event) => textAt(objectAt(event, 'source'), 'component') || textAt(event, 'reportingComponent'),
  type: (event) => textAt(event, 'type'),
};

const eventKind = (rules: KindRules): Strategy =>
  kindStrategy({ createsOnUpdate: true, isCollected: false, ...rules });

export const coreEventStrategy = (): Strategy =>
  eventKind({
    type: 'core.v1.Event',
    selectableFields: SELECTABLE,
    validate: (event) => checkEvent(event, 'reportingComponent'),
  });

/** events.k8s.io/v1: the same store with stricter rules; messages name the fields as core/v1 does, as upstream's do. */
export const newEventStrategy = (): Strategy =>
  eventKind({
    type: 'events.v1.Event',
    selectableFields: Object.fromEntries(
      Object.entries(SELECTABLE).map(([key, read]) => [
        key.replace('involvedObject.', 'regarding.').replace('reportingComponent', 'reportingController'),
        (event: JsonObject) => read(eventFromV1(event)),
      ]),
    ),
    validate: (event, { subresource }) => {
      const core = eventFromV1(event);
      return [...checkEvent(core, 'reportingController'), ...(subresource === '' ? checkStrict(core) : [])];
    },
    validateChange: (event, old) => checkUnchanged(eventFromV1(event), eventFromV1(old)),
  });

function checkEvent(event: JsonObject, controllerField: string): readonly FieldError[] {
  const namespace = textAt(metadataOf(event), 'namespace');
  const about = fieldOf(event, 'namespace');
  const mismatch = invalid('involvedObject.namespace', about, 'does not match event.namespace');
  if (!has(event, 'eventTime')) {
    const isMatch = about === '' ? namespace === 'default' || namespace === '' : about === namespace;
    return isMatch ? [] : [mismatch];
  }
  const isLost = about === '' && namespace !== 'default' && namespace !== 'kube-system';
  const controller = textAt(event, 'reportingComponent');
  return [
    ...(isLost ? [mismatch] : []),
    ...(controller === '' ? [required(controllerField)] : []),
    ...checkRule(controllerField, controller, qualifiedNameProblems),
    ...['reportingInstance', 'action', 'reason'].flatMap((key) =>
      textAt(event, key) === '' ? [required(key)] : [],
    ),
    ...Object.entries(LONGEST).flatMap(([key, length]) =>
      Buffer.byteLength(textAt(event, key)) > length
        ? [invalid(key, '', `can have at most ${length} characters`)]
        : [],
    ),
  ];
}

function checkStrict(event: JsonObject): readonly FieldError[] {
  const type = textAt(event, 'type');
  const source = objectAt(event, 'source');
  const isSourced = textAt(source, 'component') !== '' || textAt(source, 'host') !== '';
  const old = ['firstTimestamp', 'lastTimestamp'].filter((key) => has(event, key));
  const isCounted = (numberAt(event, 'count') ?? 0) !== 0;
  const unset = [...old, ...(isCounted ? ['count'] : []), ...(isSourced ? ['source'] : [])];
  return [
    ...checkSeries(event),
    ...(has(event, 'eventTime') ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset.map((key) => invalid(key, '', 'needs to be unset')),
  ];
}

function checkSeries(event: JsonObject): readonly FieldError[] {
  if (!has(event, 'series')) return [];
  const series = objectAt(event, 'series');
  return [
    ...((numberAt(series, 'count') ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(has(series, 'lastObservedTime') ? [] : [required('series.lastObservedTime')]),
  ];
}

/** Only the series of such an event may grow. */
const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
];

function checkUnchanged(event: JsonObject, old: JsonObject): readonly FieldError[] {
  const changed = FIXED.filter((key) => !jsonEqual(event[key], old[key]));
  return changed.map((key) =>
    invalid(key === 'reportingComponent' ? 'reportingController' : key, event[key] ?? '', IMMUTABLE),
  );
}
