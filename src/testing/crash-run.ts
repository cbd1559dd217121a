import { Event } from '../api/generated/events-v1.ts';
import { messageOf, retryError } from '../base/errors.ts';
import { NetworkError } from '../kube/client/api-error.ts';
import { requestAttributes } from '../kube/rbac/request-attributes.ts';
import type { Transport, TransportRequest, TransportResponse } from '../kube/transport/transport.ts';
import { ConditionWatch, failedObjects } from './condition-watch.ts';
import { type CrashFault, OUTSIDE, REFUSALS } from './crash-faults.ts';
import { CrashLife, type LifeSink } from './crash-life.ts';
import { isAside, PointCounter, roleOf, withoutOrdinal, writeIn } from './crash-point.ts';
import type { CrashScenario, Effect, ScenarioInstance } from './crash-scenario.ts';
import { struck } from './faults.ts';
import { KeptErrors } from './kept-errors.ts';
import { leaseProblem } from './lease-watch.ts';
import { grouped } from './recorder.ts';
import { TestEnv } from './test-env.ts';
import { type World, worldOf } from './world.ts';

const STEP_MS = 5_000;
/** So long without a write: nothing is left to do. Longer than every back-off that a single fault can cause. */
const QUIET_MS = 60_000;
const LONGEST_MS = 30 * 60_000;
const LEASE_MS = 15_000;
/** Events come so late, and reading fails so long: some retries happen meanwhile. */
const TROUBLE_MS = 5_000;
/** Or events come after so many further writes, some three reconciles: a stale cache may make a controller spin. */
const MOST_STALE_WRITES = 6;
/** No scenario needs as many: somebody writes without end, and maybe without time passing. */
const MOST_WRITES = 300;
const MOST_LIVES = 4;
const PROGRAM = 'scenario';
const NAMESPACE = 'default';

export interface CrashTarget {
  readonly point: string;
  readonly fault: CrashFault;
}

/** A write of a life, at the moment at which it would be made. */
interface Call<T> {
  readonly point: string;
  make(): Promise<T>;
  refuse(fault: CrashFault): Promise<T>;
  /** The error of a caller that does not learn what happened. */
  lost(): Error;
  /** Whose events tell of it. */
  readonly resource?: string;
}

interface RunParts {
  readonly target: CrashTarget | undefined;
  readonly errors: KeptErrors;
}

/** One run of a scenario with at most one fault. */
export class CrashRun implements AsyncDisposable {
  readonly points: string[] = [];
  readonly #env: TestEnv;
  readonly #errors: KeptErrors;
  readonly #scenario: CrashScenario;
  readonly #instance: ScenarioInstance;
  readonly #since: number;
  readonly #bare: Transport;
  readonly #conditions: ConditionWatch;
  readonly #lives: CrashLife[] = [];
  readonly #counter = new PointCounter();
  readonly #problems = new Set<string>();
  #target: CrashTarget | undefined;
  /** Kill again at the next write, whatever it is. */
  #isSecondKillArmed = false;
  #struck: CrashTarget | undefined;
  #troubleEndsMs = 0;
  #staleWrites = 0;

  private constructor(env: TestEnv, scenario: CrashScenario, { target, errors }: RunParts) {
    this.#env = env;
    this.#errors = errors;
    this.#scenario = scenario;
    this.#instance = scenario.start();
    this.#target = target;
    this.#since = env.server.store.revision;
    this.#bare = env.transportFor(PROGRAM);
    this.#conditions = new ConditionWatch(env.server.store);
  }

  static async start(scenario: CrashScenario, seed: number, target?: CrashTarget): Promise<CrashRun> {
    const { kinds = [], allowsForbidden = false } = scenario;
    const errors = new KeptErrors();
    const env = await TestEnv.start({ kinds, seed, allowsForbidden, log: errors.log });
    return new CrashRun(env, scenario, { target, errors });
  }

