import { homedir } from 'node:os';
import { agent, type Provider } from '../../agent/index.ts';
import { programClock } from '../../kube/config/clock-setting.ts';
import { releaseVersion } from '../release.ts';
import type { ComponentRun } from './components.ts';

const PROVIDERS: ReadonlyMap<string, Provider> = new Map([
  ['agent-bootstrap', 'bootstrap'],
  ['agent-control-plane', 'control-plane'],
]);

/** The providers that these components are, in one program of this process. */
export const runAgentProviders =
  (names: readonly string[]): ComponentRun =>
  ({ output, env, signal, clock }, argv) =>
    agent.run(
      {
        argv,
        env,
        homeDir: homedir(),
        version: releaseVersion(),
        // In a lab, time may pass faster than on this machine.
        clock: programClock(env, clock),
        signal,
        stdout: (text) => output.result(text.trimEnd(), { text }),
        stderr: (text) => output.hint(text.trimEnd()),
        usage: `slipway run ${names.join(' ')}`,
      },
      names.flatMap((name) => PROVIDERS.get(name) ?? []),
    );
