import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import type { DeepReadonly, Kind, KubeObject, ObjectMeta } from '../object.ts';
import { type CrdVersion, crdOf, type KindNames, type KindVersion, rootSchema } from './crd.ts';
import { inexpressible } from './expressible.ts';
import { structuralOf } from './from-zod.ts';
import { kindDocs } from './kind-docs.ts';
import { type FieldProblem, KindDefinitionError } from './kind-error.ts';
import type { Schema, ValidationRule } from './structural.ts';
import { valueParser } from './value.ts';

type Part = z.ZodType | undefined;
type Shape = Readonly<Record<string, z.ZodType>>;

/** Everything about one kind in one version. */
export interface KindDefinition<
  Group extends string = string,
  Version extends string = string,
  Name extends string = string,
  Spec extends Part = Part,
  Status extends Part = Part,
  Fields extends Shape = Shape,
> extends KindNames,
    KindVersion {
  readonly group: Group;
  readonly version: Version;
  readonly kind: Name;
  readonly description?: string;
  readonly spec?: Spec;
  /** Always optional in objects. With it the status subresource is on unless `subresources` says otherwise. */
  readonly status?: Status;
  /** Fields beside spec and status, for the few kinds that have such. */
  readonly fields?: Fields;
  /** CEL rules of the whole object and its two halves; those of fields are said with `withRules`. */
  readonly rules?: {
    readonly root?: readonly ValidationRule[];
    readonly spec?: readonly ValidationRule[];
    readonly status?: readonly ValidationRule[];
  };
  /** A subset of somebody else's kind: fields that it does not name are kept, everywhere. */
  readonly isForeign?: boolean;
}

type Side = 'input' | 'output';
type ValueOf<Type, S extends Side> = Type extends z.ZodType
  ? S extends 'input'
    ? z.input<Type>
    : z.output<Type>
  : never;
type FieldOf<Name extends string, Type, S extends Side> = [Type] extends [z.ZodType]
  ? undefined extends ValueOf<Type, S>
    ? { [Key in Name]?: Exclude<ValueOf<Type, S>, undefined> }
    : { [Key in Name]: ValueOf<Type, S> }
  : unknown;
type StatusOf<Type, S extends Side> = [Type] extends [z.ZodType] ? { status?: ValueOf<Type, S> } : unknown;
type FieldsOf<Fields extends Shape, S extends Side> = string extends keyof Fields
  ? unknown
  : ValueOf<z.ZodObject<Fields>, S>;
type ApiVersion<Group extends string, Version extends string> = Group extends '' ? Version : `${Group}/${Version}`;

interface Identity<Group extends string, Version extends string, Name extends string> {
  readonly apiVersion: ApiVersion<Group, Version>;
  readonly kind: Name;
  readonly metadata: ObjectMeta;
}

type Flat<T> = { [Key in keyof T]: T[Key] };
type Body<Spec, Status, Fields extends Shape, S extends Side> = DeepReadonly<
  Flat<FieldOf<'spec', Spec, S> & StatusOf<Status, S> & FieldsOf<Fields, S>>
>;

/** A kind of ours: what the client needs, and all that follows from its one definition (K1). */
export interface DefinedKind<T extends KubeObject = KubeObject, Input = KubeObject extends T ? unknown : T>
  extends Kind<T, Input> {
  /** OpenAPI, structural: what the server checks and defaults objects with. */
  readonly schema: Schema;
  /** The version as a CustomResourceDefinition holds it; `defineVersions` combines several. */
  readonly crdVersion: CrdVersion;
  readonly names: KindNames;
  /** The CustomResourceDefinition with this version alone; a new object each time, always the same text (K7). */
  toCRD(): JsonObject & KubeObject;
  /**
   * The object with defaults, without fields that the server would drop. Throws a KindValueError that names every
   * wrong field. The server is the authority: CEL rules and the uniqueness of list keys are left to it, and it counts
   * characters of a text where this counts UTF-16 units (K8).
   */
  parse(value: unknown): T;
  /** A Markdown table of the fields. */
  docs(): string;
}

