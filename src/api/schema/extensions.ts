// What a structural schema can say and zod alone cannot (K5). Each helper is an ordinary zod schema with metadata.
import * as z from 'zod';
import type { Json } from '../json.ts';
import type { Condition, KubeObject } from '../object.ts';
import { HELPER } from './expressible.ts';
import type { ValidationRule } from './structural.ts';

/** Go's way to write a number with a unit, as text. */
const QUANTITY =
  /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)))?$/;
/** Go's way to write a duration: `1h30m`. */
const DURATION = /^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/;
const CONDITION_TYPE = new RegExp(
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
);
const CONDITION_REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** A list of objects that are told apart by the named fields: two managers may each own some of them. */
export const listMap = <Shape extends z.ZodRawShape, Config extends z.core.$ZodObjectConfig>(
  keys: readonly (keyof Shape & string)[],
  item: z.ZodObject<Shape, Config>,
): z.ZodArray<z.ZodObject<Shape, Config>> =>
  z.array(item).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] });

/** A list without order in which no value is twice. Items that are objects or lists are compared as a whole. */
export const listSet = <Item extends z.ZodType>(item: Item): z.ZodArray<Item> =>
  z.array(item).meta({ 'x-kubernetes-list-type': 'set' });

/** A list that one manager owns as a whole. */
export const listAtomic = <Item extends z.ZodType>(item: Item): z.ZodArray<Item> =>
  z.array(item).meta({ 'x-kubernetes-list-type': 'atomic' });

/** A map or an object that one manager owns as a whole. */
export const mapAtomic = <Map extends z.ZodRecord | z.ZodObject>(map: Map): Map =>
  (map as z.ZodType).meta({ 'x-kubernetes-map-type': 'atomic' }) as Map;

/** An object that keeps the fields nobody named: any object, or the one given with whatever else it holds. */
export function preserveUnknown(): z.ZodObject<Record<never, never>, z.core.$loose>;
export function preserveUnknown<Shape extends z.ZodRawShape>(
  object: z.ZodObject<Shape>,
): z.ZodObject<Shape, z.core.$loose>;
export function preserveUnknown(object: z.ZodObject = z.object({})): z.ZodObject {
  return object.loose();
}

/** Any JSON value, kept as it is. */
export const anyValue = (): z.ZodType<Json> =>
  // The value comes out of JSON, so this is all it can be.
  z.unknown().meta({
    'x-kubernetes-preserve-unknown-fields': true,
    [HELPER]: true,
  }) as z.ZodType<unknown> as z.ZodType<Json>;

/** A whole object of any kind inside of another: the server checks its apiVersion, kind and metadata. */
export const embeddedResource = (): z.ZodType<KubeObject> =>
  z
    .looseObject({
      apiVersion: z.string().min(1),
      kind: z.string().min(1),
      metadata: z.looseObject({ name: z.string() }),
    })
    .meta({ 'x-kubernetes-embedded-resource': true });

/** A port by number or by name, a count or a percentage; the pattern is for text. */
export const intOrString = (pattern?: RegExp): z.ZodType<number | string> =>
  z
    .union([z.int(), pattern === undefined ? z.string() : z.string().regex(pattern)])
    .meta({ 'x-kubernetes-int-or-string': true, [HELPER]: true });

/** An amount such as `500m` or `2Gi`; a bare number is one, too. */
export const quantity = (): z.ZodType<number | string> => intOrString(QUANTITY);

/** A time span as Go writes it: `1h30m`. CEL rules see a duration. */
export const duration = (): z.ZodString => z.string().max(64).regex(DURATION).meta({ format: 'duration' });

/** An integer of 64 bits: beyond 2^53 it is a bigint, and no digit is lost (K10). */
export const int64 = (): z.ZodType<number | bigint> =>
  z.union([z.int(), z.bigint()]).meta({ type: 'integer', format: 'int64', [HELPER]: true });

export type RuleOptions = Omit<ValidationRule, 'rule'>;

/** A CEL rule with the message for who breaks it; the options allow what `x-kubernetes-validations` allows. */
export const cel = (rule: string, message: string | RuleOptions): ValidationRule => ({
  rule,
  ...(typeof message === 'string' ? { message } : message),
});

/** The schema with CEL rules; `self` is its value. Rules that are there already stay. */
export function withRules<Type extends z.ZodType>(schema: Type, ...rules: readonly ValidationRule[]): Type {
  const before = z.globalRegistry.get(schema)?.['x-kubernetes-validations'];
  const all = [...(Array.isArray(before) ? before : []), ...rules];
  return schema.meta({ 'x-kubernetes-validations': all });
}

/** `status.conditions` as metav1 defines it; kinds that have it get failures of their controller written there. */
export const conditions = (): z.ZodType<Condition[], Condition[]> =>
  listMap(
    ['type'],
    z.object({
      type: z.string().max(316).regex(CONDITION_TYPE),
      status: z.enum(['True', 'False', 'Unknown']),
      reason: z.string().min(1).max(1024).regex(CONDITION_REASON),
      message: z.string().max(32_768),
      lastTransitionTime: z.iso.datetime({ offset: true }),
      observedGeneration: z.int().min(0).exactOptional(),
    }),
  );
