import type { PlatformStatus, PlatformType } from '../src/api/openshift/config-v1.ts';
import type { ProviderRegistry } from '../src/cloud-operator/index.ts';
import { table } from './docs-markdown.ts';

const INTRO = `What the cloud operator does on each platform of OpenShift, from the definitions in \`src/cloud-operator/platforms\`. An
Infrastructure says the platform in \`status.platformStatus.type\`.`;

const EXTERNAL_INTRO = `Kubelets with \`--cloud-provider=external\` give their node a taint and wait for a cloud controller manager to take it
away. kube-controller-manager and kube-apiserver leave the cloud alone in the same clusters.`;

const OBJECTS_INTRO = `The objects are those of a cluster with several control-plane nodes, in the order in which they are applied. A cluster
of a single node has one replica and no PodDisruptionBudget.`;

/** Platforms without a definition, and the ways in which External can be meant. */
const OTHERS: readonly { readonly name: string; readonly status: PlatformStatus }[] = [
  {
    name: 'External, `cloudControllerManager.state: External`',
    status: { type: 'External', external: { cloudControllerManager: { state: 'External' } } },
  },
  {
    name: 'External, any other state',
    status: { type: 'External', external: { cloudControllerManager: { state: 'None' } } },
  },
  ...(['None', 'BareMetal', 'Libvirt', 'oVirt', 'EquinixMetal'] as const satisfies readonly PlatformType[]).map(
    (type) => ({ name: type, status: { type } }),
  ),
];

/** docs/reference/platforms.md. */
export function platformsPage(registry: ProviderRegistry): string {
  const rows = registry.platformTable();
  const decided = rows.map(({ id, platform, objects, isConfigSynced, kubeletFlag }) => [
    id === platform.toLowerCase() ? platform : `${platform} (\`${id}\`)`,
    code(kubeletFlag),
    objects.length === 0 ? 'nothing' : `${objects.length} objects`,
    isConfigSynced ? 'yes' : 'no',
  ]);
  const others = OTHERS.map(({ name, status }) => [
    name,
    code(`--cloud-provider=${registry.kubeletCloudProvider(status)}`),
    registry.isCloudProviderExternal(status) ? 'what a provider of yours brings' : 'nothing',
    registry.isCloudProviderExternal(status) ? 'for a provider of yours' : 'no',
  ]);
  const deployed = rows.filter(({ objects }) => objects.length > 0);
  return [
    '# Platforms',
    INTRO,
    '## What is decided',
    EXTERNAL_INTRO,
    table(['platform', 'kubelet', 'deployed', '`cloud-conf` synced'], [...decided, ...others]),
    '## What is deployed',
    OBJECTS_INTRO,
    table(
      ['provider', 'objects', 'keys of images.json', 'Secrets'],
      deployed.map(({ id, objects, images, secrets }) => [
        code(id),
        objects.map(code).join('<br>'),
        images.map(code).join('<br>'),
        secrets.length === 0 ? '–' : secrets.map(code).join('<br>'),
      ]),
    ),
  ].join('\n\n');
}

const code = (text: string): string => `\`${text}\``;