/** The type of a kind's objects as the server returns them. */
export type KindOf<K extends Kind> = K extends Kind<infer T, infer _> ? T : never;
/** The type of a kind's objects as they are created: what has a default may be missing. */
export type InputOf<K extends Kind> = K extends Kind<infer _, infer Input> ? Input : never;

/**
 * A kind from one definition: types, schema, CustomResourceDefinition, documentation. Throws a KindDefinitionError that
 * names every field that a structural schema cannot express (K4).
 */
export function defineKind<
  const Group extends string,
  const Version extends string,
  const Name extends string,
  Spec extends Part = undefined,
  Status extends Part = undefined,
  Fields extends Shape = Shape,
>(
  definition: KindDefinition<Group, Version, Name, Spec, Status, Fields>,
): DefinedKind<
  Flat<Identity<Group, Version, Name> & Body<Spec, Status, Fields, 'output'>>,
  Flat<
    Partial<Identity<Group, Version, Name>> & { readonly metadata: ObjectMeta } & Body<
        Spec,
        Status,
        Fields,
        'input'
      >
  >
>;
export function defineKind(definition: KindDefinition): DefinedKind {
  const { group, version, kind, plural, scope } = definition;
  const problems = [
    ...nameProblems(definition),
    ...scopeProblems(definition),
    ...ruleProblems(definition),
    ...partsOf(definition).flatMap(([name, part]) => partProblems(part, name)),
  ];
  if (problems.length > 0) throw new KindDefinitionError(kind, problems);
  let schema: Schema | undefined;
  return {
    group,
    version,
    kind,
    plural,
    scope,
    ...(hasConditions(definition.status) && { hasConditions: true }),
    names: definition,
    // A program that only talks to a server never looks at it, and it takes a hundred times as long as the rest.
    get schema() {
      schema ??= schemaOf(definition);
      return schema;
    },
    get crdVersion() {
      return crdVersionOf(definition, this.schema);
    },
    toCRD() {
      return crdOf(definition, [this.crdVersion]);
    },
    parse: valueParser(definition),
    docs() {
      return kindDocs(definition, this.schema);
    },
  };
}

function hasConditions(status: z.core.$ZodType | undefined): boolean {
  const { def } = (innermost(status ?? z.never()) as z.core.$ZodTypes)._zod;
  const conditions = def.type === 'object' ? def.shape['conditions'] : undefined;
  if (conditions === undefined) return false;
  const keys: unknown = z.globalRegistry.get(innermost(conditions))?.['x-kubernetes-list-map-keys'];
  return Array.isArray(keys) && keys.join() === 'type';
}

/** Without `.optional()` and the like. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod;
  return 'innerType' in def ? innermost(def.innerType as z.core.$ZodType) : schema;
}

function crdVersionOf(definition: KindDefinition, schema: Schema): CrdVersion {
  const { version: name, columns, selectableFields, isServed, deprecationWarning, subresources } = definition;
  return {
    name,
    schema,
    subresources: { status: definition.status !== undefined, ...subresources },
    ...(columns !== undefined && { columns }),
    ...(selectableFields !== undefined && { selectableFields }),
    ...(isServed !== undefined && { isServed }),
    ...(deprecationWarning !== undefined && { deprecationWarning }),
  };
}

const partsOf = ({ fields, spec, status }: KindDefinition): readonly (readonly [string, z.ZodType])[] =>
  Object.entries({
    ...fields,
    ...(spec !== undefined && { spec }),
    ...(status !== undefined && { status }),
  });

function schemaOf(definition: KindDefinition): Schema {
  const { rules = {}, description, isForeign = false } = definition;
  const parts = partsOf(definition);
  const schemas = Object.fromEntries(parts.map(([name, part]) => [name, structuralOf(part)]));
  const required = parts.filter(([name, part]) => name !== 'status' && isNeeded(part)).map(([name]) => name);
  const schema = rootSchema({
    fields: {
      ...schemas,
      ...withPartRules(schemas, 'spec', rules.spec),
      ...withPartRules(schemas, 'status', rules.status),
    },
    required,
    ...(description !== undefined && { description }),
    ...(rules.root !== undefined && { rules: rules.root }),
  });
  return isForeign ? opened(schema, true) : schema;
}

/** What can be missing in an object that is created. */
const isNeeded = (part: z.ZodType): boolean => part._zod.optin === undefined;

