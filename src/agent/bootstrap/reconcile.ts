import {
  CONFIG_FINALIZER,
  IGNITION_OVERRIDE,
  OpenshiftAssistedConfig,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Cluster, type Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { keyOf, keyText } from '../../api/object.ts';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../kube/controller/reconcile.ts';
import { configOwnerOf, findOwnerMachine, isWatched } from '../cluster-facts/config-owner.ts';
import { findInstallation, isHeld } from '../cluster-facts/installation.ts';
import { pauseReason } from '../cluster-facts/pause.ts';
import { installIgnition } from '../ignition/install-ignition.ts';
import { checkLabels } from '../ignition/label-check.ts';
import { discoveryOverride, infraEnvProblem } from '../infra-env/infra-env.ts';
import { type BootMethod, bootMethodOf, bootMethodProblem } from '../live-iso/boot-method.ts';
import type { LiveIsoBoot } from '../live-iso/live-iso-boot.ts';
import { sharedInfraEnvOf } from '../live-iso/shared-infra-env.ts';
import { agentsCondition } from './agents-condition.ts';
import type { BootstrapMetrics } from './bootstrap-metrics.ts';
import { bootstrapSecret, ensureBootstrapSecret } from './bootstrap-secret.ts';
import { reportStatus } from './config-report.ts';
import type { StatusNews } from './config-status.ts';
import { cleanUp, whyItStays } from './finalize.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { type PublishedSecrets, publishedName, RARELY_MS } from './published-secrets.ts';
import {
  AGAIN_MS,
  type Boot,
  type BootStep,
  failed,
  IDLE,
  LATER_MS,
  type Verdict,
  type WaitingVerdict,
} from './verdict.ts';

export interface ConfigReconcilerOptions {
  readonly ignition: Boot;
  readonly liveIso: LiveIsoBoot;
  readonly metrics: BootstrapMetrics;
  readonly secrets: PublishedSecrets;
  readonly watchFilter?: string;
}

/** What belongs to a config. */
interface Surroundings {
  readonly machine: Machine | undefined;
  readonly cluster: Cluster | undefined;
}

/** Gives each Machine what its host boots into discovery with, and says why not as long as it cannot (section 2.1). */
export class ConfigReconciler implements Reconciler<OpenshiftAssistedConfig> {
  readonly #options: ConfigReconcilerOptions;
  /** Of two configs that share an InfraEnv, the last that goes must see that it is the last. */
  readonly #sharing = new OneAtATime();

  constructor(options: ConfigReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(config: OpenshiftAssistedConfig, context: ReconcileContext): Promise<Result> {
    if (!mayShare(config)) return this.#act(config, context);
    return this.#sharing.run(async () => {
      // What was read before its turn came may be old.
      const now = await context.client.find(OpenshiftAssistedConfig, keyOf(config));
      return now === undefined ? DONE : this.#act(now, context);
    });
  }

  async #act(config: OpenshiftAssistedConfig, context: ReconcileContext): Promise<Result> {
    if (!isWatched(config, this.#options.watchFilter)) return DONE;
    const { client } = context;
    const machine = await findOwnerMachine(client, config);
    const cluster = await findCluster(client, config, machine);
    const isDeleting = config.metadata.deletionTimestamp !== undefined;
    if (machine === undefined && !isDeleting) return this.#report(config, { verdict: IDLE }, context);
    const pause = { message: pauseReason(cluster, config) };
    if (pause.message !== undefined) return this.#report(config, { verdict: IDLE, pause }, context);
    if (isDeleting) return this.#finalize(config, { machine, cluster }, context);
    // Before anything is made for it: a config that is deleted in between would leave its InfraEnv behind (B4).
    const held = await client.addFinalizer(OpenshiftAssistedConfig, config, CONFIG_FINALIZER);
    if (machine === undefined || cluster === undefined) return this.#report(held, { verdict: IDLE }, context);
    const verdict = await this.#verdict(held, { machine, cluster }, context);
    const agents = { condition: agentsCondition(await agentsOf(client, held, machine), machine.metadata.name) };
    return this.#report(held, { verdict, pause, agents }, context);
  }

  async #finalize(
    config: OpenshiftAssistedConfig,
    { machine }: Surroundings,
    context: ReconcileContext,
  ): Promise<Result> {
    if (config.metadata.finalizers?.includes(CONFIG_FINALIZER) !== true) return DONE;
    const why = whyItStays(config, machine);
    if (why !== undefined) {
      const deleting = { reason: 'WaitingForMachineDeletion', message: why };
      await this.#report(config, { verdict: IDLE, deleting }, context);
      return after(LATER_MS);
    }
    await cleanUp(context.client, config, machine);
    this.#options.metrics.left(keyText(keyOf(config)));
    return DONE;
  }

  async #verdict(
    config: OpenshiftAssistedConfig,
    { machine, cluster }: { readonly machine: Machine; readonly cluster: Cluster },
    context: ReconcileContext,
  ): Promise<Verdict> {
    const { client } = context;
    // What is out stays out: that an installation has begun since is no reason to take it back.
    if (await this.#options.secrets.isThere(client, config))
      return this.#published({ config, machine, cluster, context });
    const early = earlyVerdict(config, cluster);
    if (early !== undefined) return early;
    const found = await findInstallation(client, keyOf(cluster));
    if ('missing' in found) return waiting('WaitingForAssistedInstaller', found.missing, AGAIN_MS);
    if (isHeld(machine, found.install)) return held(found.install.status?.debugInfo?.state ?? '');
    tellIgnored(config, context);
    return this.#boot(bootMethodOf(config) ?? 'ignition', { ...found, config, machine, cluster, context });
  }

  async #published(step: Omit<BootStep, 'deployment' | 'install'>): Promise<Verdict> {
    const { config, machine, context } = step;
    const { liveIso, secrets } = this.#options;
    const { namespace = '' } = config.metadata;
    const shared = sharedInfraEnvOf(config);
    const infraEnv =
      shared === undefined ? undefined : await context.client.find(InfraEnv, { namespace, name: shared });
    if (infraEnv !== undefined) await liveIso.follow(step, infraEnv);
    const isOver = machine.status?.initialization?.infrastructureProvisioned === true && infraEnv === undefined;
    const againMs = Math.max(1, secrets.lookAgainMs(config));
    return { type: 'available', secretName: publishedName(config), ...(!isOver && { againMs }) };
  }

  async #boot(method: BootMethod, step: BootStep): Promise<Verdict> {
    const { ignition, liveIso } = this.#options;
    const prepared = await (method === 'ignition' ? ignition : liveIso).prepare(step);
    if (prepared.type !== 'data') return prepared;
    const { config, cluster, context } = step;
    const secret = bootstrapSecret(config, cluster.metadata.name, prepared.value);
    try {
      await ensureBootstrapSecret(context.client, config, secret);
    } catch (error) {
      return failed('CreatingSecretFailed', error);
    }
    this.#options.secrets.saw(config);
    return { type: 'available', secretName: secret.metadata.name, againMs: RARELY_MS };
  }

  async #report(config: OpenshiftAssistedConfig, news: StatusNews, context: ReconcileContext): Promise<Result> {
    const { verdict } = news;
    await reportStatus(config, news, context);
    const key = keyText(keyOf(config));
    if (verdict.type === 'available') this.#options.metrics.reached(key, 'DataSecretAvailable');
    else if (verdict.type !== 'idle') this.#options.metrics.reached(key, verdict.reason);
    if (verdict.type === 'failed') throw verdict.cause;
    return verdict.type === 'idle' || verdict.againMs === undefined ? DONE : after(verdict.againMs);
  }
}

