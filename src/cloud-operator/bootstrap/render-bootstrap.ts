import { basename } from 'node:path/posix';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import type { Infrastructure } from '../../api/openshift/config-v1.ts';
import { userError } from '../../base/errors.ts';
import { printYaml } from '../../object/yaml.ts';
import { composeContext } from '../config/compose.ts';
import { featureGates } from '../config/feature-gates.ts';
import { type CloudProvider, type CloudProviderDefinition, MANAGED_NAMESPACE } from '../definition.ts';
import type { ProviderRegistry } from '../registry/providers.ts';
import { type GivenFile, readConfigMap, readInfrastructure, readSecret } from './given-files.ts';
import { type ImageRules, imagesOf } from './given-images.ts';

/** What an installer has when it makes the bootstrap machine. */
export interface BootstrapInput {
  readonly infrastructure: GivenFile;
  /** The ConfigMap with `images.json`. */
  readonly images: GivenFile;
  /** The ConfigMap that cluster-config-operator made. */
  readonly cloudConfig?: GivenFile;
  /** The Secret that the provider reads on the bootstrap machine. */
  readonly credentials?: GivenFile;
}

/** One file below the folder that was asked for. */
export interface BootstrapFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Nobody but its owner may read it. */
  readonly isSecret: boolean;
}

export interface RenderedBootstrap {
  readonly pods: readonly KubeObject[];
  readonly files: readonly BootstrapFile[];
  readonly hints: readonly string[];
}

/** Who is asked for pods, and how the images that they get are looked at. */
export interface BootstrapChoice {
  readonly registry: ProviderRegistry;
  readonly provider?: string;
  readonly imageProblem?: ImageRules['problemOf'];
}

/** Folders that are there even when nothing is in them (R87). */
export const BOOTSTRAP_FOLDERS = ['bootstrap', 'config'] as const;

/**
 * Static pods with the images of the release, and what they read: `config/` becomes `/etc/kubernetes/bootstrap-configs`,
 * `secrets/` part of `/etc/kubernetes/bootstrap-secrets` (R85–R88). Throws a userError that names the file. Pure.
 */
export function renderBootstrap(
  input: BootstrapInput,
  { registry, provider: choice, imageProblem }: BootstrapChoice,
): RenderedBootstrap {
  const infra = readInfrastructure(input.infrastructure);
  const { images, hints } = imagesOf(input.images, { keys: registry.imageKeys(), problemOf: imageProblem });
  const { text: cloudConfig, hints: configHints } = cloudConfigOf(infra, input.cloudConfig);
  const context = composeContext({
    // One that is empty is not written: to the pod there is none.
    infra: cloudConfig === '' ? withoutCloudConfig(infra) : infra,
    proxy: undefined,
    images,
    gates: featureGates([]),
    tls: { minVersion: '', cipherSuites: '' },
    managedNamespace: MANAGED_NAMESPACE,
  });
  const provider = registry.resolve(infra, { provider: choice });
  requireExternal(input.infrastructure, infra, provider);
  const pods = provider?.getBootstrapResources(context) ?? [];
  const credentials = credentialFiles(provider, input.credentials);
  return {
    pods,
    files: [
      ...pods.map((pod) => ({
        path: `bootstrap/${pod.metadata.name}-${pod.kind.toLowerCase()}.yaml`,
        content: printYaml(pod),
        isSecret: false,
      })),
      ...(cloudConfig === '' ? [] : [{ path: 'config/cloud.conf', content: cloudConfig, isSecret: false }]),
      ...credentials,
    ],
    hints: [
      ...hints,
      ...configHints,
      ...hintsFor(provider, {
        platform: context.platformType,
        hasPods: pods.length > 0,
        cloudConfig,
        credentials,
      }),
    ],
  };
}

/** Kubelets of platform External wait for a cloud only when they are told to at installation (D2). */
function requireExternal(
  { file }: GivenFile,
  { status }: Infrastructure,
  provider: CloudProvider | undefined,
): void {
  const { type, external } = status?.platformStatus ?? {};
  if (type !== 'External') return;
  if (provider === undefined) {
    throw userError(
      'InvalidFile',
      `${file}: platform External has the static pods of a provider: name it with --provider`,
    );
  }
  const state = external?.cloudControllerManager?.state ?? '';
  if (state === 'External' || provider.definition.kubelet?.cloudProvider === '') return;
  throw userError(
    'InvalidFile',
    `${file}: status.platformStatus.external.cloudControllerManager.state is "${state}": kubelets would not wait for a cloud; it must be External, by platform.external.cloudControllerManager: External in the configuration of the installation`,
  );
}

