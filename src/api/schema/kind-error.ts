/** One thing wrong at one field: `spec.ports[].port`. */
export interface FieldProblem {
  readonly path: string;
  readonly problem: string;
  /** What to write instead, where there is a way. */
  readonly hint?: string;
}

const problemText = ({ path, problem, hint }: FieldProblem): string =>
  `${path}: ${problem}${hint === undefined ? '' : ` (${hint})`}`;

/** A definition that no CustomResourceDefinition can say: thrown where the kind is defined, with every problem at once. */
export class KindDefinitionError extends Error {
  readonly problems: readonly FieldProblem[];

  constructor(kind: string, problems: readonly FieldProblem[]) {
    super(`kind ${kind} cannot be a CustomResourceDefinition: ${problems.map(problemText).join('; ')}`);
    this.name = 'KindDefinitionError';
    this.problems = problems;
  }
}

/** An object that is not what its kind says: thrown by `parse()`, with every field that is wrong. */
export class KindValueError extends Error {
  readonly problems: readonly FieldProblem[];

  constructor(kind: string, problems: readonly FieldProblem[]) {
    super(`not a valid ${kind}: ${problems.map(problemText).join('; ')}`);
    this.name = 'KindValueError';
    this.problems = problems;
  }
}
