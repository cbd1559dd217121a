import type { Variables } from './cache.ts';
import type { Progress } from './progress.ts';

/** What building and installing may use of the machine. */
export interface BuildContext {
  readonly cacheDirectory: string;
  readonly variables: Variables;
  readonly arch: string;
  readonly isRoot: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}
