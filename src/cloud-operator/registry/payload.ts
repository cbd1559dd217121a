import type { KubeObject } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import type { CloudProviderDefinition, CredentialsRequestSpec } from '../definition.ts';
import { placeholderImage } from '../render/specimen.ts';

/** The image of the operator itself: every release has it, and manifests of providers may use it. */
const OPERATOR_IMAGE = {
  key: 'cloudControllerManagerOperator',
  payloadTag: 'cluster-cloud-controller-manager-operator',
} as const;

/** What a release is told about its images, as the file `image-references` of its manifests. */
export interface ImageStream extends KubeObject {
  readonly spec: {
    readonly tags: readonly {
      readonly name: string;
      readonly from: { readonly kind: 'DockerImage'; readonly name: string };
    }[];
  };
}

/** What the credentials operator makes a Secret of. */
export interface CredentialsRequest extends KubeObject {
  readonly spec: {
    readonly serviceAccountNames?: readonly string[];
    readonly secretRef: { readonly name: string; readonly namespace: string };
    readonly providerSpec: Readonly<Record<string, unknown>>;
  };
}

type Definitions = readonly CloudProviderDefinition[];

/** Keys of images.json with their payload tags, the operator first. Throws when two providers mean different images by a key. */
export function payloadTags(definitions: Definitions): ReadonlyMap<string, string> {
  const tags = new Map<string, string>([[OPERATOR_IMAGE.key, OPERATOR_IMAGE.payloadTag]]);
  for (const { id, images } of definitions) {
    for (const [key, { payloadTag }] of Object.entries(images)) {
      const known = tags.get(key) ?? payloadTag;
      if (known !== payloadTag) {
        throw userError(
          'InvalidDefinition',
          `cloud provider ${id}: images.${key} is ${known} already, not ${payloadTag}`,
        );
      }
      tags.set(key, payloadTag);
    }
  }
  return tags;
}

/**
 * Images that are in no release yet; a release puts its own in the place of those that image-references names, and so
 * both have to call the image of the operator as its Deployment does.
 */
export const imagesJson = (definitions: Definitions, operatorImage?: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...payloadTags(definitions)].map(([key, tag]) => [key, unreleasedImage(tag, operatorImage)]),
  );

const unreleasedImage = (tag: string, operatorImage: string | undefined): string =>
  tag === OPERATOR_IMAGE.payloadTag && operatorImage !== undefined ? operatorImage : placeholderImage(tag);

export const imageReferences = (definitions: Definitions, operatorImage?: string): ImageStream => ({
  apiVersion: 'image.openshift.io/v1',
  kind: 'ImageStream',
  metadata: { name: 'image-references' },
  spec: {
    tags: [...new Set(payloadTags(definitions).values())].map((name) => ({
      name,
      from: { kind: 'DockerImage', name: unreleasedImage(name, operatorImage) },
    })),
  },
});

/** One of each name. Throws when two providers ask for different things by one name. */
export function credentialsRequests(
  definitions: Definitions,
  managedNamespace: string,
): readonly CredentialsRequest[] {
  const found = new Map<string, CredentialsRequest>();
  for (const { id, credentials = [] } of definitions) {
    for (const one of credentials) {
      const request = credentialsRequest(one, managedNamespace);
      const known = found.get(one.name) ?? request;
      if (JSON.stringify(known) !== JSON.stringify(request)) {
        throw userError(
          'InvalidDefinition',
          `cloud provider ${id}: credentials ${one.name} are asked for otherwise already`,
        );
      }
      found.set(one.name, request);
    }
  }
  return [...found.values()];
}

const credentialsRequest = (
  { name, secretName, serviceAccountNames, providerSpec }: CredentialsRequestSpec,
  namespace: string,
): CredentialsRequest => ({
  apiVersion: 'cloudcredential.openshift.io/v1',
  kind: 'CredentialsRequest',
  metadata: { name, namespace: 'openshift-cloud-credential-operator' },
  spec: {
    ...(serviceAccountNames === undefined ? {} : { serviceAccountNames }),
    secretRef: { name: secretName, namespace },
    providerSpec,
  },
});
