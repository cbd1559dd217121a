import { basename } from 'node:path/posix';
import type { KubeObject } from '../../api/object.ts';
import type { Infrastructure } from '../../api/openshift/config-v1.ts';
import { messageOf, userError } from '../../base/errors.ts';
import { printYaml } from '../../object/yaml.ts';
import { composeContext } from '../config/compose.ts';
import { featureGates } from '../config/feature-gates.ts';
import { parseImages } from '../config/images.ts';
import { type CloudProvider, type CloudProviderDefinition, MANAGED_NAMESPACE } from '../definition.ts';
import type { ProviderRegistry } from '../registry/providers.ts';
import { type GivenFile, readConfigMap, readInfrastructure, readSecret } from './given-files.ts';

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

/** Folders that are there even when nothing is in them (R87). */
export const BOOTSTRAP_FOLDERS = ['bootstrap', 'config'] as const;

/**
 * Static pods with the images of the release, and what they read: `config/` becomes `/etc/kubernetes/bootstrap-configs`,
 * `secrets/` part of `/etc/kubernetes/bootstrap-secrets` (R85–R88). Throws a userError that names the file. Pure.
 */
export function renderBootstrap(
  input: BootstrapInput,
  { registry, provider: choice }: { readonly registry: ProviderRegistry; readonly provider?: string },
): RenderedBootstrap {
  const infra = readInfrastructure(input.infrastructure);
  const images = imagesOf(input.images, registry.imageKeys());
  const cloudConfig = cloudConfigText(infra, input.cloudConfig);
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
    hints: hintsFor(provider, {
      platform: context.platformType,
      hasPods: pods.length > 0,
      cloudConfig,
      credentials: credentials.map(({ path }) => basename(path)),
    }),
  };
}

const withoutCloudConfig = ({
  spec: { cloudConfig: _none, ...spec } = {},
  ...infra
}: Infrastructure): Infrastructure => ({
  ...infra,
  spec,
});

const IMAGES_KEY = 'images.json';

/** Images by key out of the ConfigMap that has `images.json` (R86). Throws a userError that names the file. */
export function imagesOf(given: GivenFile, keys: readonly string[]): ReadonlyMap<string, string> {
  const { data, metadata } = readConfigMap(given);
  const shown = `ConfigMap ${metadata.namespace ?? ''}/${metadata.name}`;
  const problem = (text: string, cause?: unknown) => userError('InvalidFile', `${given.file}: ${text}`, { cause });
  if (data === undefined) throw problem('unable to find Data field in provided ConfigMap');
  const text = data[IMAGES_KEY];
  if (text === undefined) throw problem(`unable to find images key "${IMAGES_KEY}" in ${shown}`);
  try {
    return parseImages({ text, file: IMAGES_KEY, keys });
  } catch (cause) {
    throw problem(`unable to decode images content from ${shown}: ${messageOf(cause)}`, cause);
  }
}

/** Empty: there is none (R85). */
function cloudConfigText({ spec }: Infrastructure, given: GivenFile | undefined): string {
  const { name = '', key = '' } = spec?.cloudConfig ?? {};
  if (name === '') return '';
  if (given === undefined) {
    throw userError(
      'InvalidFile',
      `the Infrastructure names the cloud configuration openshift-config/${name}: give its ConfigMap with --cloud-config-file`,
    );
  }
  const { data = {}, metadata } = readConfigMap(given);
  const found = ['cloud.conf', key].find((one) => Object.hasOwn(data, one));
  if (found !== undefined) return data[found] ?? '';
  const missing = key === '' ? 'no key cloud.conf' : `neither cloud.conf nor ${key}`;
  throw userError('InvalidFile', `${given.file}: ConfigMap ${metadata.name} has ${missing}`);
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
  /** The keys that were given. */
  readonly credentials: readonly string[];
}

function hintsFor(
  provider: CloudProvider | undefined,
  { platform, hasPods, cloudConfig, credentials }: HintFacts,
): readonly string[] {
  if (provider === undefined) {
    return platform === 'External'
      ? ['no static pod: platform External has those of a provider; name it with --provider']
      : [`no static pod: platform ${platform} has no cloud controller manager`];
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
  given: readonly string[],
): readonly string[] {
  if (bootstrapSecret === undefined) return [];
  const folder = `/etc/kubernetes/bootstrap-secrets/${bootstrapSecret}/`;
  if (given.length === 0) {
    return [
      `no credentials: give Secret ${bootstrapSecret} with --credentials-file, or put its keys into ${folder}`,
    ];
  }
  const missing = bootstrapSecretKeys.filter((key) => !given.includes(key));
  if (missing.length === 0) return [];
  return [`Secret ${bootstrapSecret} lacks ${missing.join(', ')}, which the provider reads: add it to the Secret`];
}
