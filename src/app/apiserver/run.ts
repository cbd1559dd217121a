import { resolve } from 'node:path';
import { startApiServer } from '../../apiserver/start.ts';
import { createLog } from '../../base/log.ts';
import { usageError } from '../failures.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { stoppedSentence } from '../journey/verdict.ts';
import { requirePort } from '../port.ts';
import { releaseVersion } from '../release.ts';
import { type SettingValues, shown } from '../settings.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import type { APISERVER_SETTINGS } from '../verbs/apiserver.ts';
import { type KubeconfigPlace, requireKubeconfigPlace, writeKubeconfig } from './kubeconfig-file.ts';
import { repair } from './repair.ts';
import { refusingDamage } from './store-refusal.ts';

type Settings = SettingValues<typeof APISERVER_SETTINGS>;

/** Serves until it is told to stop. */
export async function runApiServer(
  context: VerbContext,
  settings: Settings,
  positionals: readonly string[],
): Promise<ExitCode> {
  const [action] = positionals;
  const directory = settings.data === undefined ? undefined : resolve(context.folder, settings.data);
  if (action === 'repair') return repair(context, directory, settings['to-revision']);
  if (action !== undefined) throw usageError(`unknown word "${shown(action)}"; allowed: repair`);
  if (settings['to-revision'] !== undefined) throw usageError(revisionMisplaced(settings['to-revision']));
  const kubeconfig = {
    file: resolve(context.folder, settings['kubeconfig-out']),
    way: 'Choose another file with --kubeconfig-out',
  };
  await requirePort(settings.port);
  requireKubeconfigPlace(kubeconfig);
  await serve(context, settings, { directory, kubeconfig });
  context.output.hint(stoppedSentence(directory && shellWord(shownPath(context.folder, directory))));
  return 0;
}

const revisionMisplaced = (revision: number): string =>
  `--to-revision is for repair only: slipway apiserver repair --data FOLDER --to-revision ${revision}`;

interface Places {
  readonly directory: string | undefined;
  readonly kubeconfig: KubeconfigPlace;
}

/** Everything is stopped when it returns. */
async function serve(context: VerbContext, settings: Settings, { directory, kubeconfig }: Places): Promise<void> {
  const { clock, output } = context;
  const startedMs = clock.monotonicMs();
  const log = createLog({ level: 'warn', write: (line) => output.hint(line.trimEnd()), now: () => clock.now() });
  await using server = await refusingDamage(() =>
    startApiServer({
      ...(directory !== undefined && { dataDir: directory }),
      durability: settings.durability,
      listen: { port: settings.port },
      clock,
      log,
      release: releaseVersion(),
      program: 'slipway apiserver',
    }),
  );
  const { file } = kubeconfig;
  await writeKubeconfig(kubeconfig, await server.kubeconfig());
  const startMs = Math.round(clock.monotonicMs() - startedMs);
  const { url, kinds } = server;
  const text = readyText(url, file, { kinds, startMs, directory });
  output.result(text, { url, kubeconfig: file, kinds, startMs, data: directory ?? null }, 'line');
  await stopAsked(context.signal);
}

interface Facts {
  readonly kinds: number;
  readonly startMs: number;
  readonly directory: string | undefined;
}

const readyText = (url: string, file: string, { kinds, startMs, directory }: Facts): string =>
  [
    `Kubernetes API ready at ${url} after ${startMs} ms: ${kinds} resources served`,
    directory === undefined
      ? 'objects are kept in memory only (--data FOLDER keeps them)'
      : `objects are kept in ${directory}`,
    `try: kubectl --kubeconfig ${shellWord(file)} get namespaces`,
  ].join('\n');

function stopAsked(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}
