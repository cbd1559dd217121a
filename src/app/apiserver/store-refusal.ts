import { SlipwayError } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';

/** A store that cannot be opened is a matter of the environment: exit 3, nothing changed (reliability P4, P8). */
export async function refusingDamage<Value>(open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    if (
      error instanceof SlipwayError &&
      (error.reason.startsWith('Store') || error.reason === 'DataDirectoryUnusable')
    ) {
      throw new CommandError('SW1104', 3, error.message, error);
    }
    throw error;
  }
}
