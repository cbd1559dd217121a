import { cloneJson, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { has, metadataOf, numberAt, objectAt, objectsAt, specOf, statusOf, textAt } from './fields.ts';

// autoscaling/v1 knows one target, the cpu; everything else of v2 travels in annotations.

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
export const METRICS = `${PREFIX}metrics`;
const BEHAVIOR = `${PREFIX}behavior`;
const CONDITIONS = `${PREFIX}conditions`;
const CURRENT = `${PREFIX}current-metrics`;

const isCpuUtilization = (metric: JsonObject): boolean => {
  const resource = objectAt(metric, 'resource');
  const target = objectAt(resource, 'target');
  return (
    textAt(metric, 'type') === 'Resource' &&
    textAt(resource, 'name') === 'cpu' &&
    has(target, 'averageUtilization')
  );
};

/** A v2 autoscaler as autoscaling/v1 shows it. */
export function autoscalerToV1(autoscaler: JsonObject): JsonObject {
  const { metrics, behavior, ...spec } = specOf(autoscaler);
  const { currentMetrics, conditions, ...status } = statusOf(autoscaler);
  const list = Array.isArray(metrics) ? metrics.filter(isJsonObject) : [];
  const cpu = list.find(isCpuUtilization);
  const others = list.filter((metric) => metric !== cpu);
  const current = (Array.isArray(currentMetrics) ? currentMetrics.filter(isJsonObject) : []).map(oldMetricStatus);
  const annotations: JsonObject = { ...objectAt(metadataOf(autoscaler), 'annotations') };
  setJson(annotations, METRICS, others.map(oldMetric));
  setJson(annotations, CURRENT, current);
  if (isJsonObject(behavior)) annotations[BEHAVIOR] = JSON.stringify(goBehavior(behavior));
  setJson(annotations, CONDITIONS, Array.isArray(conditions) ? conditions : []);
  const target = objectAt(objectAt(cpu ?? {}, 'resource'), 'target')['averageUtilization'];
  return {
    ...autoscaler,
    ...(has(autoscaler, 'apiVersion') && { apiVersion: 'autoscaling/v1' }),
    metadata: withAnnotations(metadataOf(autoscaler), annotations),
    spec: { ...spec, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
    status: { currentReplicas: 0, desiredReplicas: 0, ...status },
  };
}

/** The behavior as a Go struct without json tags prints it: upper case, and null for what is not set. */
function goBehavior(behavior: JsonObject): Json {
  const rules = (key: string): Json => (has(behavior, key) ? goRules(objectAt(behavior, key)) : null);
  return { ScaleUp: rules('scaleUp'), ScaleDown: rules('scaleDown') };
}

const goRules = (rules: JsonObject): Json => ({
  StabilizationWindowSeconds: rules['stabilizationWindowSeconds'] ?? null,
  SelectPolicy: rules['selectPolicy'] ?? null,
  Policies: objectsAt(rules, 'policies').map((policy) => ({
    Type: textAt(policy, 'type'),
    Value: numberAt(policy, 'value') ?? 0,
    PeriodSeconds: numberAt(policy, 'periodSeconds') ?? 0,
  })),
  Tolerance: rules['tolerance'] ?? null,
});

function camel(value: Json): Json {
  if (Array.isArray(value)) return value.map(camel);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(
    entries.map(([key, item]) => [key.charAt(0).toLowerCase() + key.slice(1), camel(item)]),
  );
}

const setJson = (annotations: JsonObject, key: string, list: readonly Json[]): void => {
  if (list.length > 0) annotations[key] = JSON.stringify(list);
};

function withAnnotations(metadata: JsonObject, annotations: JsonObject): JsonObject {
  const { annotations: _, ...rest } = metadata;
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

/** The key below which a metric of a type keeps its source: `containerResource`. */
const keyOf = (metric: JsonObject): string => {
  const type = textAt(metric, 'type');
  return type.charAt(0).toLowerCase() + type.slice(1);
};

/** Copies values under new names, as far as they are there. */
function picked(source: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const result: JsonObject = {};
  for (const [from, to] of Object.entries(names)) {
    const value = source[from];
    if (value !== undefined && value !== null) result[to] = value;
  }
  return result;
}

/** Where a metric of v2 has a nested target, v1 has flat fields. */
function oldMetric(metric: JsonObject): JsonObject {
  const type = textAt(metric, 'type');
  const key = keyOf(metric);
  const { target, metric: named, describedObject, ...rest } = objectAt(metric, key);
  const flat: JsonObject = {
    ...rest,
    ...picked(isJsonObject(named) ? named : {}, {
      name: 'metricName',
      selector: type === 'External' ? 'metricSelector' : 'selector',
    }),
    ...picked(isJsonObject(target) ? target : {}, {
      value: 'targetValue',
      averageUtilization: 'targetAverageUtilization',
      averageValue: type === 'Object' ? 'averageValue' : 'targetAverageValue',
    }),
  };
  if (describedObject !== undefined) flat['target'] = cloneJson(describedObject);
  return { type, [key]: flat };
}

function oldMetricStatus(metric: JsonObject): JsonObject {
  const key = keyOf(metric);
  const { current, metric: named, ...rest } = objectAt(metric, key);
  const flat: JsonObject = {
    ...rest,
    ...picked(isJsonObject(named) ? named : {}, { name: 'metricName' }),
    ...picked(isJsonObject(current) ? current : {}, {
      averageUtilization: 'currentAverageUtilization',
      averageValue: 'currentAverageValue',
      value: 'currentValue',
    }),
  };
  return { type: textAt(metric, 'type'), [key]: flat };
}

/** A v1 autoscaler as v2 keeps it. */
export function autoscalerFromV1(autoscaler: JsonObject): JsonObject {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = specOf(autoscaler);
  const { currentCPUUtilizationPercentage: _, ...status } = statusOf(autoscaler);
  const annotations: JsonObject = { ...objectAt(metadataOf(autoscaler), 'annotations') };
  const metrics = parseList(annotations, METRICS).map(newMetric);
  if (typeof cpu === 'number') metrics.unshift(cpuMetric(cpu));
  const behavior = parseJson(annotations[BEHAVIOR]);
  const conditions = parseList(annotations, CONDITIONS);
  for (const key of [METRICS, BEHAVIOR, CONDITIONS, CURRENT]) delete annotations[key];
  return {
    ...autoscaler,
    ...(has(autoscaler, 'apiVersion') && { apiVersion: 'autoscaling/v2' }),
    metadata: withAnnotations(metadataOf(autoscaler), annotations),
    spec: {
      ...spec,
      ...(metrics.length > 0 && { metrics }),
      ...(isJsonObject(behavior) && { behavior: camel(behavior) }),
    },
    status: {
      desiredReplicas: 0,
      currentMetrics: null,
      ...dropZero(status, 'currentReplicas'),
      ...(conditions.length > 0 && { conditions }),
    },
  };
}

const dropZero = (status: JsonObject, key: string): JsonObject => {
  const copy = { ...status };
  if (numberAt(copy, key) === 0) delete copy[key];
  return copy;
};

const cpuMetric = (averageUtilization: number): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

const FLAT = ['metricName', 'metricSelector', 'selector', 'targetValue', 'targetAverageUtilization'];
const AVERAGES = ['targetAverageValue', 'averageValue', 'target'];

function newMetric(metric: JsonObject): JsonObject {
  const type = textAt(metric, 'type');
  const key = keyOf(metric);
  const old = objectAt(metric, key);
  const rest = Object.entries(old).filter(([name]) => !FLAT.includes(name) && !AVERAGES.includes(name));
  const source: JsonObject = { ...Object.fromEntries(rest), target: newTarget(old) };
  if (has(old, 'metricName')) {
    source['metric'] = picked(old, { metricName: 'name', selector: 'selector', metricSelector: 'selector' });
  }
  if (type === 'Object' && has(old, 'target')) source['describedObject'] = old['target'] ?? {};
  return { type, [key]: source };
}

function newTarget(old: JsonObject): JsonObject {
  if (has(old, 'targetAverageUtilization')) {
    return { type: 'Utilization', ...picked(old, { targetAverageUtilization: 'averageUtilization' }) };
  }
  const average = picked(old, { targetAverageValue: 'averageValue', averageValue: 'averageValue' });
  if (has(average, 'averageValue')) return { type: 'AverageValue', ...average };
  return { type: 'Value', ...picked(old, { targetValue: 'value' }) };
}

function parseList(annotations: JsonObject, key: string): JsonObject[] {
  const value = parseJson(annotations[key]);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Annotations are written by anyone: what is no JSON counts as absent. */
function parseJson(text: Json | undefined): Json | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
