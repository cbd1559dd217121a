import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { RunProgram } from './exec-process.ts';
import type { ReadFile } from './file-text.ts';
import type { OidcTokens } from './oidc-provider.ts';

/** The environment variables of the process, handed in from outside. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the reading of a configuration touches outside itself. */
export interface Surroundings {
  readonly env: Environment;
  readonly clock: Clock;
  readonly readFile: ReadFile;
  readonly isProgram: (path: string) => Promise<boolean>;
  readonly run: RunProgram;
  readonly isTerminal: boolean;
  readonly stderr: (text: string) => void;
  readonly onOidcTokens?: (tokens: OidcTokens) => Promise<void>;
}

/** Whether there is a file that may be run. */
export async function isProgramFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