const withoutCloudConfig = ({
  spec: { cloudConfig: _none, ...spec } = {},
  ...infra
}: Infrastructure): Infrastructure => ({
  ...infra,
  spec,
});

/** Empty: there is none (R85). */
function cloudConfigOf(
  { spec }: Infrastructure,
  given: GivenFile | undefined,
): { readonly text: string; readonly hints: readonly string[] } {
  const { name = '', key = '' } = spec?.cloudConfig ?? {};
  if (name === '') return { text: '', hints: [] };
  if (given === undefined) {
    throw userError(
      'InvalidFile',
      `the Infrastructure names the cloud configuration openshift-config/${name}: give its ConfigMap with --cloud-config-file`,
    );
  }
  const { data = {}, metadata } = readConfigMap(given);
  const found = ['cloud.conf', key].find((one) => Object.hasOwn(data, one));
  if (found !== undefined) return { text: data[found] ?? '', hints: otherName(given, metadata, name) };
  const missing = key === '' ? 'no key cloud.conf' : `neither cloud.conf nor ${key}`;
  throw userError('InvalidFile', `${given.file}: ConfigMap ${metadata.name} has ${missing}`);
}

/** What the operator itself would take is the one that is named, or what cluster-config-operator made of it (R64). */
function otherName({ file }: GivenFile, metadata: ObjectMeta, named: string): readonly string[] {
  const { name, namespace = '' } = metadata;
  const isIn = (wanted: string): boolean => namespace === '' || namespace === wanted;
  const isExpected =
    (name === named && isIn('openshift-config')) ||
    (name === 'kube-cloud-config' && isIn('openshift-config-managed'));
  if (isExpected) return [];
  const found = [namespace, name].filter((part) => part !== '').join('/');
  return [`${file}: is ConfigMap ${found}; the Infrastructure names openshift-config/${named}`];
}

function credentialFiles(
  provider: CloudProvider | undefined,
  given: GivenFile | undefined,
): readonly BootstrapFile[] {
  if (given === undefined) return [];
  const wanted = provider?.definition.bootstrapSecret;
  if (wanted === undefined) {
    const who = provider === undefined ? 'nobody reads' : `provider ${provider.definition.id} reads no`;
    throw userError(
      'InvalidFile',
      `--credentials-file: ${who} credentials on the bootstrap machine; leave it out`,
    );
  }
  const { name, values } = readSecret(given);
  if (name !== wanted) {
    throw userError('InvalidFile', `${given.file}: is Secret "${name}"; the static pod reads ${wanted}`);
  }
  return [...values].map(([key, content]) => ({ path: `secrets/${name}/${key}`, content, isSecret: true }));
}

interface HintFacts {
  readonly platform: string;
  readonly hasPods: boolean;
  readonly cloudConfig: string;
  readonly credentials: readonly BootstrapFile[];
}

function hintsFor(
  provider: CloudProvider | undefined,
  { platform, hasPods, cloudConfig, credentials }: HintFacts,
): readonly string[] {
  if (provider === undefined) {
    return [`no static pod: platform ${platform} has no cloud controller manager`];
  }
  if (!hasPods) {
    return [
      `no static pod: on platform ${platform} the Deployment, which tolerates uninitialised nodes, does it all`,
    ];
  }
  const { cloudConfig: policy, match } = provider.definition;
  return [
    ...(policy !== undefined && match.type === 'External' && cloudConfig === ''
      ? [
          'no config/cloud.conf, and no --cloud-config for the static pod: the Infrastructure names no cloud configuration (spec.cloudConfig.name), or an empty one',
        ]
      : []),
    ...credentialHints(provider.definition, credentials),
  ];
}

function credentialHints(
  { bootstrapSecret, bootstrapSecretKeys = [] }: CloudProviderDefinition,
  given: readonly BootstrapFile[],
): readonly string[] {
  if (bootstrapSecret === undefined) return [];
  const folder = `/etc/kubernetes/bootstrap-secrets/${bootstrapSecret}/`;
  if (given.length === 0) {
    return [
      `no credentials: give Secret ${bootstrapSecret} with --credentials-file, or put its keys into ${folder}`,
    ];
  }
  const keys = given.map(({ path }) => basename(path));
  const missing = bootstrapSecretKeys.filter((key) => !keys.includes(key));
  const empty = given.filter(({ content }) => content.length === 0).map(({ path }) => basename(path));
  return [
    ...(missing.length === 0
      ? []
      : [`Secret ${bootstrapSecret} lacks ${missing.join(', ')}, which the provider reads: add it to the Secret`]),
    ...(empty.length === 0
      ? []
      : [`Secret ${bootstrapSecret} has an empty value for ${empty.join(', ')}: the provider would get nothing`]),
  ];
}
