import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall, INSTALL_CONFIG_OVERRIDES } from '../../api/assisted/hive-extensions-v1beta1.ts';
import type { Cluster, MachineDeployment } from '../../api/cluster-api/core-v1beta2.ts';
import { apiVersionOf } from '../../api/object.ts';
import { setOwnerReference } from '../../object/owner-references.ts';
import { semanticEqual } from '../../object/semantic-equality.ts';
import { controlPlaneLabels } from '../control-plane/labels.ts';
import { namespaceOf } from '../control-plane/ownership.ts';
import { desiredReplicas } from '../machines/replica-conditions.ts';
import { expectedWorkers } from './expected-workers.ts';
import { installConfigOverride } from './install-config.ts';
import { platformFields } from './platform.ts';

type Install = AgentClusterInstall;
type InstallSpec = NonNullable<Install['spec']>;

/** assisted-service keeps it as a tag of the cluster. */
const CONSUMER_LABEL = 'agentclusterinstalls.agent-install.openshift.io/consumer';
/** Of the pods of each node. */
const HOST_PREFIX = 23;

export interface InstallFacts {
  readonly object: OpenshiftAssistedControlPlane;
  readonly cluster: Cluster;
  readonly workers: readonly MachineDeployment[];
  readonly imageSetName: string;
  /** The ConfigMap with manifests for mirror registries, if there is one. */
  readonly mirrorConfigMap: string | undefined;
}

/** What may still be changed: assisted-service refuses the rest, whoever asks (section 7). */
type Stage = 'open' | 'installing' | 'ended';

export function installStage(install: Install | undefined): Stage {
  const { reason } = install?.status?.conditions?.find(({ type }) => type === 'Completed') ?? {};
  if (reason === 'InstallationInProgress') return 'installing';
  return reason === 'InstallationCompleted' || reason === 'InstallationFailed' ? 'ended' : 'open';
}

/** The installation as it should be, with everything that others wrote to it (D5). Pure. */
export function desiredInstall(found: Install | undefined, facts: InstallFacts): Install {
  const { object, cluster } = facts;
  const { name } = object.metadata;
  const fresh = {
    apiVersion: apiVersionOf(AgentClusterInstall),
    kind: AgentClusterInstall.kind,
    metadata: { namespace: namespaceOf(object), name },
  };
  const base: Install = found ?? fresh;
  const labels = {
    ...base.metadata.labels,
    ...controlPlaneLabels(object, cluster.metadata.name),
    [CONSUMER_LABEL]: object.kind,
  };
  const owned = setOwnerReference(object, { ...base, metadata: { ...base.metadata, labels } });
  return withStage(owned, facts);
}

function withStage(base: Install, facts: InstallFacts): Install {
  const stage = installStage(base);
  if (stage === 'installing') return base;
  const requirements = provisionRequirements(facts, base.spec);
  if (stage === 'ended') return { ...base, spec: { ...base.spec, provisionRequirements: requirements } };
  const override = overrideOf(facts.object);
  // Without one, what somebody wrote there by hand stays.
  const annotations =
    override === undefined ? undefined : { ...base.metadata.annotations, [INSTALL_CONFIG_OVERRIDES]: override };
  return {
    ...base,
    metadata: { ...base.metadata, ...(annotations !== undefined && { annotations }) },
    spec: { ...openSpec(facts, base.spec), provisionRequirements: requirements },
  };
}

const overrideOf = (object: OpenshiftAssistedControlPlane): string | undefined =>
  installConfigOverride(object, platformFields(object).platformType === 'BareMetal');

const provisionRequirements = ({ object, cluster, workers }: InstallFacts, spec: InstallSpec | undefined) => ({
  ...spec?.provisionRequirements,
  controlPlaneAgents: desiredReplicas(object),
  workerAgents: expectedWorkers(cluster, workers),
});

/** Everything that may be said before the installation begins. What users left out is taken away where we said it. */
function openSpec(
  { object, cluster, imageSetName, mirrorConfigMap }: InstallFacts,
  spec: InstallSpec = {},
): InstallSpec {
  const { external: _external, manifestsConfigMapRefs: _refs, ...others } = spec;
  const {
    diskEncryption: _disks,
    mastersSchedulable: _masters,
    proxy: _proxy,
    sshPublicKey: _key,
    ...kept
  } = others;
  const { manifestsConfigMapRefs = [], ...config } = object.spec.config ?? { baseDomain: '' };
  const refs = [...manifestsConfigMapRefs, ...(mirrorConfigMap === undefined ? [] : [{ name: mirrorConfigMap }])];
  const platform = platformFields(object);
  const { platformType: _platform, apiVIPs: _api, ingressVIPs: _ingress, ...rest } = kept;
  return {
    ...rest,
    ...platform,
    ...(platform.platformType === 'External' && { external: { ...spec.external, ...platform.external } }),
    clusterDeploymentRef: { name: object.metadata.name },
    // Immutable once it is set.
    imageSetRef: spec.imageSetRef ?? { name: imageSetName },
    ...(config.diskEncryption !== undefined && { diskEncryption: config.diskEncryption }),
    ...(config.mastersSchedulable !== undefined && { mastersSchedulable: config.mastersSchedulable }),
    ...(config.proxy !== undefined && { proxy: config.proxy }),
    ...(config.sshAuthorizedKey !== undefined && { sshPublicKey: config.sshAuthorizedKey }),
    ...(refs.length > 0 && { manifestsConfigMapRefs: refs }),
    networking: { ...spec.networking, ...networksOf(cluster) },
  };
}

function networksOf({ spec }: Cluster): NonNullable<InstallSpec['networking']> {
  const { pods, services } = spec?.clusterNetwork ?? {};
  const clusterNetwork = (pods?.cidrBlocks ?? []).map((cidr) => ({ cidr, hostPrefix: HOST_PREFIX }));
  const serviceNetwork = services?.cidrBlocks ?? [];
  return {
    ...(clusterNetwork.length > 0 && { clusterNetwork }),
    ...(serviceNetwork.length > 0 && { serviceNetwork }),
  };
}

/** Fields that users changed too late: what the installation has stays. Pure. */
export function frozenFields(found: Install, facts: InstallFacts): readonly string[] {
  const stage = installStage(found);
  if (stage === 'open') return [];
  const wanted: Readonly<Record<string, unknown>> = { ...openSpec(facts, found.spec) };
  const current: Readonly<Record<string, unknown>> = { ...found.spec };
  const keys = new Set([...Object.keys(wanted), ...Object.keys(current)]);
  const requirements = provisionRequirements(facts, found.spec);
  const isLate = stage === 'installing' && !same(requirements, found.spec?.provisionRequirements);
  return [
    ...[...keys].filter((key) => key !== 'provisionRequirements' && !same(wanted[key], current[key])),
    ...(isLate ? ['provisionRequirements'] : []),
  ].toSorted();
}

/** Objects from the server are plain JSON, and so is what is made from them. */
const same = (a: unknown, b: unknown): boolean =>
  semanticEqual(a as Parameters<typeof semanticEqual>[0], b as Parameters<typeof semanticEqual>[1]);
