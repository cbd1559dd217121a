import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import type { Call, Expression, Literal } from './expression.ts';
import { expandMacro } from './macro.ts';
import { blankOptionalElements, optionalElements } from './optional-literal.ts';
import { type Issue, SyntaxProblem } from './source.ts';
import { BOOL, BYTES, type CelType, DOUBLE, INT, NULL, STRING, UINT } from './type.ts';
import { MAX_INT, MIN_INT, Uint, type Value } from './value.ts';

// Upstream limits the depth and the length of the whole, not the number of elements.
const parser = new Environment({
  enableOptionalTypes: true,
  limits: { maxListElements: 100_000, maxMapEntries: 100_000, maxCallArguments: 1000, maxAstNodes: 1_000_000 },
});

/**
 * The syntax tree of an expression. Only the parser of cel-js is used: its checker and evaluator cannot be told about
 * schema types, list types, cost or upstream's messages.
 */
export function parseExpression(source: string): Expression | Issue {
  try {
    const { text, marks } = blankOptionalElements(source);
    const { ast } = parser.parse(text);
    return new Translation(text, marks).expression(ast);
  } catch (error) {
    if (error instanceof SyntaxProblem) return { at: error.at, message: error.message };
    if (error instanceof ParseError) return { at: problemAt(source, error), message: syntaxMessage(error) };
    throw error;
  }
}

/** Upstream points at the dot of a selection. */
function problemAt(source: string, { range, node }: ParseError): number {
  const at = range?.start ?? 0;
  return node !== undefined && 'op' in node && node.op === '.' ? source.lastIndexOf('.', node.pos) : at;
}

function syntaxMessage({ code, summary }: ParseError): string {
  if (code === 'invalid_macro_argument') return 'argument must be a simple name';
  if (code === 'reserved_identifier') return `reserved identifier: ${summary.split(': ')[1] ?? ''}`;
  return `Syntax error: ${summary}`;
}

const BINARY: Readonly<Record<string, string>> = { in: '@in' };

/** From the nodes of cel-js to ours; offsets become those that upstream reports. */
class Translation {
  readonly #source: string;
  readonly #marks: readonly number[];

  constructor(source: string, marks: readonly number[]) {
    this.#source = source;
    this.#marks = marks;
  }

  expression(node: ASTNode): Expression {
    if (node.op === 'value') return literal(node.start, this.#literalValue(node.start, node.end, node.args));
    if (node.op === 'id') return { kind: 'ident', at: node.start, name: node.args };
    if (node.op === '.' || node.op === '.?') return this.#select(node);
    if (node.op === 'list') return this.#list(node);
    if (node.op === 'map') return this.#map(node);
    if (node.op === 'call' || node.op === 'rcall') return this.#call(node);
    // `-1` is one literal, so that the smallest integer can be written.
    if (node.op === '-_' && node.args.op === 'value' && isNumber(node.args.args)) {
      return literal(node.start, -node.args.args);
    }
    return this.#operator(node);
  }

  #select(node: Extract<ASTNode, { op: '.' | '.?' }>): Expression {
    const [operand, field] = node.args;
    const at = this.#source.lastIndexOf('.', node.pos);
    return {
      kind: 'select',
      at,
      operand: this.expression(operand),
      field,
      mode: node.op === '.' ? 'value' : 'optional',
    };
  }

  /** The parser cuts letters beyond ASCII in bytes to eight bits. */
  #literalValue(start: number, end: number, value: unknown): unknown {
    if (!(value instanceof Uint8Array)) return value;
    const text = this.#source.slice(start, end);
    const [, inner] = /^[bBrR]+("""|'''|"|')([^\\]*)\1$/s.exec(text)?.slice(1) ?? [];
    return inner === undefined ? value : Buffer.from(inner);
  }

  #list({ start, args }: Extract<ASTNode, { op: 'list' }>): Expression {
    const optional = optionalElements(this.#marks, start, args);
    const items = args.map((item, index) => ({
      value: this.expression(item),
      isOptional: optional[index] ?? false,
    }));
    return { kind: 'list', at: start, items };
  }

  #map({ start, args }: Extract<ASTNode, { op: 'map' }>): Expression {
    const spans = args.map(([key, value]) => ({ start: key.start, end: value.end }));
    const optional = optionalElements(this.#marks, start, spans);
    const entries = args.map(([key, value], index) => ({
      key: this.expression(key),
      value: this.expression(value),
      isOptional: optional[index] ?? false,
    }));
    return { kind: 'map', at: start, entries };
  }

  #call(node: Extract<ASTNode, { op: 'call' | 'rcall' }>): Expression {
    const [name] = node.args;
    const receiver = node.op === 'rcall' ? node.args[1] : undefined;
    const args = node.op === 'rcall' ? node.args[2] : node.args[1];
    const nameAt = receiver === undefined ? node.start : this.#source.indexOf(name, receiver.end);
    const call: Call = {
      kind: 'call',
      at: this.#source.indexOf('(', nameAt),
      name,
      target: receiver && this.expression(receiver),
      args: args.map((arg) => this.expression(arg)),
    };
    return expandMacro(call) ?? call;
  }

  #operator(node: ASTNode): Expression {
    const operands = (Array.isArray(node.args) ? node.args : [node.args]) as readonly ASTNode[];
    const args = operands.map((operand) => this.expression(operand));
    const end = operands[0]?.end ?? 0;
    const call = (name: string, at: number): Call => ({ kind: 'call', at, name, target: undefined, args });
    if (node.op === '!_' || node.op === '-_') return call(node.op, node.start);
    if (node.op === '?:') return call('_?_:_', this.#source.indexOf('?', end));
    if (node.op === '[]') return call('_[_]', this.#source.indexOf('[', end));
    if (node.op === '[?]') return call('_[?_]', this.#source.indexOf('[', end));
    return call(BINARY[node.op] ?? `_${node.op}_`, this.#source.indexOf(node.op, end));
  }
}

function literal(at: number, value: unknown): Literal {
  if (typeof value === 'bigint' && (value > MAX_INT || value < MIN_INT)) {
    throw new SyntaxProblem(at, 'invalid int literal');
  }
  const [type, held] = typedLiteral(value);
  return { kind: 'literal', at, type, value: held };
}

function typedLiteral(value: unknown): readonly [CelType, Value] {
  if (typeof value === 'bigint') return [INT, value];
  if (typeof value === 'number') return [DOUBLE, value];
  if (typeof value === 'string') return [STRING, value];
  if (typeof value === 'boolean') return [BOOL, value];
  if (value === null) return [NULL, null];
  if (value instanceof Uint8Array) return [BYTES, value];
  // What is left is the parser's own class for unsigned integers, which it does not declare.
  return [UINT, new Uint(BigInt(Object(value).valueOf()))];
}

const isNumber = (value: unknown): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';
