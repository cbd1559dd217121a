import type { Schema, ValidationRule } from '../../api/schema/structural.ts';
import { type CelEnv, celEnvironment, type Problem, type Program } from './environment.ts';
import { followPath } from './field-path.ts';
import { asResource, isEmbedded, schemaType } from './schema-type.ts';
import { converterOf } from './schema-value.ts';
import { type CelType, optionalOf } from './type.ts';
import type { Convert } from './value.ts';

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** What does not compile is the text of the problem; an empty rule is `undefined`. */
  readonly program: Program | string | undefined;
  readonly message: Program | string | undefined;
  readonly usesOldSelf: boolean;
  /** Below the node; empty for the node itself. */
  readonly fieldPath: string;
}

/** The rules of one node of a schema and of what is below; nodes without any are left out. */
export class RuleNode {
  readonly schema: Schema;
  readonly rules: readonly ValidationRule[];
  /** The whole custom resource or an embedded one. */
  readonly isResource: boolean;
  items: RuleNode | undefined;
  additional: RuleNode | undefined;
  readonly properties = new Map<string, RuleNode>();
  #compiled: readonly CompiledRule[] | undefined;
  #convert: Convert | undefined;

  constructor(schema: Schema, rules: readonly ValidationRule[], isResource: boolean) {
    this.schema = schema;
    this.rules = rules;
    this.isResource = isResource;
  }

  get isEmpty(): boolean {
    return (
      this.rules.length === 0 &&
      this.items === undefined &&
      this.additional === undefined &&
      this.properties.size === 0
    );
  }

  /** The type of `self`; `undefined` when rules cannot see this node. */
  get type(): CelType | undefined {
    return schemaType(this.schema, 'selfType', this.isResource);
  }

  get convert(): Convert {
    this.#convert ??= converterOf(this.isResource ? asResource(this.schema) : this.schema);
    return this.#convert;
  }

  get compiled(): readonly CompiledRule[] {
    this.#compiled ??= this.#compile();
    return this.#compiled;
  }

  #compile(): readonly CompiledRule[] {
    const type = this.type;
    if (type === undefined || this.rules.length === 0) return [];
    const plain = celEnvironment(variables(type, type));
    const optional = celEnvironment(variables(type, optionalOf(type)));
    return this.rules.map((rule) =>
      compileRule(rule, rule.optionalOldSelf === true ? optional : plain, this.schema),
    );
  }
}

const variables = (self: CelType, oldSelf: CelType): ReadonlyMap<string, CelType> =>
  new Map([
    ['self', self],
    ['oldSelf', oldSelf],
  ]);

function compileRule(rule: ValidationRule, environment: CelEnv, schema: Schema): CompiledRule {
  const program = compileProgram(rule.rule, environment, {
    kind: 'bool',
    stages: { compilation: 'compilation', instantiation: 'program instantiation' },
    wrongType: 'cel expression must evaluate to a bool',
  });
  const isProgram = typeof program === 'object';
  const message = isProgram
    ? compileProgram(rule.messageExpression ?? '', environment, {
        kind: 'string',
        stages: { compilation: 'messageExpression compilation', instantiation: 'messageExpression instantiation' },
        wrongType: 'messageExpression must evaluate to a string',
      })
    : undefined;
  const usesOldSelf = isProgram && program.used.has('oldSelf');
  const field = followPath(rule.fieldPath ?? '', schema);
  return { rule, program, message, usesOldSelf, fieldPath: 'problem' in field ? '' : field.text };
}

interface Expected {
  readonly kind: CelType['kind'];
  /** How upstream calls what failed. */
  readonly stages: Readonly<Record<Problem['stage'], string>>;
  readonly wrongType: string;
}

function compileProgram(
  source: string,
  environment: CelEnv,
  { kind, stages, wrongType }: Expected,
): Program | string | undefined {
  if (source.trim() === '') return undefined;
  const program = environment.compile(source);
  if ('stage' in program) return `${stages[program.stage]} failed: ${program.text}`;
  return program.type.kind === kind ? program : wrongType;
}

/** The tree of rules of a schema. */
export const ruleTree = (schema: Schema): RuleNode => buildNode(schema, true);

/** Rules inside allOf, anyOf, oneOf and not are refused elsewhere: such a schema is not structural. */
function buildNode(schema: Schema, isResource: boolean): RuleNode {
  const node = new RuleNode(schema, schema['x-kubernetes-validations'] ?? [], isResource);
  node.items = schema.items && childNode(schema.items);
  if (typeof schema.additionalProperties === 'object') node.additional = childNode(schema.additionalProperties);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const child = childNode(property);
    if (child !== undefined) node.properties.set(name, child);
  }
  return node;
}

function childNode(schema: Schema): RuleNode | undefined {
  const node = buildNode(schema, isEmbedded(schema));
  return node.isEmpty ? undefined : node;
}
