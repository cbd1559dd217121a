import type { OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import { userError } from '../../base/errors.ts';
import { type NodeStep, nodeStep } from './ignition-config.ts';
import type { MetadataValue } from './metadata-value.ts';
import { type NodeIdentity, nodeIdentity } from './node-labels.ts';
import { type BootstrapCommands, postBootstrapScript, preBootstrapScript } from './scripts/bootstrap-commands.ts';
import { configdriveMetadataScript } from './scripts/configdrive-metadata.ts';
import { injectProviderIdScript } from './scripts/inject-provider-id.ts';
import { kubeletLabelsScript } from './scripts/kubelet-labels.ts';
import { setHostnameScript } from './scripts/set-hostname.ts';

const DEFAULT_SENTINEL_DIRECTORY = '/var/lib/capoa';
const DEFAULT_KUBECONFIG = '/var/lib/kubelet/kubeconfig';
// The pattern of the schema: what else a path has would get a meaning in a script or a unit.
const PLAIN_PATH = /^\/[a-zA-Z0-9_./-]+$/;

/** Everything that is done on the installed node, in the order of its units. */
export function installSteps(spec: OpenshiftAssistedConfigSpec): readonly NodeStep[] {
  const identity = nodeIdentity(spec);
  const hasLabels = identity.labels.length > 0 || identity.providerId !== undefined;
  const { nameVariable, providerId } = identity;
  return [
    ...(hasLabels || nameVariable !== undefined ? [configdriveStep()] : []),
    ...(hasLabels ? [labelsStep(identity)] : []),
    ...(nameVariable === undefined ? [] : [hostnameStep(nameVariable)]),
    ...commandSteps(spec),
    ...(providerId === undefined ? [] : [providerIdStep(providerId)]),
  ];
}

/** What names the host while it is discovered. */
export const discoverySteps = (nameVariable: string): readonly NodeStep[] => [
  configdriveStep(),
  hostnameStep(nameVariable),
];

const configdriveStep = (): NodeStep =>
  nodeStep({
    unit: 'configdrive-metadata.service',
    description: 'Read the metadata of the config drive',
    ordering: ['Before=kubelet-customlabels.service', 'After=ostree-finalize-staged.service'],
    service: ['ExecStart=/usr/local/bin/configdrive_metadata'],
    path: '/usr/local/bin/configdrive_metadata',
    script: configdriveMetadataScript(),
  });

const labelsStep = ({ labels, providerId }: NodeIdentity): NodeStep =>
  nodeStep({
    unit: 'kubelet-customlabels.service',
    description: 'Tell kubelet the labels of its node',
    ordering: ['Before=kubelet.service', 'After=ostree-finalize-staged.service'],
    service: ['EnvironmentFile=/etc/metadata_env', 'ExecStart=/usr/local/bin/kubelet_custom_labels'],
    path: '/usr/local/bin/kubelet_custom_labels',
    script: kubeletLabelsScript(labels, providerId),
  });

const hostnameStep = (nameVariable: string): NodeStep =>
  nodeStep({
    unit: 'set-hostname.service',
    description: 'Name the host after its metadata',
    ordering: [
      'Before=kubelet.service',
      'After=configdrive-metadata.service',
      'Wants=configdrive-metadata.service',
    ],
    service: ['RemainAfterExit=true', 'ExecStart=/bin/bash /usr/local/bin/set_hostname'],
    path: '/usr/local/bin/set_hostname',
    script: setHostnameScript(nameVariable),
  });

const providerIdStep = ({ isReference }: MetadataValue): NodeStep =>
  nodeStep({
    unit: 'capoa-inject-provider-id.service',
    description: 'Give kubelet its provider ID',
    ordering: [
      'Before=kubelet.service',
      'After=kubelet-customlabels.service',
      'Wants=kubelet-customlabels.service',
    ],
    service: ['RemainAfterExit=true', 'ExecStart=/usr/local/bin/inject-provider-id'],
    path: '/usr/local/bin/inject-provider-id',
    script: injectProviderIdScript({ isTemplate: !isReference }),
  });

function commandSteps(spec: OpenshiftAssistedConfigSpec): readonly NodeStep[] {
  const { preBootstrapCommands = [], postBootstrapCommands = [] } = spec;
  return [
    ...(preBootstrapCommands.length > 0 ? [preBootstrapStep(commands(spec, 'pre', preBootstrapCommands))] : []),
    ...(postBootstrapCommands.length > 0
      ? [postBootstrapStep(commands(spec, 'post', postBootstrapCommands), kubeconfigPath(spec))]
      : []),
  ];
}

function preBootstrapStep(options: BootstrapCommands): NodeStep {
  const path = '/usr/local/bin/capoa-pre-bootstrap.sh';
  return nodeStep({
    unit: 'capoa-pre-bootstrap.service',
    description: 'Run the commands before kubelet',
    ordering: [
      'After=network.target ostree-finalize-staged.service configdrive-metadata.service ' +
        'kubelet-customlabels.service set-hostname.service',
      'Before=kubelet.service',
      `ConditionPathExists=!${options.sentinel}`,
    ],
    service: [`ExecStart=${path}`],
    path,
    script: preBootstrapScript(options),
    isPrivate: true,
  });
}

function postBootstrapStep(options: BootstrapCommands, kubeconfig: string): NodeStep {
  const path = '/usr/local/bin/capoa-post-bootstrap.sh';
  return nodeStep({
    unit: 'capoa-post-bootstrap.service',
    description: 'Run the commands after kubelet',
    ordering: ['Requires=kubelet.service', 'After=kubelet.service', `ConditionPathExists=!${options.sentinel}`],
    service: [`ExecStart=${path}`],
    path,
    script: postBootstrapScript(options, kubeconfig),
    isPrivate: true,
  });
}

function commands(
  spec: OpenshiftAssistedConfigSpec,
  when: 'pre' | 'post',
  list: readonly string[],
): BootstrapCommands {
  const field = 'spec.bootstrapCommandSentinelDir';
  const given = plainPath(spec.bootstrapCommandSentinelDir || DEFAULT_SENTINEL_DIRECTORY, field);
  const directory = given.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '');
  return {
    commands: list,
    directory: directory === '' ? '/' : directory,
    sentinel: `${directory}/${when}-bootstrap.done`,
  };
}

const kubeconfigPath = ({ postBootstrapKubeconfigPath }: OpenshiftAssistedConfigSpec): string =>
  plainPath(postBootstrapKubeconfigPath || DEFAULT_KUBECONFIG, 'spec.postBootstrapKubeconfigPath');

function plainPath(path: string, field: string): string {
  if (PLAIN_PATH.test(path)) return path;
  throw userError(
    'InvalidBootstrapPath',
    `${field} must be an absolute path of letters, digits, "_", ".", "-" and "/", not ${JSON.stringify(path)}`,
  );
}
