import type { CloudController } from '../../src/cloud/cloud-controller.ts';
import type { CloudSettings } from '../../src/cloud/cloud-settings.ts';
import { NODE_CACHE } from '../../src/cloud/node/index.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import type { Capabilities } from '../../src/sdk/capabilities/capabilities.ts';
import type { ConnectedProvider } from '../../src/sdk/provider/connected-provider.ts';
import type { ProviderDefinition, ProviderInput } from '../../src/sdk/provider/provider-definition.ts';
import type { FakeCloud } from '../../src/testing/fake-cloud.ts';
import type { ManagerSetup, TestEnv } from '../../src/testing/test-env.ts';

const MINUTE_MS = 60_000;

/** The defaults of the flags (ccm §2.2), and one worker of each kind. */
export const usualSettings = (overrides: Partial<CloudSettings> = {}): CloudSettings => ({
  controllers: ['*'],
  controllerStartIntervalMs: 0,
  clusterName: 'kubernetes',
  clusterCIDRs: [],
  allocateNodeCIDRs: false,
  configureCloudRoutes: true,
  routeReconciliationPeriodMs: 10_000,
  nodeMonitorPeriodMs: 5000,
  nodeStatusUpdateFrequencyMs: 5 * MINUTE_MS,
  concurrentNodeSyncs: 1,
  concurrentNodeStatusUpdates: 1,
  concurrentNodeLifecycleSyncs: 1,
  concurrentServiceSyncs: 1,
  nodeDeletionConfirmations: 1,
  nodeDeletionMinAgeMs: 0,
  serviceResyncPeriodMs: 0,
  refreshNodeLabels: false,
  holdBackUninitializedNodes: true,
  watchRoutes: true,
  labelSource: 'deprecated',
  concurrentRouteCalls: 200,
  providerCallTimeoutMs: MINUTE_MS,
  ...overrides,
});

/**
 * The fake as a provider, without the guard of a real connection: what a hook throws arrives as it is. With other
 * `capabilities`, only what they have.
 */
export function fakeProvider(
  cloud: FakeCloud,
  capabilities: Capabilities = cloud.capabilities,
): ConnectedProvider {
  const input: ProviderInput<unknown> = {
    name: 'fake',
    displayName: 'Fake Cloud',
    platformName: 'fake',
    architectures: ['amd64'],
    providerID: { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/.+$/ },
    tags: {},
    ccm: { external: true },
    secrets: [],
    connect: () => ({ client: undefined, clusterId: 'test-cluster' }),
    capabilities,
  };
  return {
    name: 'fake',
    // Nothing here reads what the check of a definition would add.
    definition: input as unknown as ProviderDefinition,
    clusterId: 'test-cluster',
    clusterTags: { 'kubernetes.io/cluster/test-cluster': 'owned' },
    capabilities,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

export interface CloudControllerSetup extends Omit<ManagerSetup, 'add' | 'eventSource'> {
  readonly provider: ConnectedProvider;
  readonly settings?: Partial<CloudSettings>;
}

/**
 * Starts one of the controllers with its own manager, account and roles, and waits until it rests. Its name, for
 * `rbacDifference` and `expectExactRbac`, is the alias unless told otherwise. Ends with the environment.
 */
export const startCloudController = (
  env: TestEnv,
  controller: CloudController,
  { provider, settings, ...rest }: CloudControllerSetup,
): Promise<Manager> =>
  env.startManager({
    name: controller.alias,
    cache: { byKind: NODE_CACHE },
    ...rest,
    eventSource: controller.eventSource,
    add: (manager) => controller.parts({ manager, provider, settings: usualSettings(settings) }),
  });
