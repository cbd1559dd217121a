import type { ProviderDefinition } from '../sdk/provider/provider-definition.ts';
import type { CloudController } from './cloud-controller.ts';
import { cloudNodeLifecycle } from './lifecycle/index.ts';
import { deployedFlags } from './manifests/deployment.ts';
import { type InstallNeeds, type InstallOptions, installNames } from './manifests/install-options.ts';
import { cloudNode } from './node/index.ts';
import { CLOUD_FLAG_SECTIONS } from './program/flags.ts';
import { cloudNeeds } from './program/needs.ts';
import { type CloudProgram, runCloudControllerManager } from './program/run.ts';
import { readSettings } from './program/settings.ts';
import { nodeRoute } from './route/index.ts';
import { serviceLb } from './service/index.ts';

export { CREDENTIALS_SECRET } from './manifests/deployment.ts';
export { installConfigPlatform } from './manifests/infrastructure.ts';
export type { InstallManifests } from './manifests/install-manifests.ts';
export { installManifests, installObjects } from './manifests/install-manifests.ts';
export type { InstallOptions } from './manifests/install-options.ts';
export { installNames } from './manifests/install-options.ts';
export { machineConfigFile } from './manifests/machine-config.ts';
export { bootstrapPod } from './manifests/static-pod.ts';
export type { CloudProgram } from './program/run.ts';

/** In the order in which they start. */
const CONTROLLERS: readonly CloudController[] = [cloudNode, cloudNodeLifecycle, serviceLb, nodeRoute];

/** The cloud controller manager: what others know of this folder. */
export const cloudControllerManager = {
  name: 'cloud-controller-manager',
  acronym: 'CCM',
  controllers: CONTROLLERS,
  /** For the reference. */
  flags: CLOUD_FLAG_SECTIONS,
  /** Runs it to its end; never throws for what a user can put right. */
  run: (program: CloudProgram) => runCloudControllerManager(program, CONTROLLERS),
  /**
   * What it asks of the API server when it runs with these flags, for its roles. Sends nothing. Throws a userError when it
   * would not start.
   */
  needs: (definition: ProviderDefinition, argv: readonly string[] = []): InstallNeeds => {
    const { settings } = readSettings([`--cloud-provider=${definition.name}`, ...argv]);
    return cloudNeeds({ controllers: CONTROLLERS, definition, settings });
  },
} as const;

/** The needs of a program that is installed with these options: with the very flags that its Deployment has. */
export const installNeeds = (
  definition: ProviderDefinition,
  options: Omit<InstallOptions, 'image'> = {},
): InstallNeeds =>
  cloudControllerManager.needs(
    definition,
    deployedFlags(installNames(definition, options), definition, { image: '', ...options }),
  );
