import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentProgram, runAgentProgram } from '../../src/agent/program/agent-program.ts';
import { agentNeeds } from '../../src/agent/program/needs.ts';
import type { Provider } from '../../src/agent/provider.ts';
import type { Need } from '../../src/kube/rbac/need.ts';
import type { TestEnv } from '../../src/testing/test-env.ts';
import { collected, grant, type RunningProgram } from './cloud-program.ts';

export interface AgentProgramSetup extends Partial<AgentProgram> {
  /** Of its account and its host. */
  readonly name?: string;
  /** Instead of what it needs. */
  readonly granted?: readonly Need[];
}

const TIMEOUT_MS = 30_000;

export const BOTH: readonly Provider[] = ['bootstrap', 'control-plane'];

/** What every program of these tests is told first; a later flag wins. */
export const QUIET = [
  '--health-probe-bind-address=0',
  '--metrics-bind-address=0',
  '--webhook-port=0',
  '--logging-format=json',
];

/** Nobody has to be trusted besides the authorities of the machine. */
export const NO_BUNDLE = { ASSISTED_CA_BUNDLE_NAME: '', ASSISTED_CA_BUNDLE_NAMESPACE: '' };

/** Starts one with exactly the permissions that it needs, and waits until it is ready, or has ended. */
export async function startAgentProgram(
  env: TestEnv,
  providers: readonly Provider[],
  setup: AgentProgramSetup = {},
): Promise<RunningProgram> {
  const { name = 'agent', argv = [], granted, ...rest } = setup;
  const words = [...QUIET, ...argv];
  await grant(env, name, granted ?? providers.flatMap((provider) => agentNeeds(provider, words)));
  const { program, ...running } = collected();
  const exit = runAgentProgram(
    {
      ...program,
      env: NO_BUNDLE,
      clock: env.clock,
      kube: env.transportFor(name),
      hostname: name,
      ...rest,
      argv: words,
    },
    providers,
  );
  const ready = Promise.all(providers.map((one) => running.logged(new RegExp(`"provider":"${one}".*"Ready"`))));
  await passing(env, Promise.race([ready, exit]));
  const end = async () => {
    running.stop();
    await passing(env, exit);
  };
  return { exit, ...running, [Symbol.asyncDispose]: end };
}

/** Time passes in small steps: files and sockets are outside of the time of the environment, and need some of their own. */
export async function passing<T>(env: TestEnv, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  promise.then(over, over);
  for (const beganMs = performance.now(); !isOver; ) {
    if (performance.now() - beganMs > TIMEOUT_MS) throw new Error('it has not happened in time');
    await env.advance(100);
    await sleep(2);
  }
  return await promise;
}
