import type { ValidationRule } from '../../api/schema/structural.ts';
import { childPath, type FieldError, invalid, isShown, shownValue } from '../../object/field-error.ts';
import type { Json } from '../../object/json.ts';
import type { Program } from './environment.ts';
import type { CompiledRule, RuleNode } from './rule-node.ts';
import { CelError, CostError, Optional, type Value } from './value.ts';

// Upstream's limits in units of cost: of one expression, of all rules of an object.
const RULE_LIMIT = 1_000_000;
const OBJECT_LIMIT = 10_000_000;
const LONGEST_MESSAGE_BYTES = 5120;

/** What the rules of one object may still cost. */
export class Budget {
  #left = OBJECT_LIMIT;

  get isSpent(): boolean {
    return this.#left < 0;
  }

  get isEmpty(): boolean {
    return this.#left <= 0;
  }

  /** False when that was too much: nothing may run any more. */
  spend(cost: number): boolean {
    this.#left = cost > this.#left ? -1 : this.#left - cost;
    return this.#left >= 0;
  }

  exhaust(): void {
    this.#left = -1;
  }
}

export interface RunContext {
  readonly budget: Budget;
  /** Failures of rules that do not look at the old value may be ratcheted. */
  readonly report: (error: FieldError, isRatchetable: boolean) => void;
}

interface Subject {
  readonly value: Json;
  readonly old: Json | undefined;
  readonly path: string;
}

const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** Runs the rules of one node. */
export function runRules(node: RuleNode, { value, old, path }: Subject, context: RunContext): void {
  const { budget, report } = context;
  const typeError = (text: string): void => report(invalid(path, node.schema.type ?? '', text), false);
  if (budget.isEmpty) {
    budget.exhaust();
    typeError(OUT_OF_BUDGET);
    return;
  }
  const run = new NodeRun(node, { value, old, path }, context, typeError);
  for (const compiled of node.compiled) {
    if (budget.isSpent) return;
    run.rule(compiled);
  }
}

class NodeRun {
  readonly #node: RuleNode;
  readonly #subject: Subject;
  readonly #context: RunContext;
  readonly #typeError: (text: string) => void;
  #self: Value | undefined;
  #oldSelf: Value | undefined;

  constructor(node: RuleNode, subject: Subject, context: RunContext, typeError: (text: string) => void) {
    this.#node = node;
    this.#subject = subject;
    this.#context = context;
    this.#typeError = typeError;
  }

  rule(compiled: CompiledRule): void {
    const { rule, program, usesOldSelf } = compiled;
    if (program === undefined) return;
    if (typeof program === 'string') return this.#typeError(`rule compile error: ${program}`);
    const isOptional = rule.optionalOldSelf === true;
    // Without an old value there is no transition to judge.
    if (usesOldSelf && !this.#hasOld && !isOptional) return;
    const outcome = this.#evaluate(program, isOptional);
    if (outcome instanceof Error) return this.#failed(outcome, rule);
    if (outcome === undefined || outcome === true) return;
    this.#violated(compiled, isOptional);
  }

  get #hasOld(): boolean {
    return this.#subject.old !== undefined && this.#subject.old !== null;
  }

  /** The value, the error, or `undefined` when the budget is gone. */
  #evaluate(program: Program, isOptional: boolean): Value | Error | undefined {
    const { budget } = this.#context;
    try {
      const { value, cost } = program.evaluate(this.#variables(program, isOptional), RULE_LIMIT);
      if (budget.spend(cost)) return value;
      this.#typeError(OUT_OF_BUDGET);
      return undefined;
    } catch (error) {
      if (error instanceof CelError || error instanceof CostError) return error;
      if (error instanceof RangeError) return new CelError(error.message);
      throw error;
    }
  }

  #variables(program: Program, isOptional: boolean): readonly (Value | undefined)[] {
    this.#self ??= this.#node.convert(this.#subject.value);
    if (!program.used.has('oldSelf')) return [this.#self, undefined];
    const { old } = this.#subject;
    if (this.#hasOld) this.#oldSelf ??= this.#node.convert(old ?? null);
    if (!isOptional) return [this.#self, this.#oldSelf];
    return [this.#self, this.#oldSelf === undefined ? Optional.none : new Optional(this.#oldSelf)];
  }

  #failed(error: Error, rule: ValidationRule): void {
    const shown = ruleText(rule);
    if (error instanceof CostError) {
      this.#context.budget.exhaust();
      this.#typeError(
        `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
      );
    } else if (error.message.startsWith('no such overload')) {
      this.#typeError(
        `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`,
      );
    } else {
      this.#typeError(`${error.message} evaluating rule: ${shown}`);
    }
  }

  #violated(compiled: CompiledRule, isOptional: boolean): void {
    const { rule, fieldPath, usesOldSelf } = compiled;
    const path = fieldPath === '' ? this.#subject.path : childPath(this.#subject.path, fieldPath);
    const detail = this.#detail(compiled, isOptional);
    const { type } = this.#node.schema;
    const { value } = this.#subject;
    const shown = type === 'object' || type === 'array' || !isShown(value) ? undefined : value;
    this.#context.report(violation(path, shown, detail, rule.reason), !usesOldSelf);
  }

  #detail({ rule, message }: CompiledRule, isOptional: boolean): string {
    const fallback =
      rule.message === undefined || rule.message === '' ? `failed rule: ${ruleText(rule)}` : rule.message.trim();
    if (typeof message !== 'object') return fallback;
    const outcome = this.#evaluate(message, isOptional);
    if (outcome instanceof CostError) {
      this.#context.budget.exhaust();
      const source = JSON.stringify(rule.messageExpression);
      return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`;
    }
    if (typeof outcome !== 'string') return fallback;
    const text = outcome.trim();
    const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= LONGEST_MESSAGE_BYTES;
    return isUsable ? text : fallback;
  }
}

const ruleText = ({ rule, message = '' }: ValidationRule): string => (message === '' ? rule : message).trim();

function violation(path: string, value: Json | undefined, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return { reason, field: path, message: `Forbidden: ${detail}` };
    case 'FieldValueRequired':
      return { reason, field: path, message: `Required value: ${detail}` };
    case 'FieldValueDuplicate':
      return {
        reason,
        field: path,
        message: value === undefined ? 'Duplicate value' : `Duplicate value: ${shownValue(value)}`,
      };
    case undefined:
    default:
      return invalid(path, value, detail);
  }
}
