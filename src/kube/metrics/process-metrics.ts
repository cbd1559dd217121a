import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from './metrics.ts';

/** How late the event loop was, in nanoseconds, since the last reset. */
export interface LoopDelay {
  readonly max: number;
  enable(): unknown;
  disable(): unknown;
  reset(): void;
}

export interface ProcessUsage {
  readonly heapUsedBytes: number;
  readonly heapLimitBytes: number;
  readonly residentBytes: number;
  readonly cpuSeconds: number;
}

export interface ProcessMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Tests bring their own numbers. */
  readonly delay?: LoopDelay;
  readonly usage?: () => ProcessUsage;
}

const LOOK_MS = 1000;
const RESOLUTION_MS = 50;
const LAG_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const HEAP_WARNING = 0.85;
const HEAP_RELIEF = 0.75;

/** What this process itself is like: lag of its event loop, heap, memory and processor (M10). Runs until the signal. */
export async function watchProcess(options: ProcessMetricsOptions, signal: AbortSignal): Promise<void> {
  const { metrics, clock, log, usage = processUsage } = options;
  const delay = options.delay ?? monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const lag = metrics.histogram({
    name: 'slipway_event_loop_lag_seconds',
    help: 'The longest delay of the event loop in each second.',
    buckets: LAG_BUCKETS,
  });
  using _gauges = usageGauges(metrics, clock, usage);
  const warnOfHeap = heapWarning(log);
  delay.enable();
  try {
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal).catch(() => undefined);
      lag.observe({}, Math.max(0, delay.max) / 1e9);
      delay.reset();
      warnOfHeap(usage());
    }
  } finally {
    delay.disable();
  }
}

/** Warns once when the heap gets full, and again only after it was emptier. */
function heapWarning(log: Log): (usage: ProcessUsage) => void {
  let hasWarned = false;
  return ({ heapUsedBytes, heapLimitBytes }) => {
    const share = heapUsedBytes / heapLimitBytes;
    if (share >= HEAP_WARNING && !hasWarned) {
      log.warn({ heapUsedBytes, heapLimitBytes }, 'The heap is nearly full; raise --max-old-space-size');
      hasWarned = true;
    }
    if (share < HEAP_RELIEF) hasWarned = false;
  };
}

function usageGauges(metrics: Metrics, clock: Clock, usage: () => ProcessUsage): Disposable {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help });
  const heap = gauge('slipway_heap_used_bytes', 'Heap in use.');
  const limit = gauge('slipway_heap_limit_bytes', 'The heap cannot grow beyond this.');
  const resident = gauge('process_resident_memory_bytes', 'Resident memory.');
  const started = gauge('process_start_time_seconds', 'When the process began, in seconds since 1970.');
  const cpu = metrics.counter({ name: 'process_cpu_seconds_total', help: 'Processor time used.' });
  let cpuSeconds = 0;
  started.set({}, Math.round(clock.now().getTime() / 1000));
  return metrics.onScrape(() => {
    const now = usage();
    heap.set({}, now.heapUsedBytes);
    limit.set({}, now.heapLimitBytes);
    resident.set({}, now.residentBytes);
    cpu.add({}, Math.max(0, now.cpuSeconds - cpuSeconds));
    cpuSeconds = now.cpuSeconds;
  });
}

function processUsage(): ProcessUsage {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  const { user, system } = process.cpuUsage();
  return {
    heapUsedBytes: used_heap_size,
    heapLimitBytes: heap_size_limit,
    residentBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1e6,
  };
}