  /** What went wrong, apart from how the world looks. */
  async play(): Promise<readonly string[]> {
    const wanted = this.#target;
    try {
      await this.#begin();
      await this.#instance.act({ client: this.#env.client, env: this.#env, converge: () => this.#converge() });
      await this.#converge();
    } catch (thrown) {
      this.#problems.add(messageOf(thrown));
    }
    if (wanted !== undefined && this.#struck === undefined)
      this.#problems.add(`no write ${wanted.point} was made in this run`);
    for (const { realm, hostname } of this.#lives) {
      if (realm.callsAfterDeath > 0) this.#problems.add(`${hostname} called after its death`);
    }
    return [...this.#problems, ...this.#conditions.problems];
  }

  world(): World {
    return worldOf(this.#env.server.store, this.#since);
  }

  /** Objects that end with a failure of their controller, and what it logged. */
  failed(): readonly string[] {
    const objects = failedObjects(this.#env.server.store, this.#since);
    return objects.length === 0 ? [] : [...objects, ...this.#errors.lines];
  }

  inventory(): string {
    return JSON.stringify(this.#instance.inventory?.() ?? null);
  }

  async warnings(): Promise<number> {
    const { items } = await this.#env.client.live.list(Event);
    return items.filter(({ type }) => type === 'Warning').length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#conditions[Symbol.dispose]();
    for (const life of this.#lives) this.#kill(life);
    await this.#env[Symbol.asyncDispose]();
  }

  /** A life of the program; each has a name of its own, as the next pod has, but the same rights. */
  async #begin(): Promise<void> {
    if (this.#lives.length >= MOST_LIVES) throw new Error(`the program was started ${MOST_LIVES} times`);
    const sink: LifeSink = {
      send: (from, request) => this.#send(from, request),
      effect: (from, effect, act) => this.#effect(from, effect, act),
      look: (_from, act) => this.#look(act),
    };
    const life = new CrashLife(`life-${this.#lives.length}`, this.#env.clock, sink);
    this.#lives.push(life);
    life.manager = await this.#env.addManager({
      name: PROGRAM,
      hostname: life.hostname,
      ...this.#scenario.manager,
      add: await this.#instance.controllers(life),
      clock: life.clock,
      wrap: () => life.transport,
      leaderElection: { id: PROGRAM, namespace: NAMESPACE, leaseMs: LEASE_MS },
    });
  }

  async #send(life: CrashLife, request: TransportRequest): Promise<TransportResponse> {
    const write = writeIn(request);
    if (write === undefined)
      return this.#isBlindFor(request) ? this.#refusal('refused-503', request) : this.#bare(request);
    return this.#write(life, {
      point: this.#counter.next(write.role),
      make: () => this.#bare(request),
      refuse: (fault) => this.#refusal(fault, request),
      lost: () =>
        new NetworkError('connection reset after the request was sent (injected)', { mayHaveHappened: true }),
      resource: write.resource,
    });
  }

  #effect<T>(life: CrashLife, effect: Effect, act: () => Promise<T>): Promise<T> {
    return this.#write(life, {
      point: this.#counter.next(roleOf(effect)),
      make: act,
      refuse: (fault) =>
        Promise.reject(this.#outsideError(fault) ?? retryError('Unavailable', 'refused (injected)')),
      lost: () =>
        this.#outsideError('lost-response') ??
        retryError('Unavailable', 'connection reset after the request was sent (injected)'),
    });
  }

  #outsideError(fault: CrashFault): Error | undefined {
    return this.#scenario.outsideErrors?.[fault]?.();
  }

  async #look<T>(act: () => Promise<T>): Promise<T> {
    if (this.#blindness === 'outside') throw retryError('Unavailable', 'the read failed (injected)');
    return act();
  }

  async #write<T>(life: CrashLife, call: Call<T>): Promise<T> {
    const { point } = call;
    this.points.push(point);
    if (++this.#staleWrites > MOST_STALE_WRITES) life.held.releaseAll();
    if (this.points.length > MOST_WRITES) return this.#killed(life);
    const { clock, server } = this.#env;
    const why = leaseProblem(server.store, `${NAMESPACE}/${PROGRAM}`, life.hostname, clock);
    if (why !== undefined) this.#problems.add(`${life.hostname} made the write ${point} ${why}`);
    const fault = this.#takeFault(point);
    if (fault === undefined) return call.make();
    if (REFUSALS[fault] !== undefined) return call.refuse(fault);
    if (fault === 'kill-before') return this.#killed(life);
    if (fault === 'stale-cache' || fault === 'lost-and-stale') this.#holdEvents(life, call.resource);
    const answer = await call.make();
    if (fault === 'duplicate') return call.make();
    if (fault === 'lost-response' || fault === 'lost-and-stale') throw call.lost();
    this.#afterwards(fault, life);
    return answer;
  }

