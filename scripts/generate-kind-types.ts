// One file of TypeScript per group version: see generate-kinds.ts.
import type { RawSchema } from '../src/apiserver/builtin-data/builtin-schema.ts';
import type { KindGroupVersion, KindResource } from './generate-kinds.ts';

const HEADER = '// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.';
/** For the files that have more lines than a person should write. */
const LONG = '/* oxlint-disable max-lines */';
const MOST_LINES = 400;
const META = 'meta.v1';
/** Types of the machinery that are written by hand, or are plain JSON. */
const KNOWN: Readonly<Record<string, string>> = {
  'intstr.IntOrString': 'number | string',
  'resource.Quantity': 'string',
  'meta.v1.Time': 'string',
  'meta.v1.MicroTime': 'string',
  'meta.v1.FieldsV1': 'Readonly<Record<string, unknown>>',
  'runtime.RawExtension': 'Readonly<Record<string, unknown>>',
  'apiextensions.v1.JSON': 'unknown',
  'apiextensions.v1.JSONSchemaPropsOrArray': 'JSONSchemaProps | readonly JSONSchemaProps[]',
  'apiextensions.v1.JSONSchemaPropsOrBool': 'JSONSchemaProps | boolean',
  'apiextensions.v1.JSONSchemaPropsOrStringArray': 'JSONSchemaProps | readonly string[]',
};
const BY_HAND = ['Condition', 'ListMeta', 'ManagedFieldsEntry', 'ObjectMeta', 'OwnerReference'];
/** What belongs to requests and answers, not to kinds. */
const LEFT_OUT =
  /^meta\.v1\.(APIResource|APIResourceList|Patch|Status|StatusCause|StatusDetails|ShardInfo|WatchEvent)$/;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What a file needs from others: file → names of types. */
type Imports = Map<string, Set<string>>;

export class TypeWriter {
  readonly #schemas: ReadonlyMap<string, RawSchema>;
  readonly #groupVersions: readonly KindGroupVersion[];

  constructor(schemas: ReadonlyMap<string, RawSchema>, groupVersions: readonly KindGroupVersion[]) {
    this.#schemas = schemas;
    this.#groupVersions = groupVersions;
  }

