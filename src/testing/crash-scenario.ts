import type { Clock } from '../base/clock.ts';
import type { KubeClient } from '../kube/client/kube-client.ts';
import type { Transport } from '../kube/transport/transport.ts';
import type { CrashFault } from './crash-faults.ts';
import type { Definition, ManagerSetup, TestEnv } from './test-env.ts';

/** What a scenario may use while it runs. */
export interface ScenarioWorld {
  /** The user of the controllers. */
  readonly client: KubeClient;
  readonly env: TestEnv;
  /** Lets time pass until the controllers have nothing left to write. */
  readonly converge: () => Promise<void>;
}

/** Something that a controller changes outside of the cluster: `{ verb: 'create', kind: 'machine', name: 'a-0' }`. */
export interface Effect {
  readonly verb: string;
  readonly kind: string;
  /** The role of the thing, the same in every run; never an identifier that somebody made up. */
  readonly name: string;
}

/**
 * One life of the program, as its controllers see it. What they do outside of the cluster must go through here: a call
 * that does not would survive the death of the process.
 */
export interface ScenarioLife {
  readonly clock: Clock;
  /** To the server with the rights of the controllers, without retries and without fence. */
  readonly transport: Transport;
  /**
   * A call that changes something outside of the cluster: a point like every write. `beforeSend` has its say again when
   * the process stood still before the call; throws when it is not to be made.
   */
  effect<T>(effect: Effect, act: () => Promise<T>, beforeSend?: () => void): Promise<T>;
  /** A call that only looks there. */
  look<T>(act: () => Promise<T>): Promise<T>;
}

/** One run of a scenario: the world outside the cluster lives here, across the lives of the program. */
export interface ScenarioInstance {
  /** For one life of the program; called again after each kill. */
  controllers(life: ScenarioLife): ManagerSetup['add'] | Promise<ManagerSetup['add']>;
  /** What users do. */
  act(world: ScenarioWorld): Promise<void>;
  /** What exists outside the cluster at the end; compared between runs. */
  inventory?(): unknown;
}

export type OutsideErrors = Partial<Record<CrashFault, () => Error>>;

export interface CrashScenario {
  readonly name: string;
  readonly kinds?: readonly Definition[];
  /** The controllers are meant to live with requests that the server forbids them. */
  readonly allowsForbidden?: boolean;
  /** Of the manager that runs the controllers. */
  readonly manager?: Pick<ManagerSetup, 'cache' | 'distinctNotes' | 'eventSource'>;
  /**
   * What is thrown by what is outside of the cluster when a fault makes it fail. Something that is unavailable for
   * `refused-503` and `lost-response` unless told otherwise; the other refusals strike there only when they are here.
   */
  readonly outsideErrors?: OutsideErrors;
  start(): ScenarioInstance;
}
