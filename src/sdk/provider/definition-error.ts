import { SlipwayError } from '../../base/errors.ts';
import { DEFINITION_ERROR, hasBrand } from './brand.ts';

/** One thing that is wrong in a definition. */
export interface DefinitionProblem {
  /** Where: `providerID.pattern`; empty for the whole. */
  readonly path: string;
  /** For `slipway explain`: SW21xx. */
  readonly code: string;
  /** What is wrong, what was found and what is allowed. */
  readonly message: string;
  /** A way on. */
  readonly hint: string;
  /** What would happen otherwise, where that is not obvious. */
  readonly why?: string;
}

/** What `defineProvider` throws: everything that is wrong at once. */
export class DefinitionError extends SlipwayError {
  readonly problems: readonly DefinitionProblem[];
  readonly [DEFINITION_ERROR] = true;

  constructor(problems: readonly DefinitionProblem[]) {
    super('user', 'InvalidDefinition', messageFor(problems));
    this.name = 'DefinitionError';
    this.problems = Object.freeze([...problems]);
  }
}

/** What is wrong, if a definition was refused with this; also by another copy of this package. */
export const problemsOf = (thrown: unknown): readonly DefinitionProblem[] | undefined =>
  hasBrand(thrown, DEFINITION_ERROR) ? (thrown as DefinitionError).problems : undefined;

function messageFor(problems: readonly DefinitionProblem[]): string {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  const lines = problems.map(({ code, message, hint }) => `  ${code}  ${message}: ${hint}`);
  return [`the definition has ${count}:`, ...lines].join('\n');
}
