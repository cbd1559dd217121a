import type { KubeObject } from '../../api/object.ts';
import {
  bootstrapPod,
  CREDENTIALS_SECRET,
  type InstallManifests,
  type InstallOptions,
  installConfigPlatform,
  installManifests,
  installNames,
  installNeeds,
  machineConfigFile,
} from '../../cloud/index.ts';
import { printYaml } from '../../object/yaml.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { installReadme } from './install-readme.ts';
import type { Rendered, RenderedFile } from './rendered.ts';
import { streamText } from './stream.ts';

/** What `slipway render` makes of a definition. */
export const RENDER_TARGETS = {
  deploy: { summary: 'everything that installs it', render: renderDeploy },
  rbac: { summary: 'its account, roles and bindings', render: renderRoles },
  bootstrap: { summary: 'a static pod for the bootstrap machine', render: renderBootstrap },
} as const satisfies Readonly<Record<string, { readonly summary: string; readonly render: Render }>>;

type Render = (definition: ProviderDefinition, options: InstallOptions) => Omit<Rendered, 'input'>;

export type RenderTarget = keyof typeof RENDER_TARGETS;

const file = (path: string, objects: readonly KubeObject[]): RenderedFile => ({
  path,
  objects,
  text: streamText(objects),
});

const manifestsOf = (definition: ProviderDefinition, options: InstallOptions): InstallManifests =>
  installManifests(definition, installNeeds(definition, options), options);

function renderDeploy(definition: ProviderDefinition, options: InstallOptions): Omit<Rendered, 'input'> {
  const { namespace, roles, trustedCa, deployment, machines } = manifestsOf(definition, options);
  const { name } = installNames(definition);
  const configs = machines.roles.flatMap(({ role, machineConfig, butane }): readonly RenderedFile[] => [
    file(`openshift/${machineConfigFile(role)}.yaml`, [machineConfig]),
    { path: `butane/${machineConfigFile(role)}.bu`, objects: [], text: butane },
  ]);
  return {
    files: [
      // The installer and kubectl both take files in the order of their names.
      file(`manifests/${name}-00-namespace.yaml`, [namespace]),
      file(`manifests/${name}-01-rbac.yaml`, roles),
      file(`manifests/${name}-02-trusted-ca.yaml`, [trustedCa]),
      file(`manifests/${name}-03-deployment.yaml`, [deployment]),
      ...configs,
      { path: 'install-config-platform.yaml', objects: [], text: printYaml(installConfigPlatform(definition)) },
      { path: 'README.md', objects: [], text: installReadme(definition, options, machines.missing) },
    ],
    hints: hintsOf(definition, machines.missing),
  };
}

const hintsOf = ({ ccm }: ProviderDefinition, missing: string | undefined): readonly string[] => [
  ...(missing === undefined ? [] : [`no MachineConfig with the provider ID: ${missing}; nodes are found by name`]),
  ...(ccm.external
    ? []
    : ['ccm.external is false: nodes of such a cluster do not wait for a cloud controller manager']),
];

function renderRoles(definition: ProviderDefinition, options: InstallOptions): Omit<Rendered, 'input'> {
  const { roles } = manifestsOf(definition, options);
  return { files: [file(`manifests/${installNames(definition).name}-01-rbac.yaml`, roles)], hints: [] };
}

function renderBootstrap(definition: ProviderDefinition, options: InstallOptions): Omit<Rendered, 'input'> {
  const pod = bootstrapPod(definition, options);
  const folder = `/etc/kubernetes/bootstrap-secrets/${CREDENTIALS_SECRET}`;
  return {
    files: [file(`bootstrap/${pod.metadata.name}-pod.yaml`, [pod])],
    hints:
      definition.secrets.length === 0
        ? []
        : [
            `a static pod has no Secrets: put ${definition.secrets.join(', ')} into files of ${folder} on the bootstrap machine`,
          ],
  };
}

/** What the files depend on, for the digest: two runs with the same input write the same. */
export const renderInput = (what: RenderTarget, definition: ProviderDefinition, options: InstallOptions) => ({
  what,
  name: definition.name,
  displayName: definition.displayName,
  platformName: definition.platformName,
  providerID: { scheme: definition.providerID.scheme, format: definition.providerID.format },
  ccm: definition.ccm,
  secrets: definition.secrets,
  capabilities: Object.keys(definition.capabilities).toSorted(),
  metadata: definition.capabilities.metadata?.declare() ?? null,
  options,
});
