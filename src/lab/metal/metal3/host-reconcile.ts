import { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import { messageOf, SlipwayError } from '../../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { writeChanges } from '../core/write-changes.ts';
import type { BootedHost, HostPower } from '../host/host-power.ts';
import { hostHardwareId } from './bare-metal-hosts.ts';
import { bootedHost } from './host-boot.ts';
import {
  enteredStatus,
  failedStatus,
  type HostPace,
  type HostState,
  type HostStatus,
  isWanted,
  nextState,
  restMs,
  stateOf,
} from './host-states.ts';

const HOST_FINALIZER = 'baremetalhost.metal3.io';
const PAUSED_ANNOTATION = 'baremetalhost.metal3.io/paused';
const AGAIN_MS = 10_000;

/** What goes wrong with hosts, for tests and for whoever wants to see it. Asked again and again. */
export interface HostFaults {
  /** Why an image cannot be written to the host; undefined when it can. */
  readonly provisioningError?: (host: BareMetalHost) => string | undefined;
  /** The host stays in the state that it is in. */
  readonly isStuck?: (host: BareMetalHost) => boolean;
}

export interface HostParts {
  readonly hosts: HostPower;
  readonly pace: HostPace;
  readonly faults: HostFaults;
}

/** Takes hosts through their life: registered, inspected, prepared, provisioned, deprovisioned (S13, S15). */
export class HostReconciler implements Reconciler<BareMetalHost> {
  readonly #parts: HostParts;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  async reconcile(stored: BareMetalHost, context: ReconcileContext): Promise<Result> {
    if (Object.hasOwn(stored.metadata.annotations ?? {}, PAUSED_ANNOTATION)) return DONE;
    if (stored.metadata.deletionTimestamp !== undefined) return this.#delete(stored, context);
    const host = await context.client.addFinalizer(BareMetalHost, stored, HOST_FINALIZER);
    if (this.#parts.faults.isStuck?.(host) === true) return after(AGAIN_MS);
    const leftMs = restMs(host, this.#parts.pace, context.now());
    if (leftMs > 0) return after(leftMs);
    const next = nextState(host);
    return next === undefined ? this.#rest(host, context) : this.#enter(host, next, context);
  }

  /** Nothing is to be changed; a host that has an image is on, after a restart of whoever holds the switch too. */
  async #rest(host: BareMetalHost, context: ReconcileContext): Promise<Result> {
    if (stateOf(host) !== 'provisioned') return DONE;
    if (!isWanted(host)) {
      context.events.warning(
        host,
        'NotSimulated',
        'The lab cannot switch a host off without wiping it: it stays on',
      );
      return DONE;
    }
    await this.#parts.hosts.powerOn(await bootedHost(host, context.client));
    return DONE;
  }

  async #enter(host: BareMetalHost, state: HostState, context: ReconcileContext): Promise<Result> {
    if (state === 'provisioned') {
      const problem = await this.#switchOn(host, context);
      if (problem !== undefined) return this.#fail(host, problem, context);
    }
    if (state === 'deprovisioning') await this.#parts.hosts.wipe(hostHardwareId(host));
    await write(host, enteredStatus(host, state, context.now()), context);
    const told = { provisioned: 'Provisioned', available: 'Available', deprovisioning: 'Deprovisioning' };
    const reason = told[state as keyof typeof told];
    if (reason !== undefined) context.events.normal(host, reason, `The host is ${state}`);
    return DONE;
  }

  /** Why it did not work. */
  async #switchOn(host: BareMetalHost, { client }: ReconcileContext): Promise<string | undefined> {
    const problem = this.#parts.faults.provisioningError?.(host);
    if (problem !== undefined) return problem;
    let booted: BootedHost;
    try {
      booted = await bootedHost(host, client);
    } catch (error) {
      if (!(error instanceof SlipwayError)) throw error;
      return messageOf(error);
    }
    await this.#parts.hosts.powerOn(booted);
    return undefined;
  }

  async #fail(host: BareMetalHost, problem: string, context: ReconcileContext): Promise<Result> {
    if (host.status?.errorMessage !== problem) context.events.warning(host, 'ProvisioningError', problem);
    await write(host, failedStatus(host, problem), context);
    return after(AGAIN_MS);
  }

  /** A host that has an image is wiped before it is forgotten. */
  async #delete(host: BareMetalHost, { client }: ReconcileContext): Promise<Result> {
    if (host.metadata.finalizers?.includes(HOST_FINALIZER) !== true) return DONE;
    await this.#parts.hosts.wipe(hostHardwareId(host));
    await client.removeFinalizer(BareMetalHost, host, HOST_FINALIZER);
    return DONE;
  }
}

/** A type of error next to none would be a lie. */
async function write(host: BareMetalHost, status: HostStatus, { client }: ReconcileContext): Promise<void> {
  const { errorType, ...rest } = status;
  const isFailed = status.errorMessage !== '' && errorType !== undefined;
  await writeChanges(client, BareMetalHost, host, { status: isFailed ? { ...rest, errorType } : rest });
}
