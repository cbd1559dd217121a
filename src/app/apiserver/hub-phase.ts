import { join } from 'node:path';
import type { ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { messageOf } from '../../base/errors.ts';
import { createLog } from '../../base/log.ts';
import { CommandError } from '../failures.ts';
import type { Phase, PhaseContext, PhaseOutcome } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { warningText } from '../journey/warning-text.ts';
import { releaseVersion } from '../release.ts';
import { HUB, type JourneyHub } from './hub-handover.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { refusalOf } from './store-refusal.ts';

/** Starts the API that everything else talks to (experience 4.1). */
export const hubPhase: Phase = {
  id: 'hub',
  needs: [],
  run,
  probes: [],
};

async function run(context: PhaseContext): Promise<PhaseOutcome> {
  const { clock, data, folder } = context;
  context.progress('starting the Kubernetes API');
  const startedMs = clock.monotonicMs();
  const log = createLog({
    level: 'warn',
    write: (line) => context.warn(warningText(line)),
    now: () => clock.now(),
  });
  const webhooks: JourneyHub['webhooks'] = new Map();
  let server: ApiServer;
  try {
    server = await startApiServer({
      dataDir: join(data, 'api'),
      listen: { port: 0 },
      clock,
      log,
      release: releaseVersion(),
      program: 'slipway up',
      resolveService: ({ namespace, name }) => webhooks.get(`${namespace}/${name}`),
    });
  } catch (error) {
    return failed('the Kubernetes API did not start', error);
  }
  context.keep('the Kubernetes API', server);
  const startMs = Math.round(clock.monotonicMs() - startedMs);
  const file = join(data, 'kubeconfig');
  const way = 'Move away what is there, or choose another folder with --data';
  try {
    await writeKubeconfig({ file, way }, await server.kubeconfig());
  } catch (error) {
    return failed('the kubeconfig was not written', error);
  }
  HUB.put(context, { server, webhooks, kubeconfigFile: file });
  const shown = shownPath(folder, file);
  return {
    health: 'done',
    detail: `API server ready in ${startMs} ms, ${server.kinds} kinds served, kubeconfig written`,
    addresses: [
      { label: 'Kubernetes API', value: server.url },
      { label: 'kubeconfig', value: shown, isLasting: true },
    ],
    tries: [{ kind: 'command', text: `kubectl --kubeconfig ${shellWord(shown)} get namespaces` }],
  };
}

function failed(detail: string, error: unknown): PhaseOutcome {
  const refusal = error instanceof CommandError ? error : refusalOf(error);
  return { health: 'failed', detail, what: messageOf(error), code: refusal?.code ?? 'SW1104' };
}
