import type { Clock } from '../base/clock.ts';
import type { Manager } from '../kube/manager/create-manager.ts';
import type { TransportRequest, TransportResponse } from '../kube/transport/transport.ts';
import type { Effect, ScenarioLife } from './crash-scenario.ts';
import { HeldStreams } from './held-streams.ts';
import { Realm } from './realm.ts';

/** What a life does to the world, for the run that strikes it. */
export interface LifeSink {
  send(life: CrashLife, request: TransportRequest): Promise<TransportResponse>;
  effect<T>(life: CrashLife, effect: Effect, act: () => Promise<T>): Promise<T>;
  look<T>(life: CrashLife, act: () => Promise<T>): Promise<T>;
}

/** One life of the program in a run. */
export class CrashLife implements ScenarioLife {
  /** Of the process that it would be. */
  readonly hostname: string;
  readonly realm: Realm;
  readonly held = new HeldStreams();
  manager: Manager | undefined;
  readonly #sink: LifeSink;

  constructor(hostname: string, clock: Clock, sink: LifeSink) {
    this.hostname = hostname;
    this.#sink = sink;
    this.realm = new Realm(
      this.held.around((request) => sink.send(this, request)),
      clock,
    );
  }

  get clock(): Clock {
    return this.realm.clock;
  }

  get transport() {
    return this.realm.transport;
  }

  effect<T>(effect: Effect, act: () => Promise<T>, beforeSend?: () => void): Promise<T> {
    return this.realm.outside(() => this.#sink.effect(this, effect, act), beforeSend);
  }

  look<T>(act: () => Promise<T>): Promise<T> {
    return this.realm.outside(() => this.#sink.look(this, act));
  }
}
