import { type FieldError, forbidden, invalid } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import { copyKey, listAt, numberAt, objectsAt, textAt } from './fields.ts';

const CHANGEABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** What may change in the spec of a pod. Upstream adds a diff to the message, which nobody can parse: we do not. */
export function checkPodChange(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const counted = [...checkCount(spec, old, 'containers'), ...checkCount(spec, old, 'initContainers')];
  if (counted.length > 0) return counted;
  const deadline = checkDeadline(spec, old);
  const errors = [...deadline, ...checkTolerations(spec, old), ...checkGates(spec, old)];
  return jsonEqual(comparable(spec, old), old) ? errors : [...errors, forbidden('spec', CHANGEABLE)];
}

function checkCount(spec: JsonObject, old: JsonObject, key: string): readonly FieldError[] {
  return listAt(spec, key).length === listAt(old, key).length
    ? []
    : [forbidden(`spec.${key}`, 'pod updates may not add or remove containers')];
}

function checkDeadline(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  const [now, before] = [numberAt(spec, 'activeDeadlineSeconds'), numberAt(old, 'activeDeadlineSeconds')];
  if (before === undefined) return [];
  if (now === undefined) return [invalid(path, null, 'must not update from a positive integer to nil value')];
  return now > before ? [invalid(path, now, 'must be less than or equal to previous value')] : [];
}

function checkTolerations(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const now = objectsAt(spec, 'tolerations');
  const isKept = objectsAt(old, 'tolerations').every((toleration) =>
    now.some((kept) => isLater(kept, toleration)),
  );
  return isKept
    ? []
    : [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

/** The same toleration, perhaps with other seconds. */
const isLater = (a: JsonObject, b: JsonObject): boolean =>
  ['key', 'operator', 'value', 'effect'].every((key) => textAt(a, key) === textAt(b, key));

function checkGates(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const known = new Set(objectsAt(old, 'schedulingGates').map((gate) => textAt(gate, 'name')));
  return objectsAt(spec, 'schedulingGates').flatMap((gate, index) =>
    known.has(textAt(gate, 'name'))
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${textAt(gate, 'name')}'`,
          ),
        ],
  );
}

const ALLOWED = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'];

/** The new spec with everything that may change taken back. */
function comparable(spec: JsonObject, old: JsonObject): JsonObject {
  const copy: JsonObject = { ...spec };
  for (const key of ALLOWED) copyKey(copy, old, key);
  for (const key of ['containers', 'initContainers']) {
    const before = objectsAt(old, key);
    if (before.length > 0) copy[key] = objectsAt(spec, key).map((item, at) => withImage(item, before[at] ?? {}));
  }
  if ((numberAt(old, 'terminationGracePeriodSeconds') ?? 0) < 0)
    copyKey(copy, old, 'terminationGracePeriodSeconds');
  // Containers that were added to a running pod have an endpoint of their own.
  if (objectsAt(spec, 'ephemeralContainers').length === 0) copyKey(copy, old, 'ephemeralContainers');
  return copy;
}

function withImage(container: JsonObject, old: JsonObject): JsonObject {
  const copy = { ...container };
  copyKey(copy, old, 'image');
  return copy;
}