  #afterwards(fault: CrashFault, life: CrashLife): void {
    if (fault === 'kill-after' || fault === 'kill-twice') this.#kill(life);
    if (fault === 'failing-reads') this.#troubleEndsMs = this.#env.clock.monotonicMs() + TROUBLE_MS;
    if (fault !== 'zombie' && fault !== 'pause') return;
    life.realm.freeze();
    // It has work and cannot do it: nobody waits for it.
    if (life.manager !== undefined) this.#env.abandon(life.manager);
  }

  #kill({ realm, manager }: CrashLife): void {
    realm.kill();
    if (manager !== undefined) this.#env.abandon(manager);
  }

  /** What the dead hear. */
  #killed(life: CrashLife): Promise<never> {
    this.#kill(life);
    return new Promise<never>(() => {});
  }

  #holdEvents(life: CrashLife, resource: string | undefined): void {
    if (resource === undefined) return;
    life.held.hold(resource);
    this.#staleWrites = 0;
    this.#troubleEndsMs = this.#env.clock.monotonicMs() + TROUBLE_MS;
  }

  /** What cannot be read now: one of the two, so that somebody who knows only the other half may draw conclusions. */
  get #blindness(): 'cluster' | 'outside' | undefined {
    if (this.#struck?.fault !== 'failing-reads') return undefined;
    if (this.#env.clock.monotonicMs() >= this.#troubleEndsMs) return undefined;
    return this.#struck.point.includes(`|${OUTSIDE}`) ? 'outside' : 'cluster';
  }

  #isBlindFor({ method, target, isStream }: TransportRequest): boolean {
    return (
      this.#blindness === 'cluster' && isStream !== true && !isAside(requestAttributes(method, target).resource)
    );
  }

  #refusal(fault: CrashFault, request: TransportRequest): Promise<TransportResponse> {
    const { status = 503, reason = 'ServiceUnavailable', ...rest } = REFUSALS[fault] ?? {};
    return struck({ kind: 'refuse', status, reason, ...rest }, this.#bare, request, this.#env.clock);
  }

  #takeFault(point: string): CrashFault | undefined {
    if (this.#isSecondKillArmed) {
      this.#isSecondKillArmed = false;
      return 'kill-after';
    }
    const target = this.#target;
    if (target?.point !== point) return undefined;
    this.#target = undefined;
    this.#struck = target;
    this.#isSecondKillArmed = target.fault === 'kill-twice';
    return target.fault;
  }

  /** Lets time pass until nothing was written for a while; the dead are replaced, the frozen thawed. */
  async #converge(): Promise<void> {
    let writes = this.points.length;
    for (let elapsedMs = 0, quietMs = 0; quietMs < QUIET_MS; elapsedMs += STEP_MS) {
      if (elapsedMs > LONGEST_MS || this.points.length > MOST_WRITES)
        throw new Error(
          `the controllers do not come to rest after ${this.points.length} writes: ${grouped(this.points.map(withoutOrdinal), 5)}`,
        );
      await this.#env.advance(STEP_MS);
      const hasChanged = await this.#tend();
      quietMs = hasChanged || this.points.length !== writes ? 0 : quietMs + STEP_MS;
      writes = this.points.length;
    }
  }

  /** Whether something was done about the lives. */
  async #tend(): Promise<boolean> {
    const life = this.#lives.at(-1);
    if (life === undefined) return false;
    if (life.realm.isDead) {
      await this.#begin();
      return true;
    }
    if (this.#env.clock.monotonicMs() >= this.#troubleEndsMs) life.held.releaseAll();
    return life.realm.isFrozen ? this.#wake(life) : false;
  }

  async #wake(life: CrashLife): Promise<boolean> {
    const isZombie = this.#struck?.fault === 'zombie';
    if (isZombie) await this.#begin();
    // Until the lease is over, and whoever takes it has finished.
    await this.#env.advance(4 * LEASE_MS);
    life.realm.thaw();
    await this.#env.settle();
    // Who lost the lease ends, and is started again.
    if (!isZombie) await this.#begin();
    return true;
  }
}
