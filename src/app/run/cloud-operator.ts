import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { cloudOperator, type OperatorProgram } from '../../cloud-operator/index.ts';
import { programClock } from '../../kube/config/clock-setting.ts';
import { chosenProvider } from '../cloud-operator/chosen-provider.ts';
import { releaseVersion } from '../release.ts';
import type { ExitCode, VerbContext } from '../verb.ts';

type Run = (program: OperatorProgram) => Promise<ExitCode>;

/** One of the programs of the cloud operator as a program of this process. */
const programOf =
  (name: string, run: Run) =>
  async (context: VerbContext, words: readonly string[]): Promise<ExitCode> => {
    const { output, env, signal, clock, folder } = context;
    const { argv, word } = withoutProvider(words);
    const { registry, id } = await chosenProvider(folder, word, placeInImage(word));
    return run({
      argv: id === undefined ? argv : [`--provider=${id}`, ...argv],
      env,
      homeDir: homedir(),
      version: releaseVersion(),
      // In a lab, time may pass faster than on this machine.
      clock: programClock(env, clock),
      signal,
      stdout: (text) => output.result(text.trimEnd(), { text }),
      stderr: (text) => output.hint(text.trimEnd()),
      registry,
      usage: `slipway run ${name}`,
    });
  };

/**
 * Its image has the definition where the cloud controller manager finds it, too, whose folder is another one: a path that
 * depends on the folder says nothing there.
 */
export const placeInImage = (word: string | undefined): { readonly providerFile?: string } =>
  word !== undefined && isAbsolute(word) ? { providerFile: word } : {};

const PROVIDER = /^--?provider(?:=(?<value>.*))?$/s;

/** Takes `--provider` out, which may be a file here and is an id for the program; the last one counts, as for any flag. */
function withoutProvider(words: readonly string[]): { readonly argv: readonly string[]; readonly word?: string } {
  const at = words.findIndex((one) => PROVIDER.test(one));
  if (at < 0) return { argv: words };
  const joined = PROVIDER.exec(words[at] ?? '')?.groups?.['value'];
  const word = joined ?? words[at + 1];
  // The program says itself that it lacks a value.
  if (word === undefined) return { argv: words };
  const left = withoutProvider(words.toSpliced(at, joined === undefined ? 2 : 1));
  return { argv: left.argv, word: left.word ?? word };
}

export const runCloudOperator = programOf('cloud-operator', cloudOperator.run);
export const runCloudConfigSync = programOf('cloud-config-sync', cloudOperator.runConfigSync);
