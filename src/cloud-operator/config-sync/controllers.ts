import { readFile } from 'node:fs/promises';
import { resourceOf } from '../../api/object.ts';
import type { Infrastructure } from '../../api/openshift/config-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { KindCacheOptions } from '../../kube/cache/cache.ts';
import type { RuntimeConfig } from '../../kube/config/runtime-config.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import type { CloudProviderDefinition } from '../definition.ts';
import type { OperatorNames } from '../names.ts';
import { cloudConfigController, type SharedUse } from './cloud-config/watches.ts';
import { watchedNamespaces, watchedSingletons } from './places.ts';
import { trustedCaController } from './trusted-ca/watches.ts';

type KnownProvider = { readonly definition: Pick<CloudProviderDefinition, 'id' | 'cloudConfig'> };

/** Who knows the providers; the registry of the operator is one. */
export interface ConfigSyncRegistry {
  resolve(infra: Infrastructure, choice: { readonly provider?: string | undefined }): KnownProvider | undefined;
  providers(): readonly KnownProvider[];
}

/** What both controllers are told. */
export interface ConfigSyncSettings {
  /** By its id; the cluster decides unless told. */
  readonly provider?: string | undefined;
  /** A file of the node with the authorities that it trusts. */
  readonly systemTrustBundle: string;
}

export interface ConfigSyncOptions {
  readonly registry: ConfigSyncRegistry;
  readonly names: OperatorNames;
  readonly gatesVersion: string;
  readonly settings: ConfigSyncSettings;
  readonly clock: Clock;
  /** Instead of the files of this machine. */
  readonly readText?: (path: string) => Promise<string>;
}

/** Cloud config and authorities for cloud controller managers: what the program config-sync is for. */
export function configSyncControllers(options: ConfigSyncOptions): readonly Controller[] {
  const { registry, names, gatesVersion, settings, clock } = options;
  const { managedNamespace, clusterOperator } = names;
  const { readText = (path) => readFile(path, 'utf8') } = options;
  const { provider, systemTrustBundle } = settings;
  const policyFor = (infra: Infrastructure) => registry.resolve(infra, { provider })?.definition.cloudConfig;
  const use = sharedUse(registry, provider);
  return [
    cloudConfigController({ policyFor, managedNamespace, clusterOperator, gatesVersion, clock }, use),
    trustedCaController({ managedNamespace, clusterOperator, systemTrustBundle, readText, clock }),
  ];
}

/** Of the provider that was chosen, or of any. */
export function sharedUse(registry: Pick<ConfigSyncRegistry, 'providers'>, provider?: string): SharedUse {
  const policies = registry
    .providers()
    .filter(({ definition: { id } }) => (provider ?? id) === id)
    .flatMap(({ definition: { cloudConfig } }) => cloudConfig ?? []);
  const publishes = policies.some(({ publishManaged }) => publishManaged !== undefined);
  return { publishes, usesShared: publishes || policies.some(({ sources }) => sources.includes('managed')) };
}

/** ConfigMaps of two or three namespaces and of no other, and objects that are one of a kind (R3). */
export const configSyncCache = (
  names: OperatorNames,
  { usesShared }: Pick<SharedUse, 'usesShared'>,
): NonNullable<RuntimeConfig['cache']> => ({
  byKind: Object.fromEntries<KindCacheOptions>([
    ['configmaps', { namespaces: watchedNamespaces(names, usesShared) }],
    ...watchedSingletons(names).map(
      ([kind, name]) => [resourceOf(kind), { fields: `metadata.name=${name}` }] as const,
    ),
  ]),
});
