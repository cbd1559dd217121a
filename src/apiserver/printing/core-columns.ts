import type { JsonObject } from '../../object/json.ts';
import {
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  specOf,
  statusOf,
  textAt,
} from '../builtin/fields.ts';
import { AGE, ageOf, type Cell, count, NAME, since, tableOf, text, wide } from './cells.ts';

/** Kinds upstream has no columns for. */
export const plainColumns = tableOf([NAME, { name: 'Created At', type: 'date' }], (object) => [
  nameOf(object),
  textAt(metadataOf(object), 'creationTimestamp'),
]);

export const ageColumns = tableOf([NAME, AGE], (object, now) => [nameOf(object), ageOf(object, now)]);

export const namespaceColumns = tableOf([NAME, text('Status'), AGE], (object, now) => [
  nameOf(object),
  textAt(statusOf(object), 'phase'),
  ageOf(object, now),
]);

const size = (object: JsonObject, key: string): number => Object.keys(objectAt(object, key)).length;

export const configMapColumns = tableOf([NAME, text('Data'), AGE], (object, now) => [
  nameOf(object),
  size(object, 'data') + size(object, 'binaryData'),
  ageOf(object, now),
]);

export const secretColumns = tableOf([NAME, text('Type'), text('Data'), AGE], (object, now) => [
  nameOf(object),
  textAt(object, 'type'),
  size(object, 'data'),
  ageOf(object, now),
]);

export const nodeColumns = tableOf(
  [
    NAME,
    text('Status'),
    text('Roles'),
    AGE,
    text('Version'),
    wide('Internal-IP'),
    wide('External-IP'),
    wide('OS-Image'),
    wide('Kernel-Version'),
    wide('Container-Runtime'),
  ],
  (node, now) => {
    const info = objectAt(statusOf(node), 'nodeInfo');
    const architecture = textAt(info, 'architecture');
    const kernel = textAt(info, 'kernelVersion') || '<unknown>';
    return [
      nameOf(node),
      nodeStatus(node),
      rolesOf(node).join(',') || '<none>',
      ageOf(node, now),
      textAt(info, 'kubeletVersion'),
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      textAt(info, 'osImage') || '<unknown>',
      architecture === '' ? kernel : `${kernel} (${architecture})`,
      textAt(info, 'containerRuntimeVersion') || '<unknown>',
    ];
  },
);

function nodeStatus(node: JsonObject): string {
  const ready = objectsAt(statusOf(node), 'conditions').findLast((item) => textAt(item, 'type') === 'Ready');
  const state = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return specOf(node)['unschedulable'] === true ? `${state},SchedulingDisabled` : state;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function rolesOf(node: JsonObject): readonly string[] {
  const labels = objectAt(metadataOf(node), 'labels');
  const roles = Object.keys(labels).map((key) => {
    if (key.startsWith(ROLE_PREFIX)) return key.slice(ROLE_PREFIX.length);
    return key === 'kubernetes.io/role' ? textAt(labels, key) : '';
  });
  return [...new Set(roles.filter((role) => role !== ''))].sort();
}

function addressOf(node: JsonObject, type: string): string {
  const found = objectsAt(statusOf(node), 'addresses').find((address) => textAt(address, 'type') === type);
  return found === undefined ? '<none>' : textAt(found, 'address');
}

export const eventColumns = tableOf(
  [
    text('Last Seen'),
    text('Type'),
    text('Reason'),
    text('Object'),
    wide('Subobject'),
    wide('Source'),
    text('Message'),
    wide('First Seen'),
    wide('Count'),
    { name: 'Name', format: 'name', isWide: true },
  ],
  eventCells,
);

/** Works on the core form and on that of events.k8s.io: every field has one name in each. */
function eventCells(event: JsonObject, now: Date): readonly Cell[] {
  const either = (a: string, b: string): string => textAt(event, a) || textAt(event, b);
  const about = has(event, 'involvedObject') ? objectAt(event, 'involvedObject') : objectAt(event, 'regarding');
  const kind = textAt(about, 'kind').toLowerCase();
  const name = textAt(about, 'name');
  const seen = timesOf(event, now);
  return [
    seen.last,
    textAt(event, 'type'),
    textAt(event, 'reason'),
    name === '' ? kind : `${kind}/${name}`,
    textAt(about, 'fieldPath'),
    sourceText(event),
    either('message', 'note').trim(),
    seen.first,
    seen.count,
    nameOf(event),
  ];
}

interface Seen {
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

function timesOf(event: JsonObject, now: Date): Seen {
  const at = (a: string, b: string): string => textAt(event, a) || textAt(event, b);
  const firstAt = at('firstTimestamp', 'deprecatedFirstTimestamp') || textAt(event, 'eventTime');
  const lastAt = at('lastTimestamp', 'deprecatedLastTimestamp') || firstAt;
  const first = since(firstAt, now);
  if (has(event, 'series')) {
    const series = objectAt(event, 'series');
    return { first, last: since(series['lastObservedTime'], now), count: count(series, 'count') };
  }
  const times = numberAt(event, 'count') ?? numberAt(event, 'deprecatedCount') ?? 0;
  return { first, last: since(lastAt, now), count: times === 0 ? 1 : times };
}

function sourceText(event: JsonObject): string {
  const source = has(event, 'source') ? objectAt(event, 'source') : objectAt(event, 'deprecatedSource');
  const component =
    textAt(source, 'component') || textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

export const resourceQuotaColumns = tableOf([NAME, text('Request'), text('Limit'), AGE], (object, now) => {
  const status = statusOf(object);
  const hard = objectAt(status, 'hard');
  const texts = (isLimit: boolean): string =>
    Object.keys(hard)
      .sort()
      .filter((name) => name.startsWith('limits.') === isLimit)
      .map((name) => `${name}: ${textAt(objectAt(status, 'used'), name) || '0'}/${textAt(hard, name)}`)
      .join(', ');
  return [nameOf(object), texts(false), texts(true), ageOf(object, now)];
});

/** Nobody fills this list any more; its columns are still asked for. */
export const componentStatusColumns = tableOf([NAME, text('Status'), text('Message'), text('Error')], (object) => {
  const [condition = {}] = objectsAt(object, 'conditions');
  const isHealthy = textAt(condition, 'status') === 'True';
  return [
    nameOf(object),
    isHealthy ? 'Healthy' : 'Unhealthy',
    textAt(condition, 'message'),
    textAt(condition, 'error'),
  ];
});
