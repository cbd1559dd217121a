import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import type { KubeObject } from '../../src/api/object.ts';
import { type CloudProgram, cloudControllerManager } from '../../src/cloud/index.ts';
import { processNeeds } from '../../src/cloud/program/needs.ts';
import { readSettings } from '../../src/cloud/program/settings.ts';
import { applyObject } from '../../src/kube/apply/apply-object.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import { roleFor } from '../../src/kube/rbac/component-roles.ts';
import type { Need } from '../../src/kube/rbac/need.ts';
import type { ProviderDefinition } from '../../src/sdk/provider/provider-definition.ts';
import type { TestEnv } from '../../src/testing/test-env.ts';

/** What every program of these tests is told first; a later flag wins. */
const USUAL = ['--secure-port=0', '--configure-cloud-routes=false', '--logging-format=json'];

export interface ProgramSetup extends Partial<CloudProgram> {
  readonly definition: ProviderDefinition;
  readonly argv?: readonly string[];
  /** Of its account and its host. */
  readonly name?: string;
  /** Instead of what it needs. */
  readonly granted?: readonly Need[];
}

/** A cloud controller manager that runs. */
export interface RunningProgram extends AsyncDisposable {
  readonly exit: Promise<number>;
  readonly lines: readonly string[];
  readonly out: readonly string[];
  /** Resolves when such a line was logged. */
  logged(pattern: RegExp): Promise<void>;
  stop(): void;
}

const flags = (definition: ProviderDefinition, argv: readonly string[] = []) => [
  `--cloud-provider=${definition.name}`,
  ...USUAL,
  ...argv,
];

/** The needs of the account that the program runs as. */
export function programNeeds({ definition, argv }: Pick<ProgramSetup, 'definition' | 'argv'>): readonly Need[] {
  const words = flags(definition, argv);
  return processNeeds(cloudControllerManager.needs(definition, words), readSettings(words).settings);
}

/** Roles for an account of the environment, from needs. */
export async function grant(env: TestEnv, name: string, needs: readonly Need[]): Promise<void> {
  const target = { client: env.client, mapper: createRestMapper(env.client, env.clock) };
  const objects: readonly KubeObject[] = roleFor({ name, namespace: 'default', needs });
  for (const object of objects) await applyObject(target, object);
}

/** Starts one with exactly the permissions that it needs, and waits until it stands for election, or has ended. */
export async function startProgram(env: TestEnv, setup: ProgramSetup): Promise<RunningProgram> {
  const { definition, name = 'ccm', granted = programNeeds(setup), argv, ...rest } = setup;
  await grant(env, name, granted);
  const { program, ...running } = collected();
  const exit = cloudControllerManager.run({
    clock: env.clock,
    kube: env.transportFor(name),
    hostname: name,
    findProvider: () => Promise.resolve(definition),
    ...program,
    ...rest,
    argv: flags(definition, argv),
  });
  // Files and sockets are outside of the time of the environment.
  await Promise.race([running.logged(/"Ready"/), exit]);
  const end = async () => {
    running.stop();
    await env.throughTime(exit);
  };
  return { exit, ...running, [Symbol.asyncDispose]: end };
}

/** A process that keeps what it is told. */
export function collected() {
  const stop = new AbortController();
  const [lines, out]: [string[], string[]] = [[], []];
  const waiting = new Set<() => void>();
  const program = {
    env: {},
    homeDir: '/nonexistent',
    version: '0.0.0',
    signal: stop.signal,
    stdout: (text: string) => void out.push(text),
    stderr: (text: string) => {
      lines.push(text);
      for (const look of waiting) look();
    },
  };
  const logged = (pattern: RegExp): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (!lines.some((line) => pattern.test(line))) return;
      waiting.delete(look);
      resolve();
    };
    waiting.add(look);
    look();
    return promise;
  };
  return { program, lines, out, logged, stop: () => stop.abort(new Error('the test ends')) };
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}
