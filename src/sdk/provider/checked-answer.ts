import { types } from 'node:util';
import type { Log } from '../../base/log.ts';
import { isSilent } from './capability-answers.ts';
import { frozenCopy } from './frozen-copy.ts';
import { plainCopy } from './plain-copy.ts';
import { ProviderError } from './provider-error.ts';
import { found, type Issue, type Shape, wrongKind } from './shape.ts';

/** What came back from a provider, and what may. */
export interface Answer {
  /** What was called: `acme.instances.describe`. */
  readonly what: string;
  readonly answer: unknown;
  readonly shape: Shape;
  readonly log: Log;
}

/** A frozen copy of a right answer. A wrong one is an error: nothing that nobody checked decides anything (ccm/S16). */
export function checkedAnswer({ what, answer, shape }: Omit<Answer, 'log'>): unknown {
  if (isSilent(shape)) return undefined;
  const { value, issues } = looked(answer, shape);
  if (issues.length > 0) throw wrongAnswer(what, issues);
  return frozenCopy(value);
}

/**
 * The same for an answer by name. One that is wrong is left out, which means "unknown": a single odd machine must not keep
 * all others from being looked after.
 */
export function checkedAnswers({ what, answer, shape, log }: Answer): ReadonlyMap<string, unknown> {
  if (!types.isMap(answer)) throw wrongAnswer(what, [wrongKind('', 'a Map by the name of the node', answer)]);
  const checked = new Map<string, unknown>();
  for (const [name, one] of answer) {
    const { value, issues } = looked(one, shape);
    if (typeof name !== 'string') throw wrongAnswer(what, [wrongKind('the key', 'the name of a node', name)]);
    if (issues.length === 0) checked.set(name, frozenCopy(value));
    else log.warn({ node: name, err: wrongAnswer(what, issues) }, 'Ignored a wrong answer of the provider');
  }
  return checked;
}

function looked(answer: unknown, shape: Shape): { value: unknown; issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const { value, unreadable } = plainCopy(answer);
  for (const { path, trouble } of unreadable) {
    issues.push({ path, code: '', message: `${path === '' ? 'it' : path} ${trouble}`, hint: 'return plain data' });
  }
  if (unreadable.length === 0) shape(value, '', (issue) => issues.push(issue));
  return { value, issues };
}

/** Says what was called, what was found and what is allowed. */
export function wrongAnswer(what: string, issues: readonly Issue[]): ProviderError {
  const [first, ...others] = issues;
  const text = first === undefined ? found(undefined) : `${first.message} (${first.hint})`;
  const more =
    others.length === 0 ? '' : `; ${others.length} more: ${others.map(({ message }) => message).join('; ')}`;
  return new ProviderError('unknown', `${what} gave a wrong answer: ${text}${more}`);
}
