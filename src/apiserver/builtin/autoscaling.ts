import { type FieldError, invalid, required } from '../../object/field-error.ts';
import type { Json, JsonObject } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { METRICS } from './autoscaler-versions.ts';
import {
  ensureObject,
  has,
  metadataOf,
  numberAt,
  objectAt,
  optionalAt,
  setDefault,
  specOf,
  textAt,
} from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';

const SECONDS = 15;
const CPU_PERCENT = 80;

const upPolicies = (): Json => [
  { type: 'Pods', value: 4, periodSeconds: SECONDS },
  { type: 'Percent', value: 100, periodSeconds: SECONDS },
];
const downPolicies = (): Json => [{ type: 'Percent', value: 100, periodSeconds: SECONDS }];

export const autoscalerStrategy = (): Strategy =>
  kindStrategy({
    type: 'autoscaling.v2.HorizontalPodAutoscaler',
    newStatus: () => ({ desiredReplicas: 0, currentMetrics: null }),
    setDefaults: autoscalerDefaults,
    validate: (object) => checkAutoscaler(specOf(object)),
  });

function autoscalerDefaults(object: JsonObject): void {
  const spec = specOf(object);
  setDefault(spec, 'minReplicas', 1);
  const target = { type: 'Utilization', averageUtilization: CPU_PERCENT };
  setDefault(spec, 'metrics', [{ type: 'Resource', resource: { name: 'cpu', target } }]);
  const behavior = optionalAt(spec, 'behavior');
  if (behavior === undefined) return;
  const up = ensureObject(behavior, 'scaleUp');
  setDefault(up, 'stabilizationWindowSeconds', 0);
  setDefault(up, 'selectPolicy', 'Max');
  setDefault(up, 'policies', upPolicies());
  const down = ensureObject(behavior, 'scaleDown');
  setDefault(down, 'selectPolicy', 'Max');
  setDefault(down, 'policies', downPolicies());
}

/** The old version: one number for the cpu. */
export const autoscalerV1Strategy = (): Strategy =>
  kindStrategy({
    type: 'autoscaling.v1.HorizontalPodAutoscaler',
    newStatus: () => ({ currentReplicas: 0, desiredReplicas: 0 }),
    setDefaults(object) {
      const spec = specOf(object);
      setDefault(spec, 'minReplicas', 1);
      const isMeasured = has(objectAt(metadataOf(object), 'annotations'), METRICS);
      if (!isMeasured) setDefault(spec, 'targetCPUUtilizationPercentage', CPU_PERCENT);
    },
    validate: (object) => checkAutoscaler(specOf(object)),
  });

function checkAutoscaler(spec: JsonObject): readonly FieldError[] {
  const least = numberAt(spec, 'minReplicas') ?? 1;
  const most = numberAt(spec, 'maxReplicas') ?? 0;
  const target = objectAt(spec, 'scaleTargetRef');
  const isGrouped = textAt(target, 'apiVersion').includes('/') || textAt(target, 'apiVersion') === 'v1';
  return [
    ...(least < 1 ? [invalid('spec.minReplicas', least, 'must be greater than or equal to 1')] : []),
    ...(most < 1 ? [required('spec.maxReplicas', 'must be set and greater than 0')] : []),
    ...(most >= 1 && has(spec, 'minReplicas') && most < least
      ? [invalid('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`')]
      : []),
    ...['kind', 'name'].flatMap((key) =>
      textAt(target, key) === '' ? [required(`spec.scaleTargetRef.${key}`)] : [],
    ),
    ...(isGrouped
      ? []
      : [
          invalid(
            'spec.scaleTargetRef.apiVersion',
            textAt(target, 'apiVersion'),
            'apiVersion must specify API group',
          ),
        ]),
  ];
}