  /** Each has a file. */
  packages(): readonly string[] {
    return [...new Set([...this.#schemas.keys()].filter(isWritten).map(packageOf))].toSorted();
  }

  /** The interfaces: erased at run time, so whoever uses a constant never loads them (S3). */
  typeFile(packageName: string): string {
    const imports: Imports = new Map();
    const blocks = this.#names(packageName).map((name) => this.#typeText(name, imports));
    const text = fileText(HEADER, importText(imports), ...blocks);
    return text.split('\n').length > MOST_LINES ? text.replace(HEADER, `${HEADER}\n${LONG}`) : text;
  }

  /** The constants of the resources, with the interfaces on the side. */
  kindFile(packageName: string): string {
    const names = this.#names(packageName);
    const types = `./${typeFileName(packageName)}.ts`;
    const groupVersion = this.#groupVersions.find((candidate) => candidate.package === packageName);
    const rows = (groupVersion?.resources ?? []).filter(({ kind }) => names.includes(`${packageName}.${kind}`));
    if (groupVersion === undefined || rows.length === 0) return fileText(HEADER, `export type * from '${types}';`);
    const imports = [
      `import type { CreateOf, Kind } from '../object.ts';`,
      `import type * as types from '${types}';`,
    ];
    const blocks = rows.map((row) => this.#constantText(groupVersion, row));
    return fileText(HEADER, imports.join('\n'), `export type * from '${types}';`, ...blocks);
  }

  #names(packageName: string): readonly string[] {
    return [...this.#schemas.keys()]
      .filter((name) => isWritten(name) && packageOf(name) === packageName)
      .toSorted();
  }

  #typeText(name: string, imports: Imports): string {
    const schema = this.#schemas.get(name) ?? {};
    const kind = kindOf(schema);
    const isKind = kind !== undefined && schema.properties?.['metadata'] !== undefined;
    const fields = Object.entries(schema.properties ?? {}).map(([field, value]) => {
      const fixed = kind === undefined ? undefined : identityField(field, kind, isKind, imports);
      const required =
        fixed !== undefined || isRequired(schema, field) || (isKind && isAlwaysThere(schema, field));
      const text = fixed ?? this.#valueText(value, packageOf(name), imports);
      return `  readonly ${IDENTIFIER.test(field) ? field : JSON.stringify(field)}${required ? '' : '?'}: ${text};`;
    });
    return [`export interface ${shortOf(name)} {`, ...fields, '}'].join('\n');
  }

  #constantText({ group, version, package: packageName }: KindGroupVersion, row: KindResource): string {
    const { kind, name, namespaced = false } = row;
    const filled = filledFields(this.#schemas.get(`${packageName}.${kind}`) ?? {}, row);
    return [
      `export type ${kind} = types.${kind};`,
      `export const ${kind}: Kind<${kind}, CreateOf<${[kind, ...filled].join(', ')}>> = {`,
      `  group: '${group}',`,
      `  version: '${version}',`,
      `  kind: '${kind}',`,
      `  plural: '${name}',`,
      `  scope: '${namespaced ? 'Namespaced' : 'Cluster'}',`,
      '};',
    ].join('\n');
  }

  #valueText(schema: RawSchema, from: string, imports: Imports): string {
    const reference = schema.$ref ?? schema.allOf;
    if (reference !== undefined) return this.#referenceText(reference, from, imports);
    if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ');
    if (schema.items !== undefined) return listText(this.#valueText(schema.items, from, imports));
    if (typeof schema.additionalProperties === 'object') {
      return `Readonly<Record<string, ${this.#valueText(schema.additionalProperties, from, imports)}>>`;
    }
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives !== undefined) {
      return [...new Set(alternatives.map((part) => this.#valueText(part, from, imports)))].join(' | ');
    }
    return plainText(schema['type']);
  }

  #referenceText(name: string, from: string, imports: Imports): string {
    const known = KNOWN[name];
    if (known !== undefined) return known;
    const short = shortOf(name);
    if (packageOf(name) === META && BY_HAND.includes(short)) {
      useType(imports, '../object.ts', short);
      // Metadata of a template names nothing.
      return short === 'ObjectMeta' ? 'Partial<ObjectMeta>' : short;
    }
    if (packageOf(name) !== from) useType(imports, `./${typeFileName(packageOf(name))}.ts`, short);
    return short;
  }
}

/** `core.v1` → `core-v1`. */
export const kindFileName = (packageName: string): string => packageName.replaceAll('.', '-');
const typeFileName = (packageName: string): string => `${kindFileName(packageName)}-types`;

const fileText = (...blocks: readonly string[]): string =>
  `${blocks.filter((block) => block !== '').join('\n\n')}\n`;

const packageOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
const shortOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** Lists are `ObjectList` of their kind. */
function isWritten(name: string): boolean {
  const isByHand = packageOf(name) === META && BY_HAND.includes(shortOf(name));
  return !isByHand && KNOWN[name] === undefined && !LEFT_OUT.test(name) && !name.endsWith('List');
}

interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

function kindOf(schema: RawSchema): KindName | undefined {
  const kinds = schema['x-kubernetes-group-version-kind'];
  // The table says so of every kind.
  return Array.isArray(kinds) && kinds.length === 1 ? (kinds[0] as KindName) : undefined;
}

function identityField(field: string, kind: KindName, isKind: boolean, imports: Imports): string | undefined {
  if (!isKind) return undefined;
  if (field === 'apiVersion') return `'${kind.group === '' ? '' : `${kind.group}/`}${kind.version}'`;
  if (field === 'kind') return `'${kind.kind}'`;
  if (field !== 'metadata') return undefined;
  useType(imports, '../object.ts', 'ObjectMeta');
  return 'ObjectMeta';
}

const isRequired = (schema: RawSchema, field: string): boolean => {
  const required = schema['required'];
  return Array.isArray(required) && required.includes(field);
};

/** The server writes the spec of such a kind even when nobody gave one. */
const isAlwaysThere = ({ properties = {} }: RawSchema, field: string): boolean =>
  field === 'spec' && JSON.stringify(properties[field]?.['default']) === '{}';

/** What nobody has to give: the spec that the server writes, and a name for what is asked and never kept. */
function filledFields(
  schema: RawSchema,
  { namespaced = false, isStored = true }: KindResource,
): readonly string[] {
  const isSpec = isAlwaysThere(schema, 'spec') && !isRequired(schema, 'spec');
  return [...(isSpec ? [`'spec'`] : []), ...(isStored || namespaced ? [] : [`'metadata'`])];
}

const listText = (item: string): string => (item.includes(' | ') ? `readonly (${item})[]` : `readonly ${item}[]`);

function plainText(type: unknown): string {
  switch (type) {
    case 'string':
    case 'boolean':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return 'readonly unknown[]';
    case 'object':
      return 'Readonly<Record<string, unknown>>';
    default:
      return 'unknown';
  }
}

function useType(imports: Imports, file: string, name: string): void {
  const names = imports.get(file) ?? new Set();
  imports.set(file, names.add(name));
}

const importText = (imports: Imports): string =>
  [...imports]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, names]) => `import type { ${[...names].toSorted().join(', ')} } from '${file}';`)
    .join('\n');
