import { SlipwayError } from '../../base/errors.ts';
import { CommandError, type FailureCode } from '../failures.ts';

/** A store that cannot be opened is a matter of the environment: exit 3, nothing changed (reliability P4, P8). */
export async function refusingDamage<Value>(open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}

/** What the user is told when the API server cannot be opened; undefined for what nobody foresaw. */
export function refusalOf(error: unknown): CommandError | undefined {
  const code = error instanceof SlipwayError ? codeOf(error.reason) : undefined;
  return error instanceof SlipwayError && code !== undefined
    ? new CommandError(code, 3, error.message, error)
    : undefined;
}

function codeOf(reason: string): FailureCode | undefined {
  if (Object.hasOwn(CODES, reason)) return CODES[reason];
  return reason.startsWith('Store') ? 'SW1104' : undefined;
}

const CODES: Readonly<Record<string, FailureCode>> = {
  DataFolderUnusable: 'SW1103',
  IdentityUnusable: 'SW1107',
  StoreMissing: 'SW1106',
  StoreNotDamaged: 'SW1106',
};
