import type { Schema, ValidationRule } from './structural.ts';
import { fieldPath } from './visit.ts';

export interface TextOptions {
  /** With the descriptions and rule messages of the definition; false where its words are not ours to copy. */
  readonly hasDescriptions: boolean;
  /** With CEL rules. */
  readonly hasRules: boolean;
}

/** Names that the text uses, besides `z`. */
export type Helper =
  | 'anyValue'
  | 'cel'
  | 'embeddedResource'
  | 'intOrString'
  | 'listAtomic'
  | 'listMap'
  | 'listSet'
  | 'mapAtomic'
  | 'preserveUnknown'
  | 'quantity'
  | 'withRules';

/** Writes structural schemas as zod; collects what it needs and what it could not say. */
export class ZodWriter {
  readonly #options: TextOptions;
  readonly helpers = new Set<Helper>();
  /** Fields with conditions that zod cannot say structurally: `spec.source: oneOf`. */
  readonly dropped: string[] = [];

  constructor(options: TextOptions) {
    this.#options = options;
  }

  /** The text of a node, with `.optional()` where its parent does not require it. */
  text(node: Schema, path: string, isRequired: boolean): string {
    for (const key of ['allOf', 'anyOf', 'oneOf', 'not'] as const) {
      // What the server itself says about int-or-string is said by the helper.
      if (node[key] !== undefined && node['x-kubernetes-int-or-string'] !== true) {
        this.dropped.push(`${path}: ${key}`);
      }
    }
    const { description } = node;
    const describe = this.#options.hasDescriptions && description !== undefined;
    return [
      this.#withRules(this.#body(node, path), node),
      describe ? `.describe(${quote(description)})` : '',
      node.nullable === true ? '.nullable()' : '',
      this.#presence(node, isRequired),
    ].join('');
  }

  rules(rules: readonly ValidationRule[]): readonly string[] {
    return rules.map(({ rule, ...rest }) => {
      this.helpers.add('cel');
      const { message, ...others } = rest;
      const isPlain = message !== undefined && Object.keys(others).length === 0;
      return `cel(${quote(rule)}, ${isPlain ? quote(message) : JSON.stringify(rest)})`;
    });
  }

