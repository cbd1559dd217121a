import type { Kind, KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import type { Log, LogFields, LogLevel } from '../../base/log.ts';
import type { Fence } from '../election/fence.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { type Controller, type ControllerForOptions, controllerFor } from './controller.ts';
import type { BoundController, ControllerEnvironment } from './controller-run.ts';
import { FakeCluster } from './fake-cluster.ts';
import { DONE, type ReconcileContext, type Result } from './reconcile.ts';

export const WIDGET: Kind = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  hasConditions: true,
};

export interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that keeps its lines. */
function keptLog(lines: Line[], base: LogFields = {}): Log {
  const at = (level: LogLevel) => (fields: LogFields, message: string) =>
    void lines.push({ level, message, fields: { ...base, ...fields } });
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: (fields) => keptLog(lines, { ...base, ...fields }),
  };
}

/** A fence that a test can close. */
class OpenFence implements Fence {
  isValid = true;
  token = '7';
}

export type Reconcile = (object: KubeObject, context: ReconcileContext) => Promise<Result> | Result;

/** A controller for widgets in a fake cluster, under a clock that stands still. */
export class Rig {
  readonly clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
  readonly metrics = new PrometheusMetrics();
  readonly fence = new OpenFence();
  readonly lines: Line[] = [];
  /** `Reason: note`. */
  readonly told: string[] = [];
  readonly cluster: FakeCluster;
  /** Keys and times of reconciles that were begun. */
  readonly runs: { readonly name: string; readonly atMs: number }[] = [];
  readonly stop = new AbortController();

  constructor(kind: Kind = WIDGET) {
    this.cluster = new FakeCluster(kind);
  }

  get environment(): ControllerEnvironment {
    const events: EventRecorder = {
      normal: () => undefined,
      warning: (_, reason, note) => void this.told.push(`${reason}: ${note}`),
    };
    const { clock, cluster, fence, metrics } = this;
    return {
      cache: cluster.cache,
      client: cluster.client(),
      clock,
      events,
      fence,
      log: keptLog(this.lines),
      metrics,
    };
  }

  widgets(reconcile: Reconcile, options: ControllerForOptions<KubeObject> = {}): Controller {
    return controllerFor(this.cluster.kind, options).reconcile({
      reconcile: async (object, context) => {
        this.runs.push({ name: object.metadata.name, atMs: this.clock.monotonicMs() });
        return await reconcile(object, context);
      },
    });
  }

  /** Runs every part until `stop` aborts; `ended` settles then. */
  start(controller: Controller): { readonly bound: BoundController; readonly ended: Promise<void> } {
    const bound = controller.bind(this.environment);
    const parts = bound.runnables.flatMap((part) => [
      part.run(this.stop.signal),
      part.ready?.(this.stop.signal) ?? Promise.resolve(),
    ]);
    const ended = Promise.all(parts).then(() => undefined);
    ended.catch(() => undefined);
    return { bound, ended };
  }

  /** The usual story: one widget, one reconciler, until everything that can happen now has happened. */
  async run(reconcile: Reconcile, options?: ControllerForOptions<KubeObject>) {
    const started = this.start(this.widgets(reconcile, options));
    await this.rest();
    return started;
  }

  /** Everything that needs no time has happened. */
  async rest(): Promise<void> {
    for (let turn = 0; turn < 8; turn++) await this.clock.advance(0);
  }

  async pass(ms: number): Promise<void> {
    await this.rest();
    await this.clock.advance(ms);
    await this.rest();
  }

  /** Lines above debug, as `level message`. */
  get said(): readonly string[] {
    return this.lines.filter(({ level }) => level !== 'debug').map(({ level, message }) => `${level} ${message}`);
  }

  /** The value of a series, such as `controller_runtime_reconcile_total{controller="widget",result="error"}`. */
  async metric(series: string): Promise<number | undefined> {
    const line = (await this.metrics.text()).split('\n').find((text) => text.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }
}

export const done: Reconcile = () => DONE;

/** Throws what the list says, then succeeds. */
export const failing = (...thrown: readonly unknown[]): Reconcile => {
  const left = [...thrown];
  return () => {
    // oxlint-disable-next-line typescript/only-throw-error -- reconcilers may throw anything (R7)
    if (left.length > 0) throw left.shift();
    return DONE;
  };
};
