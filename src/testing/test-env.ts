import type { JsonObject } from '../api/json.ts';
import type { KubeObject } from '../api/object.ts';
import type { ApiServer, ApiServerOptions } from '../apiserver/options.ts';
import { startApiServer } from '../apiserver/start.ts';
import { VirtualClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { createLog, type Log, SILENT_LOG } from '../base/log.ts';
import { applyObject } from '../kube/apply/apply-object.ts';
import { NOT_SERVED } from '../kube/cache/reflector-failure.ts';
import { createClient } from '../kube/client/create-client.ts';
import type { KubeClient } from '../kube/client/kube-client.ts';
import { createRestMapper, type RestMapper } from '../kube/client/rest-mapper.ts';
import { type Addable, createManager, type Manager, type ManagerOptions } from '../kube/manager/create-manager.ts';
import { Activity } from '../kube/quiet/activity.ts';
import { VirtualTime } from '../kube/quiet/virtual-time.ts';
import {
  type AuditDifference,
  AuditLog,
  audited,
  compareWithRules,
  type ObservedRequest,
  type UnusedNeed,
} from '../kube/rbac/audit.ts';
import { roleFor } from '../kube/rbac/component-roles.ts';
import type { Need } from '../kube/rbac/need.ts';
import type { Transport } from '../kube/transport/transport.ts';
import { Faults } from './faults.ts';
import { ForbiddenRequests } from './forbidden-requests.ts';
import { RequestRecorder } from './recorder.ts';
import { WriteCircle } from './write-circle.ts';

/** Something that knows its CustomResourceDefinition: a kind made by `defineKind`. */
export interface Definition {
  toCRD(): KubeObject;
}

export interface TestEnvOptions {
  readonly kinds?: readonly Definition[];
  readonly crds?: readonly JsonObject[];
  /** Same seed, same identifiers and same faults. */
  readonly seed?: number;
  readonly start?: Date;
  readonly server?: Omit<ApiServerOptions, 'clock' | 'crds' | 'listen'>;
  /**
   * Where managers log. Unless told otherwise, errors go to stderr, so that a reconcile that fails is seen although the
   * test only learns that nothing happened; `SILENT_LOG` for tests that want failures.
   */
  readonly log?: Log;
  /**
   * A request that the server forbids a manager, because no controller declares the need, fails the test: at the next
   * `settle`, `advance` or `throughTime`, or when the environment ends. True for tests that want such answers.
   */
  readonly allowsForbidden?: boolean;
  /** How often the same write may be sent at one moment before `settle` rejects; 500 unless told otherwise. */
  readonly mostRepeats?: number;
}

export interface ManagerSetup extends Omit<ManagerOptions, 'kube' | 'name'> {
  readonly name?: string;
  /** Parts, or what makes them for the manager that they run in. */
  readonly add: readonly Addable[] | ((manager: Manager) => readonly Addable[]);
  /** Around the way to the server, nearest to the manager. */
  readonly wrap?: (transport: Transport) => Transport;
}

const HOME = 'default';
const MOST_REPEATS = 500;

/** What was asked of the server under one set of roles. */
interface Audited {
  readonly log: AuditLog;
  /** Undefined until a manager runs under this name. */
  readonly needs?: readonly Need[];
}

/**
 * An API server in this process on virtual time, and managers against it (T1, T2). Managers run as service accounts
 * whose roles are made from what their controllers declare, so a call without a right fails here and not in production.
 */
export class TestEnv implements AsyncDisposable {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  /** The administrator: for what users and the rest of the cluster do. Reads ask the server. */
  readonly client: KubeClient;
  /** What strikes the requests of managers. */
  readonly faults: Faults;
  /** The requests of managers. */
  readonly recorder = new RequestRecorder();
  readonly activity = new Activity();
  readonly #time: VirtualTime;
  readonly #log: Log;
  readonly #mapper: RestMapper;
  readonly #managers = new Map<Manager, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  readonly #audited = new Map<string, Audited>();
  readonly #forbidden = new ForbiddenRequests((manager) => this.#audited.get(manager)?.needs);
  readonly #allowsForbidden: boolean;

  private constructor(server: ApiServer, clock: VirtualClock, options: TestEnvOptions) {
    const { log = errorsOf(clock), allowsForbidden = false, mostRepeats = MOST_REPEATS } = options;
    this.server = server;
    this.clock = clock;
    this.#log = log;
    this.#allowsForbidden = allowsForbidden;
    this.faults = new Faults(clock);
    const isBusy = () => [...this.#managers.keys()].some((manager) => !manager.isIdle);
    const watchOver = () => new WriteCircle(this.recorder, mostRepeats);
    this.#time = new VirtualTime({ clock, activity: this.activity, isBusy, watchOver });
    const transport = this.activity.around(server.client());
    this.client = createClient({ transport, fieldManager: 'test', clock, log: SILENT_LOG });
    this.#mapper = createRestMapper(this.client, clock);
  }

  static async start(options: TestEnvOptions = {}): Promise<TestEnv> {
    const { kinds = [], crds = [], seed = 1, start = new Date('2026-01-01T00:00:00Z') } = options;
    const clock = new VirtualClock({ start, seed });
    const definitions = [...kinds.map((kind) => kind.toCRD()), ...crds] as readonly JsonObject[];
    const server = await startApiServer({
      storage: 'memory',
      ...options.server,
      listen: false,
      clock,
      crds: definitions,
    });
    return new TestEnv(server, clock, options);
  }

  /**
   * Starts a manager and waits until its sources have told everything; virtual time passes as needed. Rejects with the
   * names of kinds that are not installed.
   */
  async startManager(setup: ManagerSetup): Promise<Manager> {
    const manager = await this.addManager(setup);
    await this.throughTime(manager.whenReady()).catch((error: unknown) => {
      throw explained(error, manager);
    });
    await this.settle();
    return manager;
  }

  /** The same without waiting. */
  async addManager({ add, name = 'test-manager', wrap, ...rest }: ManagerSetup): Promise<Manager> {
    const audit = this.#auditOf(name);
    const transport = this.transportFor(name);
    const manager = createManager({
      clock: this.clock,
      log: this.#log,
      hostname: 'test-host',
      ...rest,
      name,
      kube: wrap === undefined ? transport : wrap(transport),
    });
    for (const part of typeof add === 'function' ? add(manager) : add) manager.add(part);
    await this.#grant(name, manager.needs);
    this.#audited.set(name, { log: audit, needs: manager.needs });
    const stop = new AbortController();
    const ended = manager.start(stop.signal).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'A manager ended');
    });
    this.#managers.set(manager, { stop, ended });
    return manager;
  }

  /** The way to the server as a service account, with faults, recorded and audited. */
  transportFor(name: string): Transport {
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${HOME}`];
    const bare = this.server.client(`system:serviceaccount:${HOME}:${name}`, groups);
    const log = this.#auditOf(name);
    const record = (request: ObservedRequest): void => {
      log.record(request);
      this.#forbidden.record(name, request);
    };
    return this.faults.around(this.activity.around(this.recorder.around(audited(bare, record))));
  }

  /**
   * Nothing moves any more and nothing is due now; time does not pass. Rejects when it never comes to rest, naming the
   * requests that are sent over and over, and when the server forbade a manager something.
   */
  settle(): Promise<void> {
    return this.#checked(this.#time.settle());
  }

  /** Lets time pass, as much as it takes up to an hour. Rejects like `settle`. */
  throughTime<T>(promise: Promise<T>): Promise<T> {
    return this.#checked(this.#time.through(promise));
  }

  /** Moves time on; everything that falls due meanwhile comes to rest before time goes on. Rejects like `settle`. */
  advance(ms: number): Promise<void> {
    return this.#checked(this.#time.advance(ms));
  }

  /** What is forbidden comes first: it is often why the rest went wrong. */
  async #checked<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      this.#throwForbidden();
    }
  }

  #throwForbidden(): void {
    if (!this.#allowsForbidden) this.#forbidden.throwIfAny();
  }

  /** What a manager's roles allow beyond what it used, and what it asked for beyond them: both empty when they fit. */
  rbacDifference(name = 'test-manager'): AuditDifference {
    const found = this.#audited.get(name);
    if (found?.needs === undefined) throw new Error(`no manager ${name} was started`);
    const { uncovered, unused } = compareWithRules(found.log.requests, { needs: found.needs });
    return { uncovered, unused: unused.filter((one) => !isAskedByAdmission(one)) };
  }

  /** Stops a manager in order. */
  async stopManager(manager: Manager): Promise<void> {
    const running = this.#managers.get(manager);
    if (running === undefined) return;
    running.stop.abort();
    await this.throughTime(running.ended);
    this.#managers.delete(manager);
  }

  /** Forgets a manager that is dead: nothing waits for it any more. */
  abandon(manager: Manager): void {
    this.#managers.delete(manager);
  }

  /** Ends everything. Rejects when the server forbade a manager something, and nobody was told of it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.faults.disarmAll();
    for (const { stop } of this.#managers.values()) stop.abort();
    for (const { ended } of this.#managers.values()) await this.#time.through(ended);
    this.#managers.clear();
    await this.#time.through(this.server.stop());
    this.#throwForbidden();
  }

  #auditOf(name: string): AuditLog {
    const found = this.#audited.get(name);
    if (found !== undefined) return found.log;
    const log = new AuditLog();
    this.#audited.set(name, { log });
    return log;
  }

  async #grant(name: string, needs: readonly Need[]): Promise<void> {
    for (const object of roleFor({ name, namespace: HOME, needs }))
      await applyObject({ client: this.client, mapper: this.#mapper }, object);
  }
}

const errorsOf = (clock: VirtualClock): Log =>
  createLog({ level: 'error', write: (line) => void process.stderr.write(line), now: () => clock.now() });

/** Asked for by an admission plugin when an owned object blocks the deletion of its owner; never requested. */
const isAskedByAdmission = ({ need, verb }: UnusedNeed): boolean =>
  verb === 'update' && need.resource.endsWith('/finalizers');

function explained(error: unknown, { cache }: Manager): unknown {
  const missing = cache.health.filter(({ problemReason }) => problemReason === NOT_SERVED);
  if (missing.length === 0) return error;
  const names = missing.map(({ resource }) => resource).join(', ');
  const what = `the server does not serve ${names}: give the kind to TestEnv.start in kinds, or its definition in crds`;
  return new Error(`${what} (${messageOf(error)})`, { cause: error });
}
