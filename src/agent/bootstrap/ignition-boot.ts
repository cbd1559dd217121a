import type { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { messageOf } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import { discoveryIgnition } from '../ignition/discovery-ignition.ts';
import type { AssistedSettings } from '../infra-env/assisted-settings.ts';
import { ensureInfraEnv } from '../infra-env/ensure-infra-env.ts';
import { DownloadError, type IgnitionDownload } from '../infra-env/ignition-download.ts';
import { hasIgnitionUrl, ignitionUrl } from '../infra-env/ignition-url.ts';
import { foreignCluster, machineInfraEnv, pullSecretOf } from '../infra-env/infra-env.ts';
import { ensurePlaceholder } from '../infra-env/placeholder-pull-secret.ts';
import type { BootstrapMetrics } from './bootstrap-metrics.ts';
import {
  AGAIN_MS,
  type Boot,
  type BootData,
  type BootStep,
  failed,
  infraEnvLeaves,
  type Verdict,
} from './verdict.ts';

export interface IgnitionBootOptions {
  readonly settings: AssistedSettings;
  readonly download: IgnitionDownload;
  readonly metrics: BootstrapMetrics;
}

/** An image with the discovery ignition as its user data: one InfraEnv for each Machine (B10 to B13). */
export class IgnitionBoot implements Boot {
  readonly #options: IgnitionBootOptions;

  constructor(options: IgnitionBootOptions) {
    this.#options = options;
  }

  async prepare(step: BootStep): Promise<Verdict | BootData> {
    let infraEnv: InfraEnv;
    try {
      infraEnv = await this.#infraEnv(step);
    } catch (error) {
      return failed('InfraEnvFailed', error);
    }
    const foreign = foreignCluster(infraEnv, step.deployment);
    if (foreign !== undefined) return foreignVerdict(infraEnv, foreign);
    const leaves = infraEnvLeaves(infraEnv);
    if (leaves !== undefined) return leaves;
    if (!hasIgnitionUrl(infraEnv)) return NOT_READY;
    return this.#ignition(infraEnv, step);
  }

  async #infraEnv({ config, machine, cluster, deployment, context: { client } }: BootStep): Promise<InfraEnv> {
    const pullSecret = pullSecretOf(config) || (await ensurePlaceholder(client, cluster));
    return ensureInfraEnv(client, machineInfraEnv({ config, deployment, pullSecret }, machine));
  }

  async #ignition(infraEnv: InfraEnv, { config, context }: BootStep): Promise<Verdict | BootData> {
    const { settings, download, metrics } = this.#options;
    const { client, signal } = context;
    try {
      const text = await download.fetch(ignitionUrl(infraEnv, settings), client.live, signal);
      return { type: 'data', value: discoveryIgnition(text, config.spec ?? {}) };
    } catch (cause) {
      if (signal.aborted) throw cause;
      metrics.fetchFailed(cause instanceof DownloadError ? cause.failure : 'content');
      const message = redactedText(`failed retrieving ignition: ${messageOf(cause)}`);
      return { type: 'failed', reason: 'WaitingForAssistedInstaller', message, cause };
    }
  }
}

const NOT_READY: Verdict = {
  type: 'waiting',
  reason: 'WaitingForInfraEnvToBeReady',
  message: 'infraenv not ready: eventsURL not generated yet',
  isUnfinished: true,
  againMs: AGAIN_MS,
};

const foreignVerdict = ({ metadata: { name } }: InfraEnv, foreign: string): Verdict => ({
  type: 'waiting',
  reason: 'InfraEnvFailed',
  message: `InfraEnv ${name} has the name of this Machine, but brings hosts to ClusterDeployment ${foreign}; delete it, or rename the Machine`,
  isWarning: true,
  isUnfinished: true,
  againMs: AGAIN_MS,
});
