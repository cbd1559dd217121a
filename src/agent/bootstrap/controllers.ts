import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, INFRA_ENV_LABEL } from '../../api/assisted/agent-install-v1beta1.ts';
import { CLUSTER_NAME_LABEL } from '../../api/cluster-api/core-v1beta2.ts';
import { type KubeObject, resourceOf } from '../../api/object.ts';
import { terminalError } from '../../base/errors.ts';
import type { KindCacheOptions } from '../../kube/cache/cache.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import type { ControllerEnvironment } from '../../kube/controller/controller-run.ts';
import type { Reconciler } from '../../kube/controller/reconcile.ts';
import type { HttpCall } from '../../oci/http-call.ts';
import { HostDirectory } from '../agents/host-directory.ts';
import { AgentReconciler } from '../agents/reconcile.ts';
import { agentController } from '../agents/watches.ts';
import type { AssistedSettings } from '../infra-env/assisted-settings.ts';
import { IgnitionDownload } from '../infra-env/ignition-download.ts';
import { TrustedBundle } from '../infra-env/trusted-bundle.ts';
import { LiveIsoBoot } from '../live-iso/live-iso-boot.ts';
import { ContractKinds } from '../live-iso/metal3-kinds.ts';
import { SHARED_INFRA_ENV_LABEL } from '../live-iso/shared-infra-env.ts';
import { TemplateKeeper } from '../live-iso/template-keeper.ts';
import { BootstrapMetrics } from './bootstrap-metrics.ts';
import { IgnitionBoot } from './ignition-boot.ts';
import { PublishedSecrets } from './published-secrets.ts';
import { ConfigReconciler } from './reconcile.ts';
import { configController } from './watches.ts';

export interface BootstrapOptions {
  /** The way to assisted-service. */
  readonly http: HttpCall;
  readonly settings: AssistedSettings;
  /** Only configs whose label `cluster.x-k8s.io/watch-filter` has this value, and their Agents. */
  readonly watchFilter?: string;
}

/** The bootstrap provider: configs of Machines, and the Agents that their hosts become. */
export function bootstrapControllers(options: BootstrapOptions): readonly Controller[] {
  const { http, settings, watchFilter } = options;
  const filter = watchFilter === undefined || watchFilter === '' ? {} : { watchFilter };
  const configs = ({ clock, metrics: registry }: ControllerEnvironment) => {
    const metrics = new BootstrapMetrics(registry);
    const download = new IgnitionDownload({ http, clock, bundle: new TrustedBundle(settings) });
    const ignition = new IgnitionBoot({ settings, download, metrics });
    const liveIso = new LiveIsoBoot({ kinds: new ContractKinds(), templates: new TemplateKeeper(clock) });
    return new ConfigReconciler({ ignition, liveIso, metrics, secrets: new PublishedSecrets(clock), ...filter });
  };
  const agents = ({ clock }: ControllerEnvironment) =>
    new AgentReconciler({ directory: new HostDirectory(new ContractKinds(), clock), ...filter });
  return [
    boundLate((reconciler) => configController(reconciler, settings), configs),
    boundLate(agentController, agents),
  ];
}

/** A controller whose reconciler takes clock and metrics from the manager that it runs in. */
function boundLate<T extends KubeObject>(
  build: (reconciler: Reconciler<T>) => Controller,
  make: (environment: ControllerEnvironment) => Reconciler<T>,
): Controller {
  const unbound: Reconciler<T> = {
    reconcile: () => Promise.reject(terminalError('ControllerUnbound', 'the controller runs in no manager')),
  };
  return { ...build(unbound), bind: (environment) => build(make(environment)).bind(environment) };
}

/** For `cache.byKind` of the manager: who is looked for by a label is found without looking at all others. */
export const BOOTSTRAP_CACHE: Readonly<Record<string, KindCacheOptions>> = {
  [resourceOf(OpenshiftAssistedConfig)]: { indexLabels: [CLUSTER_NAME_LABEL, SHARED_INFRA_ENV_LABEL] },
  [resourceOf(Agent)]: { indexLabels: [INFRA_ENV_LABEL] },
};
