import type { CallContext } from './call.ts';

/** How zones of the cloud behave. */
export interface ZonesFacts {
  /** Whether machines and volumes of one zone can be used from another. */
  readonly isolated: boolean;
}

/** One failure domain. */
export interface Zone {
  readonly name: string;
  readonly region: string;
  readonly isAvailable: boolean;
}

/** Failure domains of the cloud. */
export interface Zones<C extends CallContext = CallContext> {
  declare(): ZonesFacts;
  list(call: C): Promise<readonly Zone[]>;
}
