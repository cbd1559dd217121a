import type { Json, JsonObject } from '../json.ts';
import type { Column, KindNames, KindVersion, ScalePaths } from './crd.ts';
import { KindDefinitionError } from './kind-error.ts';
import type { Schema } from './structural.ts';
import { type TextOptions, ZodWriter } from './zod-text.ts';

export interface FromCrdOptions extends Partial<TextOptions> {
  /** Default: the one that objects are stored in. */
  readonly version?: string;
  /** Where the written file finds our folder `api/schema`. */
  readonly schemaFolder?: string;
  /** The definition keeps fields that it does not name. */
  readonly isForeign?: boolean;
}

export interface FromCrd {
  /** TypeScript: a `defineKind` and the type of its objects. */
  readonly source: string;
  /** Conditions of the original that a definition cannot say, with their fields. */
  readonly dropped: readonly string[];
}

/** The part of a CustomResourceDefinition that a definition is made of. */
interface Crd {
  readonly spec: Omit<KindNames, 'version' | 'labels' | 'annotations'> & {
    readonly names: Omit<KindNames, 'version' | 'group' | 'scope'>;
    readonly versions: readonly Version[];
  };
}

interface Version {
  readonly name: string;
  readonly storage?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly Column[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

const SERVER_FIELDS = ['apiVersion', 'kind', 'metadata'];

/**
 * The definition of a kind that exists as a CustomResourceDefinition, as a file to keep (K2). The same input gives the
 * same text. Throws a KindDefinitionError when the version asked for is not there.
 */
export function kindFromCrd(crd: JsonObject, options: FromCrdOptions = {}): FromCrd {
  const { hasDescriptions = true, hasRules = true, schemaFolder = './schema', isForeign = false } = options;
  // A server accepted it, so it has these fields.
  const { spec } = crd as JsonObject & Crd;
  const version = versionOf(spec, options.version);
  const writer = new ZodWriter({ hasDescriptions, hasRules });
  const schema = version.schema?.openAPIV3Schema ?? {};
  const body = [
    ...namesText(spec, version.name),
    ...(hasDescriptions && schema.description !== undefined
      ? [`description: ${JSON.stringify(schema.description)}`]
      : []),
    ...partsText(schema, writer),
    ...rulesText(schema, writer, hasRules),
    ...versionText(version),
    ...(isForeign ? ['isForeign: true'] : []),
  ];
  const { kind } = spec.names;
  const definition = `export const ${kind} = defineKind({\n${body.map((line) => `${indented(line)},\n`).join('')}});`;
  const types = `export type ${kind} = KindOf<typeof ${kind}>;`;
  const source = `${importsText(writer, schemaFolder)}\n\n${definition}\n${types}\n`;
  return { source, dropped: writer.dropped };
}

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

function versionOf({ names, versions }: Crd['spec'], asked: string | undefined): Version {
  const found = versions.find(({ name, storage }) => (asked === undefined ? storage === true : name === asked));
  if (found !== undefined) return found;
  const all = versions.map(({ name }) => name).join(', ');
  const problem = `there is no ${asked === undefined ? 'stored version' : `version ${asked}`}; there are ${all}`;
  throw new KindDefinitionError(names.kind, [{ path: 'version', problem }]);
}

function namesText({ group, scope, names }: Crd['spec'], version: string): readonly string[] {
  const { kind, plural, singular = kind.toLowerCase(), listKind = `${kind}List`, shortNames, categories } = names;
  return membersText({
    group,
    version,
    kind,
    plural,
    scope,
    ...(singular !== kind.toLowerCase() && { singular }),
    ...(listKind !== `${kind}List` && { listKind }),
    shortNames,
    categories,
  });
}

function versionText({ subresources, additionalPrinterColumns, selectableFields }: Version): readonly string[] {
  const rest: KindVersion = {
    ...(subresources !== undefined && {
      subresources: {
        status: subresources.status !== undefined,
        ...(subresources.scale !== undefined && { scale: subresources.scale }),
      },
    }),
    ...(additionalPrinterColumns !== undefined && { columns: additionalPrinterColumns }),
    ...(selectableFields !== undefined && { selectableFields: selectableFields.map(({ jsonPath }) => jsonPath) }),
  };
  return membersText({ subresources: { status: false }, ...rest });
}

const membersText = (members: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${JSON.stringify(value as Json)}`);

function partsText(schema: Schema, writer: ZodWriter): readonly string[] {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties).filter((name) => !SERVER_FIELDS.includes(name));
  const text = (name: string, isRequired: boolean): string =>
    `${/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}: ${writer.text(properties[name] ?? {}, name, isRequired)}`;
  const halves = names.filter((name) => ['spec', 'status'].includes(name));
  const others = names.filter((name) => !halves.includes(name));
  return [
    // A definition makes the status optional by itself.
    ...halves.map((name) => text(name, name === 'status' || required.includes(name))),
    ...(others.length === 0
      ? []
      : [`fields: {\n${indented(others.map((name) => `${text(name, required.includes(name))},`).join('\n'))}\n}`]),
  ];
}

function rulesText(schema: Schema, writer: ZodWriter, hasRules: boolean): readonly string[] {
  const rules = hasRules ? (schema['x-kubernetes-validations'] ?? []) : [];
  return rules.length === 0 ? [] : [`rules: { root: [${writer.rules(rules).join(', ')}] }`];
}

function importsText({ helpers }: ZodWriter, folder: string): string {
  const names = [...helpers].toSorted().join(', ');
  return [
    `import * as z from 'zod';`,
    `import { defineKind, type KindOf } from '${folder}/define-kind.ts';`,
    ...(names === '' ? [] : [`import { ${names} } from '${folder}/extensions.ts';`]),
  ].join('\n');
}
