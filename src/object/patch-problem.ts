/**
 * Why a patch cannot be applied; the kind says which answer it is: `malformed` 400, `too-large` 413, `unprocessable`
 * 422 (upstream sends the client a general sentence, E24), `internal` 500 for what upstream does not expect.
 */
export type PatchProblemKind = 'malformed' | 'too-large' | 'unprocessable' | 'internal';

export class PatchProblem extends Error {
  readonly kind: PatchProblemKind;

  constructor(kind: PatchProblemKind, message: string) {
    super(message);
    this.name = 'PatchProblem';
    this.kind = kind;
  }
}
