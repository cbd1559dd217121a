import { ClusterRole, ClusterRoleBinding } from '../../api/generated/rbac-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import { createCache } from '../../kube/cache/create-cache.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { createManager, type Manager } from '../../kube/manager/create-manager.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { retrying } from '../../kube/transport/retrying.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { ApiLink } from '../node/registration/api-link.ts';
import { binding, roleName, standInRole, subjectOf } from './stand-in-roles.ts';

/** One controller of Kubernetes that the lab brings, and whom it acts as (A4, A5). */
export interface StandIn {
  /** What `replace` calls it. */
  readonly name: string;
  readonly user: string;
  readonly groups: readonly string[];
  /** What the real one calls itself, in events and as user agent, where that is not the last part of `user`. */
  readonly reporter?: string;
  readonly controllers: () => readonly Controller[];
}

export interface WorkloadsOptions {
  readonly standIns: readonly StandIn[];
  /** Of an administrator, who gives each of them its rights; without one they have them already. */
  readonly admin?: KubeClient;
  readonly transportAs: (user: string, groups: readonly string[]) => Transport;
  readonly clock: Clock;
  readonly log: Log;
}

/** The controllers of one cluster, running. Disposing ends them all. */
export interface Workloads extends AsyncDisposable {
  /** No controller has work left. */
  readonly isIdle: boolean;
  readonly cache: Cache;
  readonly standIns: readonly StandIn[];
  /**
   * Those of a user die at once: nothing they still do reaches the server. Resolves when others in their place have seen
   * what there is (B3).
   */
  crash(users: ReadonlySet<string>): Promise<void>;
}

/** Field managers are `slipway/lab/<controller>` (A5). */
const FIELD_MANAGER = 'slipway/lab';
/** Reads for all: what one controller writes, the others see at once. */
const READER = { user: 'system:kube-controller-manager', groups: ['system:masters'] };

/** Starts the controllers over one cache, and waits until each has seen what there is. */
export async function startWorkloads(options: WorkloadsOptions): Promise<Workloads> {
  const { transportAs, clock, log } = options;
  const reading = retrying(transportAs(READER.user, READER.groups), { clock });
  const reader = createClient({ transport: reading, fieldManager: FIELD_MANAGER, clock, log });
  const cache = createCache({ live: reader.live, clock, log });
  const stop = new AbortController();
  const workloads = new LiveWorkloads({ ...options, cache }, stop);
  const { admin } = options;
  if (admin !== undefined)
    await Promise.all(workloads.lives.map(({ standIn, manager }) => grant(admin, standIn, manager.needs)));
  workloads.start(cache.run(stop.signal));
  try {
    await Promise.all(workloads.lives.map(({ manager }) => manager.whenReady()));
  } catch (error) {
    await workloads[Symbol.asyncDispose]();
    throw error;
  }
  return workloads;
}

/** One life of a controller. */
interface Life {
  readonly standIn: StandIn;
  readonly link: ApiLink;
  readonly manager: Manager;
  readonly stop: AbortController;
}

class LiveWorkloads implements Workloads {
  readonly cache: Cache;
  readonly standIns: readonly StandIn[];
  readonly #shared: Shared;
  readonly #stop: AbortController;
  /** Of those that live; nobody waits for the dead, who may wait for a time that does not come any more. */
  readonly #running = new Map<Life, Promise<void>>();
  #reading: Promise<void> = Promise.resolve();
  #isStopping = false;
  #lives: readonly Life[];

  constructor(shared: WorkloadsOptions & Shared, stop: AbortController) {
    this.cache = shared.cache;
    this.standIns = shared.standIns;
    this.#shared = shared;
    this.#stop = stop;
    this.#lives = shared.standIns.map((standIn) => this.#life(standIn));
  }

  get lives(): readonly Life[] {
    return this.#lives;
  }

  get isIdle(): boolean {
    return this.#lives.every(({ manager }) => manager.isIdle);
  }

  /** Once. */
  start(reading: Promise<void>): void {
    this.#reading = reading.catch(() => {});
    for (const life of this.#lives) this.#begin(life);
  }

  async crash(users: ReadonlySet<string>): Promise<void> {
    const dead = this.#lives.filter(({ standIn }) => users.has(standIn.user));
    for (const life of dead) {
      life.link.partition(true);
      this.#running.delete(life);
    }
    const next = new Map(dead.map((life) => [life, this.#life(life.standIn)]));
    this.#lives = this.#lives.map((life) => next.get(life) ?? life);
    for (const life of dead) life.stop.abort(new Error('it was killed'));
    // Whoever told of the last write of the dead gets to its end first.
    await Promise.resolve();
    if (this.#isStopping) return;
    for (const life of next.values()) this.#begin(life);
    await Promise.all([...next.values()].map(({ manager }) => manager.whenReady()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    for (const { stop } of this.#lives) stop.abort();
    // Whoever is in the middle of something may wait for the cache to show what he wrote.
    await Promise.all(this.#running.values());
    this.#stop.abort();
    await this.#reading;
  }

  #life(standIn: StandIn): Life {
    const { transportAs } = this.#shared;
    const { user, groups } = standIn;
    const link = new ApiLink(transportAs(user, groups), `${user}, which was killed,`);
    const manager = managerOf(standIn, link.transport, this.#shared);
    return { standIn, link, manager, stop: new AbortController() };
  }

  #begin(life: Life): void {
    const ended = life.manager.start(life.stop.signal).catch(() => {});
    this.#running.set(life, ended);
  }
}

/** Field managers that give rights are those of the lab: another lab may have given the same before. */
async function grant(admin: KubeClient, { user }: StandIn, needs: readonly Need[]): Promise<void> {
  const name = roleName(user);
  await admin.apply(ClusterRole, standInRole(user, needs), { force: true });
  await admin.apply(ClusterRoleBinding, binding(name, name, subjectOf(user)), { force: true });
}

interface Shared extends Omit<WorkloadsOptions, 'standIns'> {
  readonly cache: Cache;
}

function managerOf(standIn: StandIn, transport: Transport, { cache, clock, log }: Shared): Manager {
  const { user, reporter, controllers } = standIn;
  const manager = createManager({
    kube: transport,
    name: reporter ?? user.slice(user.lastIndexOf(':') + 1),
    fieldManager: FIELD_MANAGER,
    hostname: 'lab',
    clock,
    log,
    sharedCache: cache,
    distinctNotes: true,
    // Its rights were given right before.
    selfCheck: false,
  });
  for (const controller of controllers()) manager.add(controller);
  return manager;
}