/** Whether an InfraEnv may be that of others, too; one that changed its boot method keeps the label. */
const mayShare = (config: OpenshiftAssistedConfig): boolean =>
  bootMethodOf(config) === 'live-iso' || sharedInfraEnvOf(config) !== undefined;

/** By the Machine, and where that is gone by the label that core puts on everything of a cluster. */
async function findCluster(
  client: KubeClient,
  { metadata: { namespace = '', labels = {} } }: OpenshiftAssistedConfig,
  machine: Machine | undefined,
): Promise<Cluster | undefined> {
  const name = machine?.spec.clusterName ?? labels[CLUSTER_NAME_LABEL] ?? '';
  return name === '' ? undefined : client.find(Cluster, { namespace, name });
}

/** What can be said without assisted-service (B6, X14). */
function earlyVerdict(config: OpenshiftAssistedConfig, { status }: Cluster): Verdict | undefined {
  if (status?.initialization?.infrastructureProvisioned !== true)
    return waiting(
      'WaitingForClusterInfrastructure',
      'the infrastructure of the Cluster is not provisioned yet',
      LATER_MS,
    );
  if (bootMethodOf(config) === undefined) return wrong('InvalidBootMethod', bootMethodProblem(config));
  const problem = infraEnvProblem(config);
  if (problem !== undefined) return wrong('InfraEnvFailed', problem);
  return nodeProblem(config);
}

/** The same that its Agent and its kubelet would meet, before a host is powered on for nothing. */
function nodeProblem({ metadata: { annotations = {} }, spec = {} }: OpenshiftAssistedConfig): Verdict | undefined {
  try {
    installIgnition(spec, annotations[IGNITION_OVERRIDE]);
    checkLabels(spec);
    return undefined;
  } catch (error) {
    if (error instanceof SlipwayError && error.disposition === 'user')
      return wrong('InvalidNodeSettings', messageOf(error));
    throw error;
  }
}

const waiting = (reason: WaitingVerdict['reason'], message: string, againMs: number): WaitingVerdict => ({
  type: 'waiting',
  reason,
  message,
  againMs,
});

/** Only an edit helps, and that is an event. */
const wrong = (reason: WaitingVerdict['reason'], message: string): WaitingVerdict => ({
  type: 'waiting',
  reason,
  message,
  isWarning: true,
});

const held = (state: string): WaitingVerdict =>
  waiting(
    'WaitingForInstallComplete',
    `an installation is in progress (${state}) that takes no more hosts; this one is added when it is over`,
    LATER_MS,
  );

function tellIgnored(config: OpenshiftAssistedConfig, { events }: ReconcileContext): void {
  if (discoveryOverride(config).isIgnored)
    events.warning(
      config,
      'DiscoveryIgnitionOverrideIgnored',
      'the discovery-ignition-override annotation is no JSON and is ignored; correct it',
    );
}

/** Of the InfraEnv that the host of a config boots. */
async function agentsOf(
  client: KubeClient,
  config: OpenshiftAssistedConfig,
  machine: Machine,
): Promise<readonly Agent[]> {
  const { namespace = '' } = config.metadata;
  const infraEnv = sharedInfraEnvOf(config) ?? configOwnerOf(config)?.name ?? machine.metadata.name;
  return (await client.list(Agent, { namespace, labels: { [INFRA_ENV_LABEL]: infraEnv } })).items;
}
