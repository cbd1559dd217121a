import { join } from 'node:path';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { httpStatus } from '../../oracles/run/http-status.ts';
import { freePort } from '../../oracles/run/port.ts';
import { type RunningProcess, startProcess } from '../../oracles/run/process.ts';
import { type WebhookPlace, webhookFlags } from './agent-oracle-installation.ts';

const SLIPWAY = join(import.meta.dirname, '../../bin/slipway.cjs');
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;

/** `slipway run agent-bootstrap agent-control-plane` as a process of its own, ready when it says so. */
export async function startProvidersProcess(
  parts: AsyncDisposableStack,
  { directory, kubeconfig, place }: ProcessPlace,
): Promise<RunningProcess> {
  const port = await freePort();
  const guard = parts.use(new ExitGuard(directory));
  const running = await startProcess(
    {
      name: 'slipway-agent',
      file: process.execPath,
      arguments: [
        SLIPWAY,
        'run',
        'agent-bootstrap',
        'agent-control-plane',
        `--kubeconfig=${kubeconfig}`,
        '--metrics-bind-address=0',
        `--health-probe-bind-address=127.0.0.1:${port}`,
        ...webhookFlags(place),
      ],
      directory,
      isReady: async (signal) =>
        (await httpStatus(`http://127.0.0.1:${port}/readyz`, signal, { isPlain: true })) === 200,
    },
    { guard, startTimeoutMs: START_TIMEOUT_MS, stopTimeoutMs: STOP_TIMEOUT_MS },
  );
  return parts.use(running);
}

interface ProcessPlace {
  /** For its log. */
  readonly directory: string;
  readonly kubeconfig: string;
  readonly place: WebhookPlace;
}
