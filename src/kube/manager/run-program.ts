import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { nearestWord } from '../../object/nearest-word.ts';
import { programClock } from '../config/clock-setting.ts';
import { loadKubeconfig } from '../config/kubeconfig.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { Environment } from '../config/surroundings.ts';
import { programLog } from './component-run.ts';
import { createManager, type Manager } from './create-manager.ts';
import { type ExitCode, exitCodeOf, failureFields } from './exit-code.ts';
import { flagHelp } from './flag-parser.ts';
import { guardProcess, type ProcessLike, stopOnSignals } from './process-guards.ts';
import { MANIFESTS, MANIFESTS_USAGE, programManifests } from './program-manifests.ts';
import { parseRuntimeFlags, type RuntimeSettings, runtimeFlags } from './runtime-flags.ts';

/** A program with controllers: what it is, and what it runs in. */
export interface Program {
  readonly name: string;
  readonly version?: string;
  /** Without the interpreter and the script. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly homeDir: string;
  /** `process`, or something like it. */
  readonly host: ProcessLike;
  readonly stdout: (text: string) => void;
  /** Logs and messages. */
  readonly stderr: (text: string) => void;
  /** Adds the controllers; the manager has not started yet. */
  readonly setup: (manager: Manager) => void | Promise<void>;
  /** Kinds of its own: `<program> manifests` prints their definitions beside roles and Deployment. */
  readonly kinds?: readonly { toCRD(): KubeObject }[];
  /** Instead of what the flags lead to, such as a server in this process. */
  readonly kube?: RuntimeConfig['kube'];
  /** That of the machine, or of the lab that the program runs in, unless told otherwise. */
  readonly clock?: Clock;
}

/**
 * The main function of a program: reads its flags, runs until a signal comes or something fails, and ends the process
 * with the code of 8.2. Bad input is one message and no stack trace.
 */
export async function runProgram(program: Program): Promise<ExitCode> {
  const { name, argv, env, host, stdout, stderr } = program;
  let settings: RuntimeSettings;
  let clock: Clock;
  try {
    if (argv[0] === MANIFESTS) {
      stdout(await programManifests(program));
      return finish(host, 0);
    }
    refuseMistyped(argv);
    settings = parseRuntimeFlags(name, argv, env);
    clock = program.clock ?? programClock(env);
  } catch (thrown) {
    stderr(`${name}: ${messageOf(thrown)}\n`);
    return finish(host, exitCodeOf(thrown));
  }
  if (settings.isHelp) {
    stdout(flagHelp(name, runtimeFlags, { ways: [MANIFESTS_USAGE] }));
    return finish(host, 0);
  }
  const log = programLog(settings, { stderr, clock });
  return finish(host, await run(program, settings, { clock, log }));
}

/** Throws a userError when the first word is almost the one that prints manifests. */
function refuseMistyped([word = '']: readonly string[]): void {
  const near = word.startsWith('-') ? undefined : nearestWord(word, [MANIFESTS]);
  if (near === undefined) return;
  throw userError('InvalidFlags', `"${word}" is not known; did you mean ${near}?\n--help lists all flags`);
}

function finish(host: ProcessLike, code: ExitCode): ExitCode {
  // Not only an exit code: a part that did not stop would keep the process, and with it two leaders (M5).
  host.exit(code);
  return code;
}

async function run(
  program: Program,
  settings: RuntimeSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<ExitCode> {
  const { name, version, host, setup } = program;
  using signals = stopOnSignals(host, log, clock);
  let hasStarted = false;
  try {
    const kube = program.kube ?? (await accessOf(program, settings, clock));
    const config = { ...settings.config, clock, log };
    const manager = createManager({ ...config, name, kube, ...(version !== undefined && { version }) });
    await using _connections = manager;
    using _guards = guardProcess(host, log, (error) => manager.fail(error));
    await setup(manager);
    hasStarted = true;
    await manager.start(signals.signal);
    return 0;
  } catch (thrown) {
    // A manager that ran has said why it ended, in its last line.
    if (!hasStarted) log.error(failureFields(thrown), 'Cannot start');
    return exitCodeOf(thrown);
  }
}

function accessOf({ env, homeDir, stderr }: Program, { kubeconfig, context }: RuntimeSettings, clock: Clock) {
  return loadKubeconfig({
    env,
    homeDir,
    clock,
    stderr,
    ...(kubeconfig !== undefined && { kubeconfigFlag: kubeconfig }),
    ...(context !== undefined && { contextFlag: context }),
  });
}
