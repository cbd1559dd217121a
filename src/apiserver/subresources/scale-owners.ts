import type { Json, JsonObject } from '../../object/json.ts';
import { applyConfiguration, updateManagedFields } from '../../object/merge/managed-fields.ts';
import { parentManagedFields, type ReplicasPaths, scaleManagedFields } from '../../object/merge/scale.ts';
import type { Writing } from '../../object/merge/update-managed-fields.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import type { WriteOptions } from '../rest/options.ts';
import type { Scope } from '../rest/services.ts';
import { pathOf, SCALE_SCHEMA, scaleOf } from './scale-view.ts';

/** Where each version of the parent keeps its replicas. */
function replicasPaths({ registry, resource }: Scope): ReplicasPaths {
  return Object.fromEntries(
    registry
      .versionsOf(resource.prefix)
      .map((version) => [
        apiVersionOf(version),
        version.scale === undefined ? undefined : pathOf(version.scale.specReplicasPath),
      ]),
  );
}

const writingScale = ({ clock }: Scope, { manager }: WriteOptions): Writing => ({
  schema: SCALE_SCHEMA,
  apiVersion: 'autoscaling/v1',
  manager,
  subresource: 'scale',
  resetFields: ['status'],
  now: clock.now(),
});

/** A Scale with the owners its parent names for the replicas. */
function ownedScale(scope: Scope, parent: JsonObject, owners: JsonObject): JsonObject {
  const { scale: paths } = scope.resource;
  const view = paths === undefined ? {} : scaleOf(parent, paths);
  const managedFields = scaleManagedFields(metadataOf(owners)['managedFields'], replicasPaths(scope));
  return { ...view, metadata: { ...metadataOf(view), managedFields } };
}

/** Who owns what of the parent, given who owns what of its Scale. */
const parentOwners = (scope: Scope, old: JsonObject, entries: readonly Json[]): Json[] =>
  parentManagedFields(metadataOf(old)['managedFields'], entries, {
    apiVersion: apiVersionOf(scope.resource),
    paths: replicasPaths(scope),
  });

/** Whoever changes a Scale owns the replicas of its parent, through the subresource (S3). */
export function ownersAfter(scope: Scope, options: WriteOptions, object: JsonObject, old: JsonObject): Json[] {
  const entries = updateManagedFields({
    ...writingScale(scope, options),
    live: ownedScale(scope, old, old),
    updated: ownedScale(scope, object, old),
  });
  return parentOwners(scope, old, entries);
}

/** A configuration applied to the Scale of an object: the Scale it leaves, and the owners of the parent then. */
export function applyToScale(scope: Scope, options: WriteOptions, config: JsonObject, old: JsonObject) {
  const { object } = applyConfiguration({
    ...writingScale(scope, options),
    live: ownedScale(scope, old, old),
    config,
    force: options.force ?? false,
  });
  const entries = metadataOf(object)['managedFields'];
  return { scale: object, owners: parentOwners(scope, old, Array.isArray(entries) ? entries : []) };
}
