import type { KubeObject } from '../../api/object.ts';
import {
  bootstrapPod,
  CREDENTIALS_SECRET,
  type InstallOptions,
  installManifests,
  installNeeds,
} from '../../cloud/index.ts';
import { type CloudProviderDefinition, MANAGED_NAMESPACE } from '../../cloud-operator/index.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';

/** Where a program of a partner is in an image, and which image that is. */
export interface ExternalImage {
  readonly image: string;
  /** Path of the definition in the image; where such images have it unless told otherwise. */
  readonly providerFile?: string;
}

/**
 * What the cloud operator has to know about a provider of ours: the very Deployment and static pod that `slipway render`
 * makes of its definition, for platform External (D1). In the namespace that manifests of platforms have, which the
 * operator replaces by that of its mode.
 */
export function externalProvider(definition: ProviderDefinition, where: ExternalImage): CloudProviderDefinition {
  const { name: id, platformName, secrets } = definition;
  const options = operatedOptions(where, MANAGED_NAMESPACE);
  const { deployment } = manifestsOf(definition, options);
  return {
    id,
    match: { type: 'External', platformName },
    images: {
      [imageKey(id)]: { container: 'cloud-controller-manager', payloadTag: `${id}-cloud-controller-manager` },
    },
    assets: { objects: [deployment] },
    bootstrapAssets: { objects: [bootstrapPod(definition, options)] },
    cloudConfig: { sources: ['user'] },
    ...(secrets.length > 0 && {
      credentials: [credentialsOf(definition)],
      bootstrapSecret: CREDENTIALS_SECRET,
      bootstrapSecretKeys: secrets,
    }),
    lint: {
      ignore: [
        { rule: 'CCM-W21', reason: 'the program reads apiserver-url.env itself, by --apiserver-env-file' },
        { rule: 'CCM-W22', reason: 'the program reads apiserver-url.env itself, by --apiserver-env-file' },
        { rule: 'CCM-W26', reason: 'its one account has the rights that its controllers declare, and no others' },
        { rule: 'CCM-W32', reason: 'the program speaks TLS 1.2 or later with the ciphers of Node' },
      ],
    },
  };
}

/** Account and roles of the cloud controller manager: installed with the operator, which then need not hold them. */
export const externalAccess = (
  definition: ProviderDefinition,
  where: ExternalImage,
  namespace: string,
): readonly KubeObject[] => manifestsOf(definition, operatedOptions(where, namespace)).roles;

const operatedOptions = ({ image, providerFile }: ExternalImage, namespace: string): InstallOptions => ({
  image,
  namespace,
  ...(providerFile !== undefined && { providerFile }),
  operated: true,
});

const manifestsOf = (definition: ProviderDefinition, options: InstallOptions) =>
  installManifests(definition, installNeeds(definition, options), options);

/** In images.json: `cloudControllerManagerAcmeCloud`. */
export const imageKey = (id: string): string => {
  const words = id.split('-').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `cloudControllerManager${words.join('')}`;
};

/** Nobody fulfils it on platform External yet; it says what the Secret has to hold, and to whom it belongs. */
const credentialsOf = ({ name, secrets }: ProviderDefinition) => ({
  name: `openshift-${name}-cloud-controller-manager`,
  secretName: CREDENTIALS_SECRET,
  serviceAccountNames: ['cloud-controller-manager'],
  keys: [...secrets],
  providerSpec: { apiVersion: 'slipway.dev/v1alpha1', kind: 'ProviderSecrets', keys: [...secrets] },
});
