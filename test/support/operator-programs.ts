import type { ProgramParts } from '../../src/cloud-operator/program/assembly.ts';
import { programNeeds } from '../../src/cloud-operator/program/needs.ts';
import { type OperatorProgram, runOperatorProgram } from '../../src/cloud-operator/program/operator-program.ts';
import type { Need } from '../../src/kube/rbac/need.ts';
import type { TestEnv } from '../../src/testing/test-env.ts';
import { operatorSettings, registryOf, VERSION } from './cloud-operator-world.ts';
import { collected, grant, type RunningProgram } from './cloud-program.ts';

export interface OperatorProgramSetup extends Partial<OperatorProgram> {
  /** Of its account and its host. */
  readonly name?: string;
  /** Instead of what it needs. */
  readonly granted?: readonly Need[];
}

/** What every program of these tests is told first; a later flag wins. */
const USUAL = ['--health-addr=0', '--logging-format=json', '--leader-elect-resource-namespace=default'];

/** Starts one with exactly the permissions that it needs, and waits until it is ready, or has ended. */
export async function startOperatorProgram(
  env: TestEnv,
  parts: ProgramParts,
  setup: OperatorProgramSetup = {},
): Promise<RunningProgram> {
  const { name = 'operator', argv = [], registry = registryOf(), granted, ...rest } = setup;
  const words = [...USUAL, ...(parts.isServing ? ['--metrics-bind-address=0'] : []), ...argv];
  await grant(env, name, granted ?? programNeeds(parts, { argv: words, registry }));
  const { program, ...running } = collected();
  const exit = runOperatorProgram(
    {
      ...program,
      env: { RELEASE_VERSION: VERSION },
      clock: env.clock,
      kube: env.transportFor(name),
      hostname: name,
      registry,
      readText: () => operatorSettings().images.read(),
      ...rest,
      argv: words,
    },
    parts,
  );
  // Files and sockets are outside of the time of the environment.
  await env.throughTime(Promise.race([running.logged(/"Ready"/), exit]));
  const end = async () => {
    running.stop();
    await env.throughTime(exit);
  };
  return { exit, ...running, [Symbol.asyncDispose]: end };
}