  #withRules(text: string, node: Schema): string {
    const rules = this.#options.hasRules ? (node['x-kubernetes-validations'] ?? []) : [];
    return rules.length === 0 ? text : this.#call('withRules', text, ...this.rules(rules));
  }

  /** A default of an object is completed by the defaults of its fields, which only `.prefault()` does. */
  #presence(node: Schema, isRequired: boolean): string {
    if (node.default === undefined) return isRequired ? '' : '.optional()';
    const method = node.type === 'object' || node.type === 'array' ? 'prefault' : 'default';
    return `.${method}(${JSON.stringify(node.default)})`;
  }

  #call(helper: Helper, ...parameters: readonly string[]): string {
    this.helpers.add(helper);
    return `${helper}(${parameters.join(', ')})`;
  }

  #body(node: Schema, path: string): string {
    if (node['x-kubernetes-int-or-string'] === true) return this.#intOrString(node.pattern);
    if (node['x-kubernetes-embedded-resource'] === true) return this.#call('embeddedResource');
    const { type } = node;
    if (type === undefined) return this.#call('anyValue');
    switch (type) {
      case 'object':
        return this.#object(node, path);
      case 'array':
        return this.#list(node, path);
      case 'string':
        return this.#string(node);
      case 'integer':
      case 'number':
        return numberText(node);
      case 'boolean':
        return 'z.boolean()';
    }
  }

  #intOrString(pattern: string | undefined): string {
    if (pattern === undefined) return this.#call('intOrString');
    // Only quantities have these units, however the rest of the pattern is written.
    return pattern.includes('[numkMGTPE]')
      ? this.#call('quantity')
      : this.#call('intOrString', `new RegExp(${quote(pattern)})`);
  }

  #object(node: Schema, path: string): string {
    const { additionalProperties, properties = {} } = node;
    const isAtomic = node['x-kubernetes-map-type'] === 'atomic';
    const keepsUnknown = node['x-kubernetes-preserve-unknown-fields'] === true;
    if (additionalProperties !== undefined && additionalProperties !== false) {
      const value =
        additionalProperties === true
          ? this.#call('anyValue')
          : this.text(additionalProperties, `${path}.*`, true);
      const map = `z.record(z.string(), ${value})${metaText(node, ['minProperties', 'maxProperties'])}`;
      return isAtomic ? this.#call('mapAtomic', map) : map;
    }
    const fields = Object.entries(properties).map(([name, field]) => {
      const text = this.text(field, fieldPath(path, name), node.required?.includes(name) === true);
      return `${IDENTIFIER.test(name) ? name : quote(name)}: ${text},`;
    });
    const shape = fields.length === 0 ? '{}' : `{\n${indented(fields.join('\n'))}\n}`;
    const object = `z.object(${shape})${metaText(node, ['minProperties', 'maxProperties'])}`;
    const atomic = isAtomic ? this.#call('mapAtomic', object) : object;
    if (!keepsUnknown) return atomic;
    return fields.length === 0 && !isAtomic
      ? this.#call('preserveUnknown')
      : this.#call('preserveUnknown', atomic);
  }

  #list(node: Schema, path: string): string {
    const item = node.items === undefined ? this.#call('anyValue') : this.text(node.items, `${path}[]`, true);
    return `${this.#listOf(node, item)}${boundText('min', node.minItems)}${boundText('max', node.maxItems)}`;
  }

  #listOf(node: Schema, item: string): string {
    const type = node['x-kubernetes-list-type'];
    if (type === 'map') {
      return this.#call('listMap', JSON.stringify(node['x-kubernetes-list-map-keys'] ?? []), item);
    }
    if (type === 'set') return this.#call('listSet', item);
    return type === 'atomic' ? this.#call('listAtomic', item) : `z.array(${item})`;
  }

  #string(node: Schema): string {
    const { format, pattern } = node;
    if (node.enum !== undefined) {
      return `z.enum(${JSON.stringify(node.enum)})${metaText(node, ['minLength', 'maxLength'])}`;
    }
    if (format === 'date-time') return 'z.iso.datetime({ offset: true })';
    const bounds = `${boundText('min', node.minLength)}${boundText('max', node.maxLength)}`;
    const regex = pattern === undefined ? '' : patternText(pattern);
    return `z.string()${bounds}${regex}${metaText(node, ['format'])}`;
  }
}

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

const quote = (text: string): string => JSON.stringify(text);

const boundText = (method: string, bound: number | undefined): string =>
  bound === undefined ? '' : `.${method}(${bound})`;

/** Keywords that zod has no method for are said to the server alone. */
function metaText(node: Schema, keys: readonly (keyof Schema)[]): string {
  const members = keys
    .filter((key) => node[key] !== undefined)
    .map((key) => `${key}: ${JSON.stringify(node[key])}`);
  return members.length === 0 ? '' : `.meta({ ${members.join(', ')} })`;
}

/** A pattern of the server that JavaScript cannot read, such as `(?i)a`, is left to the server. */
function patternText(pattern: string): string {
  try {
    return new RegExp(pattern).source === '' ? '' : `.regex(new RegExp(${quote(pattern)}))`;
  } catch {
    return `.meta({ pattern: ${quote(pattern)} })`;
  }
}

function numberText(node: Schema): string {
  if (node.enum !== undefined) return `z.literal(${JSON.stringify(node.enum)})`;
  const lower = boundText(node.exclusiveMinimum === true ? 'gt' : 'min', node.minimum);
  const upper = boundText(node.exclusiveMaximum === true ? 'lt' : 'max', node.maximum);
  return `${numberType(node)}${lower}${upper}${boundText('multipleOf', node.multipleOf)}`;
}

function numberType({ type, format }: Schema): string {
  if (type === 'integer') return format === 'int32' ? 'z.int32()' : 'z.int()';
  if (format === 'double') return 'z.float64()';
  return format === 'float' ? 'z.float32()' : 'z.number()';
}
