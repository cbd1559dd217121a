import { SystemClock } from '../../src/base/clock.ts';

/** The host's clock; deadlines that are computed from it are nearer by `hasteMs` than they are told. */
export class HastyClock extends SystemClock {
  hasteMs = 0;

  override now(): Date {
    return new Date(super.now().getTime() - this.hasteMs);
  }
}
