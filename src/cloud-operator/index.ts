import { runAzureInject } from './azure-inject/run.ts';
import { CONFIG_SYNC_FLAGS, OPERATOR_FLAGS, PROGRAM_FLAGS } from './program/flags.ts';
import { programNeeds } from './program/needs.ts';
import { CLOUD_CONFIG_SYNC, runConfigSync } from './program/run-config-sync.ts';
import { CLOUD_OPERATOR, runCloudOperator } from './program/run-operator.ts';
import type { ProviderRegistry } from './registry/providers.ts';

export type { GivenFile } from './bootstrap/given-files.ts';
export { imagesOf } from './bootstrap/given-images.ts';
export { BOOTSTRAP_FOLDERS, renderBootstrap } from './bootstrap/render-bootstrap.ts';
export { type CloudProviderDefinition, MANAGED_NAMESPACE } from './definition.ts';
export { type LooseFile, lintFiles } from './lint/lint-files.ts';
export type { FileFinding } from './lint/lint-manifests.ts';
export { MANIFEST_RULES, type ManifestRule } from './lint/manifest-rules.ts';
export { platformAccess } from './manifests/access.ts';
export { dayOneFiles, installationFiles } from './manifests/files.ts';
export type { Installation, ManifestFile } from './manifests/installation.ts';
export { deployedFlags } from './manifests/operator-deployment.ts';
export { type OperatorMode, type OperatorNames, operatorNames } from './names.ts';
export type { OperatorProgram } from './program/operator-program.ts';
export { builtInRegistry } from './registry/built-in.ts';
export type { ProviderRegistry } from './registry/providers.ts';
export { defineCloudProvider } from './render/cloud-provider.ts';

/** The cloud operator: what others know of this folder. */
export const cloudOperator = {
  name: 'cloud-operator',
  acronym: 'CCCMO',
  /** For the reference. */
  flags: { both: PROGRAM_FLAGS, operator: OPERATOR_FLAGS, configSync: CONFIG_SYNC_FLAGS },
  /** Each runs to its end, and never throws for what a user can put right. */
  run: runCloudOperator,
  runConfigSync,
  runAzureInject,
  /** What both programs ask of the API server when they run with these flags, for their roles. Sends nothing. */
  needs: (registry: ProviderRegistry, argv: readonly string[]) =>
    [CLOUD_OPERATOR, CLOUD_CONFIG_SYNC].flatMap((parts) => programNeeds(parts, { argv, registry })),
} as const;
