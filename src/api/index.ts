/** Kinds, for users of the package (`slipway/api`); built-in ones are in `slipway/api/core-v1` and its neighbours. */
export { z } from 'zod';
export type { Json, JsonObject } from './json.ts';
export type {
  ApplyOf,
  Condition,
  DeepPartial,
  DeepReadonly,
  Kind,
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  Mutable,
  ObjectKey,
  ObjectList,
  ObjectMeta,
  OwnerReference,
  Scope,
} from './object.ts';
export { apiVersionOf, keyFromText, keyOf, keyText, resourceOf } from './object.ts';
export { celRulesOf } from './schema/cel-rules.ts';
export {
  type DefinedKind,
  defineKind,
  type InputOf,
  type KindDefinition,
  type KindOf,
} from './schema/define-kind.ts';
export { defineVersions } from './schema/define-versions.ts';
export {
  anyValue,
  cel,
  conditions,
  duration,
  embeddedResource,
  int64,
  intOrString,
  listAtomic,
  listMap,
  listSet,
  mapAtomic,
  preserveUnknown,
  quantity,
  withRules,
} from './schema/extensions.ts';
export { KindDefinitionError, KindValueError } from './schema/kind-error.ts';
export { kindFromCrd } from './schema/kind-from-crd.ts';
export { lintKind } from './schema/lint-kind.ts';
export { taggedUnion } from './schema/tagged-union.ts';
export { microTime, time } from './time.ts';
export { fieldAt, unstructured } from './unstructured.ts';
