import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Tracer } from '../metrics/tracing.ts';
import type { Ways } from './ways.ts';

/** What all parts of a manager share. */
export interface ManagerContext {
  readonly name: string;
  readonly hostname: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly config: RuntimeConfig;
  readonly ways: Ways;
  readonly tracer?: Tracer;
}
