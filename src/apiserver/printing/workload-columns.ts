import { humanDuration } from '../../object/human-duration.ts';
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
import {
  AGE,
  ageOf,
  boolean,
  conditionStatus,
  containerCells,
  count,
  integer,
  labelsText,
  NAME,
  selectorText,
  since,
  tableOf,
  text,
  wide,
} from './cells.ts';

const CONTAINERS = [wide('Containers'), wide('Images')];
const WIDE = [...CONTAINERS, wide('Selector')];

const podSpecOf = (spec: JsonObject): JsonObject => objectAt(objectAt(spec, 'template'), 'spec');

const wideCells = (spec: JsonObject): readonly string[] => [
  ...containerCells(podSpecOf(spec)),
  selectorText(spec['selector']),
];

export const deploymentColumns = tableOf(
  [NAME, text('Ready'), text('Up-to-date'), text('Available'), AGE, ...WIDE],
  (object, now) => {
    const [spec, status] = [specOf(object), statusOf(object)];
    const [names, images, selector] = wideCells(spec);
    return [
      nameOf(object),
      `${count(status, 'readyReplicas')}/${count(spec, 'replicas')}`,
      count(status, 'updatedReplicas'),
      count(status, 'availableReplicas'),
      ageOf(object, now),
      names ?? '',
      images ?? '',
      // Unlike all others, this column says nothing when there is nothing to say.
      selector === '<none>' ? '' : (selector ?? ''),
    ];
  },
);

export const daemonSetColumns = tableOf(
  [
    NAME,
    ...['Desired', 'Current', 'Ready', 'Up-to-date', 'Available'].map(integer),
    text('Node Selector'),
    AGE,
    ...WIDE,
  ],
  (object, now) => {
    const [spec, status] = [specOf(object), statusOf(object)];
    return [
      nameOf(object),
      count(status, 'desiredNumberScheduled'),
      count(status, 'currentNumberScheduled'),
      count(status, 'numberReady'),
      count(status, 'updatedNumberScheduled'),
      count(status, 'numberAvailable'),
      labelsText(objectAt(podSpecOf(spec), 'nodeSelector')),
      ageOf(object, now),
      ...wideCells(spec),
    ];
  },
);

export const statefulSetColumns = tableOf([NAME, text('Ready'), AGE, ...CONTAINERS], (object, now) => [
  nameOf(object),
  `${count(statusOf(object), 'readyReplicas')}/${count(specOf(object), 'replicas')}`,
  ageOf(object, now),
  ...containerCells(podSpecOf(specOf(object))),
]);

const REPLICAS = ['Desired', 'Current', 'Ready'].map(integer);

const replicaCells = (object: JsonObject, now: Date): readonly (string | number)[] => [
  nameOf(object),
  count(specOf(object), 'replicas'),
  count(statusOf(object), 'replicas'),
  count(statusOf(object), 'readyReplicas'),
  ageOf(object, now),
];

export const replicaSetColumns = tableOf([NAME, ...REPLICAS, AGE, ...WIDE], (object, now) => [
  ...replicaCells(object, now),
  ...wideCells(specOf(object)),
]);

export const replicationControllerColumns = tableOf([NAME, ...REPLICAS, AGE, ...WIDE], (object, now) => [
  ...replicaCells(object, now),
  ...containerCells(podSpecOf(specOf(object))),
  labelsText(objectAt(specOf(object), 'selector')),
]);

export const podTemplateColumns = tableOf(
  [NAME, text('Containers'), text('Images'), text('Pod Labels')],
  (object) => [
    nameOf(object),
    ...containerCells(podSpecOf(object)),
    labelsText(objectAt(metadataOf(objectAt(object, 'template')), 'labels')),
  ],
);

export const jobColumns = tableOf(
  [NAME, text('Status'), text('Completions'), text('Duration'), AGE, ...WIDE],
  (job, now) => [
    nameOf(job),
    jobStatus(job),
    completionsText(specOf(job), count(statusOf(job), 'succeeded')),
    durationText(statusOf(job), now),
    ageOf(job, now),
    ...wideCells(specOf(job)),
  ],
);

function jobStatus(job: JsonObject): string {
  const status = statusOf(job);
  const is = (type: string): boolean => conditionStatus(status, type) === 'True';
  const ended = ['Complete', 'Failed'].find(is);
  if (ended !== undefined) return ended;
  if (has(metadataOf(job), 'deletionTimestamp')) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running';
}

function completionsText(spec: JsonObject, succeeded: number): string {
  const wanted = numberAt(spec, 'completions');
  if (wanted !== undefined) return `${succeeded}/${wanted}`;
  const parallel = count(spec, 'parallelism');
  return parallel > 1 ? `${succeeded}/1 of ${parallel}` : `${succeeded}/1`;
}

