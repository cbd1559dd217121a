import type { KubeObject } from '../../api/object.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { deploymentOf } from './deployment.ts';
import { type InstallNeeds, type InstallOptions, installNames } from './install-options.ts';
import { butane, MACHINE_ROLES, type MachineRole, machineConfig } from './machine-config.ts';
import { namespaceOf, trustedCaOf } from './namespace.ts';
import { providerIdScript } from './provider-id-script.ts';
import { accountAndRoles } from './roles.ts';

/** What installs a cloud controller manager on platform External, in the order in which one pass can create it (O4). */
export interface InstallManifests {
  readonly namespace: KubeObject;
  readonly roles: readonly KubeObject[];
  readonly trustedCa: KubeObject;
  readonly deployment: KubeObject;
  readonly machines: MachineManifests;
}

export interface MachineManifests {
  /** None when the machines cannot find out who they are. */
  readonly roles: readonly {
    readonly role: MachineRole;
    readonly machineConfig: KubeObject;
    readonly butane: string;
  }[];
  /** Why there are none. */
  readonly missing?: string;
}

/**
 * The needs must be those of a program with the flags that the Deployment has. Throws a userError for names that
 * Kubernetes does not take, and for needs that no role may hold.
 */
export function installManifests(
  definition: ProviderDefinition,
  needs: InstallNeeds,
  options: InstallOptions,
): InstallManifests {
  const names = installNames(definition, options);
  return {
    namespace: namespaceOf(names),
    roles: accountAndRoles(names, needs, options),
    trustedCa: trustedCaOf(names),
    deployment: deploymentOf(names, definition, options),
    machines: machineManifests(definition),
  };
}

function machineManifests(definition: ProviderDefinition): MachineManifests {
  const script = providerIdScript(definition);
  if ('missing' in script) return { roles: [], missing: script.missing };
  return {
    roles: MACHINE_ROLES.map((role) => ({
      role,
      machineConfig: machineConfig(role, script.text),
      butane: butane(role, script.text),
    })),
  };
}

/** The same as one list. */
export const installObjects = (manifests: InstallManifests): readonly KubeObject[] => [
  manifests.namespace,
  ...manifests.roles,
  manifests.trustedCa,
  manifests.deployment,
  ...manifests.machines.roles.map(({ machineConfig: object }) => object),
];
