import { homedir } from 'node:os';
import { userError } from '../../base/errors.ts';
import { type CloudProgram, cloudControllerManager } from '../../cloud/index.ts';
import { programClock } from '../../kube/config/clock-setting.ts';
import { CommandError } from '../failures.ts';
import { loadProvider } from '../provider/load-provider.ts';
import { releaseVersion } from '../release.ts';
import type { ExitCode, VerbContext } from '../verb.ts';

/** The cloud controller manager as a program of this process: logs on standard error, everything else is its own. */
export async function runCloudProgram(context: VerbContext, argv: readonly string[]): Promise<ExitCode> {
  const { output, env, signal, clock } = context;
  return cloudControllerManager.run({
    argv,
    env,
    homeDir: homedir(),
    version: releaseVersion(),
    // In a lab, time may pass faster than on this machine.
    clock: programClock(env, clock),
    signal,
    stdout: (text) => output.result(text.trimEnd(), { text }),
    stderr: (text) => output.hint(text.trimEnd()),
    findProvider: providerFinder(context.folder),
    usage: `slipway run ${cloudControllerManager.name}`,
  });
}

/** The definition in a file or folder, or the one that is built in. */
const providerFinder =
  (folder: string): CloudProgram['findProvider'] =>
  async ({ name, path }) => {
    if (path !== '') return definitionAt(folder, path);
    if (name !== 'lab') return undefined;
    const { labProvider } = await import('../../providers/lab/index.ts');
    return labProvider;
  };

async function definitionAt(folder: string, path: string) {
  try {
    return (await loadProvider(folder, path)).definition;
  } catch (cause) {
    if (cause instanceof CommandError) throw userError('InvalidProvider', cause.message, { cause });
    throw cause;
  }
}