function durationText(status: JsonObject, now: Date): string {
  if (!has(status, 'startTime')) return '';
  const start = Date.parse(textAt(status, 'startTime'));
  const end = has(status, 'completionTime') ? Date.parse(textAt(status, 'completionTime')) : now.getTime();
  return humanDuration(end - start);
}

export const cronJobColumns = tableOf(
  [
    NAME,
    text('Schedule'),
    text('Timezone'),
    boolean('Suspend'),
    integer('Active'),
    text('Last Schedule'),
    AGE,
    ...WIDE,
  ],
  (object, now) => {
    const [spec, status] = [specOf(object), statusOf(object)];
    const jobSpec = objectAt(objectAt(spec, 'jobTemplate'), 'spec');
    return [
      nameOf(object),
      textAt(spec, 'schedule'),
      textAt(spec, 'timeZone') || '<none>',
      suspendText(spec),
      objectsAt(status, 'active').length,
      has(status, 'lastScheduleTime') ? since(status['lastScheduleTime'], now) : '<none>',
      ageOf(object, now),
      ...wideCells(jobSpec),
    ];
  },
);

/** Shown as text although the column is declared a boolean. */
const suspendText = (spec: JsonObject): string => {
  if (!has(spec, 'suspend')) return '<unset>';
  return spec['suspend'] === true ? 'True' : 'False';
};

export const controllerRevisionColumns = tableOf(
  [NAME, text('Controller'), text('Revision'), AGE],
  (object, now) => [nameOf(object), controllerText(object), count(object, 'revision'), ageOf(object, now)],
);

function controllerText(object: JsonObject): string {
  const owner = objectsAt(metadataOf(object), 'ownerReferences').find((item) => item['controller'] === true);
  if (owner === undefined) return '<none>';
  const [group = '', version] = textAt(owner, 'apiVersion').split('/');
  const kind = version === undefined ? textAt(owner, 'kind') : `${textAt(owner, 'kind')}.${group}`;
  return `${kind.toLowerCase()}/${textAt(owner, 'name')}`;
}

export const autoscalerColumns = tableOf(
  [NAME, text('Reference'), text('Targets'), text('MinPods'), text('MaxPods'), text('Replicas'), AGE],
  (object, now) => {
    const spec = specOf(object);
    const target = objectAt(spec, 'scaleTargetRef');
    return [
      nameOf(object),
      `${textAt(target, 'kind')}/${textAt(target, 'name')}`,
      metricsText(spec, statusOf(object)),
      has(spec, 'minReplicas') ? String(count(spec, 'minReplicas')) : '<unset>',
      count(spec, 'maxReplicas'),
      count(statusOf(object), 'currentReplicas'),
      ageOf(object, now),
    ];
  },
);

const MOST_METRICS = 2;

function metricsText(spec: JsonObject, status: JsonObject): string {
  const metrics = objectsAt(spec, 'metrics');
  if (metrics.length === 0) return '<none>';
  const current = objectsAt(status, 'currentMetrics');
  const texts = metrics.map((metric, index) => metricText(metric, current[index] ?? {}));
  const shown = texts.slice(0, MOST_METRICS).join(', ');
  return texts.length > MOST_METRICS ? `${shown} + ${texts.length - MOST_METRICS} more...` : shown;
}

const KEYS: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};

function metricText(metric: JsonObject, status: JsonObject): string {
  const type = textAt(metric, 'type');
  const key = KEYS[type];
  if (key === undefined) return '<unknown type>';
  const source = objectAt(metric, key);
  const target = objectAt(source, 'target');
  const current = objectAt(objectAt(status, key), 'current');
  if (type.endsWith('Resource')) return `${textAt(source, 'name')}: ${resourceText(target, current)}`;
  if (type === 'Pods') return `${shown(current, 'averageValue')}/${textAt(target, 'averageValue')}`;
  return has(target, 'averageValue')
    ? `${shown(current, 'averageValue')}/${textAt(target, 'averageValue')} (avg)`
    : `${shown(current, 'value')}/${textAt(target, 'value')}`;
}

const shown = (current: JsonObject, key: string): string => textAt(current, key) || '<unknown>';

function resourceText(target: JsonObject, current: JsonObject): string {
  if (has(target, 'averageValue')) return `${shown(current, 'averageValue')}/${textAt(target, 'averageValue')}`;
  const percent = (holder: JsonObject, other: string): string =>
    has(holder, 'averageUtilization') ? `${count(holder, 'averageUtilization')}%` : other;
  return `${percent(current, '<unknown>')}/${percent(target, '<auto>')}`;
}

export const budgetColumns = tableOf(
  [NAME, text('Min Available'), text('Max Unavailable'), integer('Allowed Disruptions'), AGE],
  (object, now) => [
    nameOf(object),
    countText(specOf(object), 'minAvailable'),
    countText(specOf(object), 'maxUnavailable'),
    count(statusOf(object), 'disruptionsAllowed'),
    ageOf(object, now),
  ],
);

const countText = (spec: JsonObject, key: string): string => {
  const value = spec[key];
  return typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';
};
