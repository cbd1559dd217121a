import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { apiVersionOf, type Resource, type ScalePaths } from '../registry/resource.ts';
import type { Converter } from '../rest/codec.ts';
import { textOf } from '../rest/object-meta.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import { rescaled, scaleOf } from '../subresources/scale-view.ts';
import type { ReviewObjects } from './admission-review.ts';

/** The objects of a request as its client sees them: a Scale for the scale subresource. */
export function requestedObjects(attributes: AdmissionAttributes): ReviewObjects {
  const { object, oldObject } = attributes;
  const paths = scalePaths(attributes);
  if (paths === undefined) {
    return {
      object: object && withKind(object, attributes),
      oldObject: oldObject && withKind(oldObject, attributes),
    };
  }
  return { object: object && scaleOf(object, paths), oldObject: oldObject && scaleOf(oldObject, paths) };
}

/** The body of a subresource need not say what it is. */
function withKind(object: JsonObject, { resource, subresource }: AdmissionAttributes): JsonObject {
  const known =
    subresource === '' || textOf(object['kind']) !== '' ? undefined : resource.subresources.get(subresource);
  return known === undefined ? object : { ...object, kind: known.kind, apiVersion: apiVersionOf(known) };
}

/** The engine scales whole objects; webhooks are shown the view that was written to. */
function scalePaths({ subresource, resource, object, oldObject }: AdmissionAttributes): ScalePaths | undefined {
  return subresource === 'scale' && (object ?? oldObject)?.['kind'] === resource.kind ? resource.scale : undefined;
}

/** The same in the version a webhook registered for (matchPolicy Equivalent). */
export async function objectsFor(
  requested: ReviewObjects,
  attributes: AdmissionAttributes,
  target: Resource,
  converter: Converter,
): Promise<ReviewObjects> {
  if (target === attributes.resource) return requested;
  const [object, oldObject] = [requested.object, requested.oldObject];
  return {
    object: object && (await converted(object, target, converter)),
    oldObject: oldObject && (await converted(oldObject, target, converter)),
  };
}

/** Objects of other kinds, which subresources have, are the same in all versions. */
async function converted(object: JsonObject, to: Resource, converter: Converter): Promise<JsonObject> {
  if (object['kind'] !== to.kind || object['apiVersion'] === apiVersionOf(to)) return object;
  const [result = object] = await converter.convert([object], to);
  return result;
}

/** What a webhook made of its view, as the engine has it. */
export function fromView(
  changed: JsonObject,
  attributes: AdmissionAttributes,
  converter: Converter,
): Promise<JsonObject> | JsonObject {
  const paths = scalePaths(attributes);
  if (paths === undefined) return converted(changed, attributes.resource, converter);
  return isJsonObject(attributes.object) ? rescaled(attributes.object, changed, paths) : changed;
}