function withPartRules(
  schemas: Readonly<Record<string, Schema>>,
  name: string,
  rules: readonly ValidationRule[] = [],
): Readonly<Record<string, Schema>> {
  const schema = schemas[name];
  if (schema === undefined || rules.length === 0) return {};
  const all = [...(schema['x-kubernetes-validations'] ?? []), ...rules];
  return { [name]: { ...schema, 'x-kubernetes-validations': all } };
}

const NAMES: readonly (readonly [field: 'group' | 'version' | 'kind' | 'plural', form: RegExp, words: string])[] =
  [
    [
      'group',
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/,
      'a DNS name such as example.com',
    ],
    ['version', /^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/, 'v1, v1beta1, v2alpha3 …'],
    ['kind', /^[A-Z][A-Za-z0-9]*$/, 'a word in CamelCase'],
    ['plural', /^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'lower case'],
  ];

/** Rules of a half that the kind does not have would be lost. */
const ruleProblems = ({ rules = {}, ...definition }: KindDefinition): readonly FieldProblem[] =>
  (['spec', 'status'] as const)
    .filter((half) => rules[half] !== undefined && definition[half] === undefined)
    .map((half) => ({ path: half, problem: `there are rules for it, but no ${half}` }));

const nameProblems = (definition: KindDefinition): readonly FieldProblem[] =>
  NAMES.filter(([field, form]) => !form.test(definition[field])).map(([path, , words]) => ({
    path,
    problem: `"${definition[path]}" cannot be the ${path} of a kind`,
    hint: words,
  }));

/** From JavaScript, or out of a file, anything can come. */
function scopeProblems({ scope }: { readonly scope: string }): readonly FieldProblem[] {
  if (SCOPES.includes(scope)) return [];
  return [{ path: 'scope', problem: `"${scope}" is no scope`, hint: `use ${SCOPES.join(' or ')}` }];
}

const SCOPES: readonly string[] = ['Namespaced', 'Cluster'];

/** What cannot be a half of an object, though a field of it may. Other types are refused everywhere. */
const NO_HALF = new Set(['string', 'number', 'boolean', 'array', 'enum', 'literal', 'template_literal']);

function partProblems(part: unknown, path: string): readonly FieldProblem[] {
  const hint = 'use z.object({ … })';
  if (!isZod(part)) return [{ path, problem: `is ${typeof part}, not a zod schema`, hint }];
  const isHalf = path === 'spec' || path === 'status';
  const { type } = innermost(part)._zod.def;
  if (isHalf && NO_HALF.has(type)) return [{ path, problem: `is z.${type}(), and must be an object`, hint }];
  return inexpressible(part, path);
}

const isZod = (part: unknown): part is z.ZodType => typeof part === 'object' && part !== null && '_zod' in part;

/** Every object keeps what the definition does not name. Of the metadata the server takes care itself. */
function opened(schema: Schema, isRoot = false): Schema {
  const { properties, items, additionalProperties } = schema;
  const isOpen = schema.type === 'object' && additionalProperties === undefined;
  return {
    ...schema,
    ...(items !== undefined && { items: opened(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: opened(additionalProperties) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          isRoot && name === 'metadata' ? property : opened(property),
        ]),
      ),
    }),
    ...(isOpen && { 'x-kubernetes-preserve-unknown-fields': true }),
  };
}
