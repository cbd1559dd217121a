import { homedir } from 'node:os';
import { after, before, describe } from 'node:test';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { startEmbedded } from './embedded.ts';
import { startKubernetes } from './kubernetes.ts';
import { needsAll, needsOracle, type SuiteOptions } from './needs-oracle.ts';
import { RuntimeWorld } from './runtime-world.ts';

/** An API server on a socket, and the administrator's way to it. */
export interface RuntimeServer extends AsyncDisposable {
  readonly name: 'embedded' | 'kubernetes' | 'given';
  readonly url: string;
  readonly kubeconfig: string;
  /** Nobody can follow a kind that was defined since the start from version 1 any more: that is gone (410). */
  forget(): Promise<void>;
}

interface ServerChoice {
  readonly name: RuntimeServer['name'];
  /** Goes between the name and the body of `describe`. */
  readonly suite: SuiteOptions;
  readonly start: () => Promise<RuntimeServer>;
}

const NOTHING = async (): Promise<void> => {};
const GIVEN = 'SLIPWAY_TEST_KUBECONFIG';

/** Our server, the real one, and the cluster that `SLIPWAY_TEST_KUBECONFIG` leads to (runtime/T7). */
function runtimeServers(): readonly ServerChoice[] {
  const given = process.env[GIVEN] ?? '';
  const real = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'));
  const choices: readonly ServerChoice[] = [
    { name: 'embedded', suite: { skip: false }, start: embedded },
    { name: 'kubernetes', suite: real, start: kubernetes },
  ];
  if (given === '') return choices;
  return [...choices, { name: 'given', suite: { skip: false }, start: () => givenServer(given) }];
}

async function embedded(): Promise<RuntimeServer> {
  const server = await startEmbedded();
  const kubeconfig = await server.user('admin', ['system:masters']);
  const stop = () => server[Symbol.asyncDispose]();
  return {
    name: 'embedded',
    url: server.url,
    kubeconfig,
    forget: () => server.compact(),
    [Symbol.asyncDispose]: stop,
  };
}

async function kubernetes(): Promise<RuntimeServer> {
  const plane = await startKubernetes();
  return {
    name: 'kubernetes',
    // Its watch cache of a kind begins when the kind is defined.
    forget: NOTHING,
    url: plane.url,
    kubeconfig: plane.admin,
    [Symbol.asyncDispose]: () => plane.stop(),
  };
}

async function givenServer(kubeconfig: string): Promise<RuntimeServer> {
  const access = await loadKubeconfig({ env: {}, homeDir: homedir(), kubeconfigFlag: kubeconfig });
  return { name: 'given', url: access.server.href, kubeconfig, forget: NOTHING, [Symbol.asyncDispose]: NOTHING };
}

/** Tests of one subject; `world` is there when they run. */
export type RuntimeSuite = (world: () => RuntimeWorld) => void;

/** The same suites against every server there is; each server is started once. */
export function againstServers(suites: Readonly<Record<string, RuntimeSuite>>): void {
  for (const { name, suite, start } of runtimeServers()) {
    describe(`the runtime against ${name}`, suite, () => {
      let world: RuntimeWorld | undefined;
      before(async () => {
        world = await RuntimeWorld.start(await start());
      });
      after(async () => world?.[Symbol.asyncDispose]());
      const running = (): RuntimeWorld => {
        if (world === undefined) throw new Error('the server has not started');
        return world;
      };
      for (const [subject, define] of Object.entries(suites)) describe(subject, () => define(running));
    });
  }
}
