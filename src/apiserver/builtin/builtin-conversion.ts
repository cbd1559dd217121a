import type { JsonObject } from '../../object/json.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import { autoscalerFromV1, autoscalerToV1 } from './autoscaler-versions.ts';
import { eventFromV1, eventToV1 } from './event-versions.ts';

type Conversion = (object: JsonObject) => JsonObject;

/** The built-in kinds that are served in two forms and stored in one (G12), by the apiVersion and kind they become. */
const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  'events.k8s.io/v1 Event': eventToV1,
  'v1 Event': eventFromV1,
  'autoscaling/v1 HorizontalPodAutoscaler': autoscalerToV1,
  'autoscaling/v2 HorizontalPodAutoscaler': autoscalerFromV1,
};

export function convertBuiltin(object: JsonObject, to: Resource): JsonObject {
  const apiVersion = apiVersionOf(to);
  const convert = CONVERSIONS[`${apiVersion} ${to.kind}`];
  return convert === undefined ? { ...object, apiVersion } : { ...convert(object), kind: to.kind, apiVersion };
}
