import type { JsonObject } from '../../object/json.ts';
import { userBody } from '../auth/reviews.ts';
import type { Resource } from '../registry/resource.ts';
import { textOf } from '../rest/object-meta.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import { namespaceOf } from './hook-match.ts';

/** Object and old object in the version a webhook wants; a Scale for the scale subresource. */
export interface ReviewObjects {
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
}

export interface ReviewRequest {
  readonly attributes: AdmissionAttributes;
  /** The resource in the version the webhook registered for. */
  readonly target: Resource;
  readonly objects: ReviewObjects;
  /** The same in the version of the request, for the kind that was asked for. */
  readonly requested: ReviewObjects;
}

/** The `request` of an AdmissionReview, in upstream's order (V3). */
export function admissionRequest(
  { attributes, target, objects, requested }: ReviewRequest,
  uid: string,
): JsonObject {
  const { resource, subresource, operation, user, isDryRun, name } = attributes;
  const namespace = namespaceOf(attributes);
  return {
    uid,
    kind: kindOf(objects, target),
    resource: resourceOf(target),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: kindOf(requested, resource),
    requestResource: resourceOf(resource),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userBody(user),
    object: shown(objects.object),
    oldObject: shown(objects.oldObject),
    dryRun: isDryRun,
    options: optionsOf(attributes.options),
  };
}

/** The whole review; `version` is `v1` or `v1beta1`. */
export const admissionReview = (request: JsonObject, version: string): JsonObject => ({
  kind: 'AdmissionReview',
  apiVersion: `admission.k8s.io/${version}`,
  request,
});

/** The object says what it is: of a subresource it may be of another kind than the resource. */
function kindOf({ object, oldObject }: ReviewObjects, { group, version, kind }: Resource): JsonObject {
  const apiVersion = textOf((object ?? oldObject)?.['apiVersion']);
  if (apiVersion === '') return { group, version, kind };
  const slash = apiVersion.indexOf('/');
  return {
    group: slash === -1 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind: textOf((object ?? oldObject)?.['kind']),
  };
}

const resourceOf = ({ group, version, plural }: Resource): JsonObject => ({ group, version, resource: plural });

function shown(object: JsonObject | undefined): JsonObject | null {
  if (object === undefined) return null;
  const { kind = '', apiVersion = '', ...rest } = object;
  return { kind, apiVersion, ...rest };
}

/** Upstream tells webhooks only what the client asked for: `Warn` is what it is without a word, force is not an update's. */
function optionsOf(options: JsonObject): JsonObject {
  const { fieldValidation, force: _force, ...rest } = options;
  const isAsked = fieldValidation !== undefined && fieldValidation !== 'Warn';
  return isAsked ? { ...rest, fieldValidation } : rest;
}
