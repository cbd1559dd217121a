import type { Clock } from '../../base/clock.ts';
import { dispositionOf, messageOf, retryError } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import { isLeadershipLost } from '../../kube/client/api-error.ts';
import { DONE, type ReconcileContext, type Result } from '../../kube/controller/reconcile.ts';
import { managementState } from '../operator/management-state.ts';
import { FailureWindow } from '../status/failure-window.ts';
import { type OperatorCondition, OperatorStatus, type StatusUpdate } from '../status/operator-status.ts';
import type { StatusSpeaker } from '../status/own-echo.ts';
import { failing, healthy, type SyncController } from './sync-conditions.ts';

export interface SyncReportOptions {
  /** Which of the two. */
  readonly controller: SyncController;
  /** Its name. */
  readonly clusterOperator: string;
  readonly clock: Clock;
  /** Failures that are so far apart have nothing to do with each other (R60); never unless told otherwise. */
  readonly staleMs?: number;
}

/** Failures that may pass by themselves are told when they last so long (R59). */
const THRESHOLD_MS = 120_000;

/** Tells the cluster how a controller of this program does, and lets failures pass that may pass (R58). */
export class SyncReport implements StatusSpeaker {
  readonly #options: SyncReportOptions;
  readonly #window: FailureWindow;
  #sent: StatusUpdate | undefined;

  constructor(options: SyncReportOptions) {
    const { staleMs } = options;
    this.#options = options;
    this.#window = new FailureWindow({ thresholdMs: THRESHOLD_MS, ...(staleMs !== undefined && { staleMs }) });
  }

  /** For whoever has to know its own words again: what was sent last, whichever run it was. */
  get sent(): StatusUpdate | undefined {
    return this.#sent;
  }

  /**
   * Does the work and reports how it went. What only an edit helps with is told at once and not tried again. Nothing
   * happens while an administrator has paused the operator (D3).
   */
  async around(context: ReconcileContext, sync: () => Promise<Result>): Promise<Result> {
    try {
      if (managementState(await this.#status(context).read()).state !== 'Managed') return DONE;
      const result = await sync();
      // Never versions: the new one is there when the operands are (R57).
      await this.#say(context, healthy(this.#options.controller));
      this.#window.succeeded();
      return result;
    } catch (error) {
      // Whoever leads now does the work, and tells of it.
      if (isLeadershipLost(error)) throw error;
      return await this.#failed(context, error);
    }
  }

  async #failed(context: ReconcileContext, error: unknown): Promise<Result> {
    const problem = redactedText(messageOf(error));
    const disposition = dispositionOf(error);
    if (disposition === 'user' || disposition === 'terminal') {
      context.log.changed('problem', problem, 'Waiting for an edit', { problem });
      await this.#degrade(context, problem);
      return DONE;
    }
    if (this.#window.failed(this.#options.clock.monotonicMs())) await this.#degrade(context, problem);
    throw error;
  }

  async #degrade(context: ReconcileContext, problem: string): Promise<void> {
    try {
      await this.#say(context, failing(this.#options.controller, problem));
    } catch (cause) {
      if (isLeadershipLost(cause)) throw cause;
      throw retryError('StatusNotWritten', `failed to set degraded condition: ${messageOf(cause)}`, { cause });
    }
  }

  async #say(context: ReconcileContext, conditions: readonly OperatorCondition[]): Promise<void> {
    this.#sent = { conditions };
    await this.#status(context).write(this.#sent);
  }

  /** Of this run, whose client may read from the server where a cache is not to be trusted. */
  #status({ client }: ReconcileContext): OperatorStatus {
    const { clusterOperator: name, clock } = this.#options;
    return new OperatorStatus({ client, name, fieldManager: client.fieldManager, clock });
  }
}
