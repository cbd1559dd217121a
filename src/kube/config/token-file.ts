import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import { type AuthorizationSource, bearer, tokenProblem } from './credential-parts.ts';
import { FileText, type ReadFile } from './file-text.ts';

export interface TokenFileOptions {
  readonly path: string;
  readonly readFile: ReadFile;
  readonly clock: Clock;
}

/** The token of a file's text: without the line break that editors leave. Throws when there is none. */
export function tokenOf(text: string): string {
  const token = text.trim();
  if (token === '') throw userError('EmptyToken', 'it is empty; a token is needed');
  const problem = tokenProblem(token);
  if (problem !== undefined) throw userError('InvalidToken', problem);
  return token;
}

/** A bearer token that others replace in its file: read again when older than 60 s or after a 401 (C3). */
export function tokenFileAuthorization({ path, readFile, clock }: TokenFileOptions): AuthorizationSource {
  const file = new FileText({ path, readFile, clock, what: 'token file', useful: tokenOf });
  return {
    authorization: async (signal) => bearer(await file.get(signal)),
    refresh: (refused) => {
      const isCurrent = file.current !== undefined && refused === bearer(file.current);
      if (refused === undefined || isCurrent) file.forget();
    },
  };
}
