import { resolve } from 'node:path';
import { startApiServer } from '../../apiserver/start.ts';
import { createLog } from '../../base/log.ts';
import { usageError } from '../failures.ts';
import { requirePort } from '../port.ts';
import { releaseVersion } from '../release.ts';
import type { SettingValues } from '../settings.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import type { APISERVER_SETTINGS } from '../verbs/apiserver.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
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
  if (action !== undefined) throw usageError(`unknown word "${action}"; allowed: repair`);
  await requirePort(settings.port);
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
    }),
  );
  const file = resolve(context.folder, settings['kubeconfig-out']);
  await writeKubeconfig(file, await server.kubeconfig());
  const startMs = Math.round(clock.monotonicMs() - startedMs);
  output.result(readyText(server.url, file, { kinds: server.kinds, startMs, directory }), {
    url: server.url,
    kubeconfig: file,
    kinds: server.kinds,
    startMs,
    data: directory ?? null,
  });
  await stopAsked(context.signal);
  return 0;
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
    `try: kubectl --kubeconfig ${file} get namespaces`,
  ].join('\n');

function stopAsked(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}
