import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/api/json.ts';
import type { ApiServer } from '../../../src/apiserver/options.ts';
import { startApiServer } from '../../../src/apiserver/start.ts';
import { SystemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { createClient } from '../../../src/kube/client/create-client.ts';
import { leaseProblem } from '../../../src/testing/lease-watch.ts';
import { type World, worldOf } from '../../../src/testing/world.ts';
import { Box } from './box-kind.ts';
import { Cloud } from './cloud.ts';
import { LEASE, type RealLifeOptions } from './real-life-options.ts';
import { Relay, type RelayTarget } from './relay.ts';
import { STORIES, type StoryName } from './stories.ts';

const PROGRAM = fileURLToPath(new URL('./real-life.ts', import.meta.url));
const QUIET_MS = 1500;
const LONGEST_MS = 60_000;

export interface RealPlan {
  readonly name: string;
  readonly story: StoryName;
}

export interface RealOutcome {
  readonly world: World;
  readonly inventory: string;
  readonly points: readonly string[];
  /** How often the program was started. */
  readonly lives: number;
}

/** One run of a story before controllers in a process of their own, which dies at the target. */
export async function realRun(plan: RealPlan, target?: RelayTarget): Promise<RealOutcome> {
  await using server = await startApiServer({
    storage: 'memory',
    listen: false,
    crds: [Box.toCRD() as unknown as JsonObject],
  });
  const cloud = new Cloud();
  const since = server.store.revision;
  await using program = new Program(plan.name, server);
  await using relay = new Relay({ api: server.client(), cloud, target, kill: () => program.kill() });
  program.url = await relay.start();
  const converge = () => program.converged(relay);
  const clock = new SystemClock();
  const log = createLog({ level: 'error', write: () => {}, now: () => clock.now() });
  const client = createClient({ transport: server.client(), fieldManager: 'user', clock, log });
  await converge();
  await STORIES[plan.story]({ client, converge, settle: () => sleep(QUIET_MS) });
  await converge();
  if (relay.isArmed) throw new Error(`no write ${target?.point} was made in this run`);
  return {
    world: worldOf(server.store, since),
    inventory: JSON.stringify(cloud.inventory),
    points: relay.points,
    lives: program.lives,
  };
}

/** The program as its supervisor sees it. */
class Program implements AsyncDisposable {
  url = '';
  lives = 0;
  readonly #controllers: string;
  readonly #server: ApiServer;
  readonly #clock = new SystemClock();
  #child: ChildProcess | undefined;
  #errors = '';

  constructor(controllers: string, server: ApiServer) {
    this.#controllers = controllers;
    this.#server = server;
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** The program leads and has written nothing for a while; the dead are replaced. */
  async converged(relay: Relay): Promise<void> {
    const startMs = performance.now();
    let quietSinceMs = startMs;
    while (performance.now() - Math.max(quietSinceMs, relay.lastPointAtMs) < QUIET_MS) {
      if (performance.now() - startMs > LONGEST_MS) throw new Error(`it does not come to rest: ${this.#errors}`);
      if (!this.#isLeading()) quietSinceMs = performance.now();
      await sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  #isLeading(): boolean {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) this.#start();
    const lease = `${LEASE.namespace}/${LEASE.name}`;
    return leaseProblem(this.#server.store, lease, this.#hostname, this.#clock) === undefined;
  }

  get #hostname(): string {
    return `life-${this.lives}`;
  }

  #start(): void {
    this.lives++;
    const options: RealLifeOptions = { url: this.url, controllers: this.#controllers, hostname: this.#hostname };
    // NODE_TEST_CONTEXT would make the child report tests.
    const variables = Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT');
    this.#child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: Object.fromEntries(variables),
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-4000);
    });
  }
}
