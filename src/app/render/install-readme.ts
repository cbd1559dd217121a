import { type InstallOptions, installNames } from '../../cloud/index.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';

/** What to do with the other files, for whoever finds them. */
export function installReadme(
  definition: ProviderDefinition,
  options: InstallOptions,
  missing: string | undefined,
): string {
  const { name, namespace } = installNames(definition, options);
  const machines =
    missing === undefined
      ? '- `openshift/`: MachineConfigs that give each kubelet the provider ID of its machine; into `openshift/` of the installation folder.\n- `butane/`: the same for people; nothing reads it.'
      : `- There are no MachineConfigs: ${missing}.`;
  const secrets = definition.secrets.map((key) => `\`${key}\``).join(', ');
  const credentials =
    secrets === '' ? '' : `\nCredentials: the Secret \`cloud-credentials\` with the keys ${secrets}.\n`;
  const config =
    options.cloudConfig === undefined
      ? ''
      : `\nCloud configuration: the ${options.cloudConfig} \`cloud-config\` with the key \`cloud.conf\`.\n`;
  return `# ${definition.displayName}: cloud controller manager

- \`install-config-platform.yaml\`: belongs into \`install-config.yaml\`. Decided at installation, for ever.
- \`manifests/\`: into \`manifests/\` of the installation folder, after \`openshift-install create manifests\`; or
  \`oc apply -f manifests/\` on a cluster that runs.
${machines}

Everything is in the namespace \`${namespace}\`, the Deployment is \`${name}\`.
${credentials}${config}`;
}
