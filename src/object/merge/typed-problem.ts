/** Why a value does not fit its type, with the path to it. */
export interface Misfit {
  readonly path: string;
  readonly message: string;
}

/** A value that ownership cannot be worked out for; upstream answers 500, we 400 (S8). */
export class TypedProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TypedProblem';
  }

  /** The same problem, with what was being done. */
  within(doing: string): TypedProblem {
    return new TypedProblem(`${doing}: ${this.message}`);
  }
}

/** An object that cannot be had in another version. Nobody's request is wrong then: this is a 500 (X34). */
export class ConversionProblem extends TypedProblem {
  constructor(message: string) {
    super(message);
    this.name = 'ConversionProblem';
  }

  override within(doing: string): ConversionProblem {
    return new ConversionProblem(`${doing}: ${this.message}`);
  }
}

const lineOf = ({ path, message }: Misfit): string => (path === '' ? message : `${path}: ${message}`);

/** One problem in one line, several as a list. */
export const misfitsText = (misfits: readonly Misfit[]): string => {
  const [only, ...others] = misfits;
  if (only !== undefined && others.length === 0) return lineOf(only);
  return ['errors:', ...misfits.map((misfit) => `  ${lineOf(misfit)}`)].join('\n');
};
