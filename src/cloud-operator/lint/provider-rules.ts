import type { RuleText } from './rule.ts';

/** About a definition as a whole (I, R01, P), and about what installs the operator (M). */
export const PROVIDER_RULES = {
  imageKeys: {
    id: 'CCM-I01',
    severity: 'error',
    title: 'images that images.json has',
    why: 'the operator would render nothing: an image that must be there is missing',
    fix: 'add the key to images.json',
  },
  payloadTags: {
    id: 'CCM-I02',
    severity: 'error',
    title: 'one payload tag for each image key',
    why: 'the release replaces images of images.json by the tags of image-references',
    fix: 'give each image key of the definition a payload tag of its own',
  },
  unpublished: {
    id: 'CCM-I03',
    severity: 'warning',
    title: 'payload tags of images that are published',
    why: 'a tag in image-references without an image breaks nightly releases',
    fix: 'wait for the product build, then set isPublished in the definition',
  },
  heldRights: {
    id: 'CCM-R01',
    severity: 'error',
    title: 'rights that the operator holds itself',
    why: 'the API server lets nobody grant what he has not got',
    fix: 'render the operator anew: its roles are made from those of its operands',
  },
  copies: {
    id: 'CCM-P01',
    severity: 'error',
    title: 'fresh objects at every call',
    why: 'whoever changes what it got would change what all others get',
    fix: 'return copies from getResources and getBootstrapResources',
  },
  requestOrder: {
    id: 'CCM-M01',
    severity: 'error',
    title: 'requests for credentials before what waits for them',
    why: 'files are applied by name, and nothing behind an unhappy ClusterOperator is applied',
    fix: 'give the CredentialsRequest a lower number than the Deployment and the ClusterOperator',
  },
  annotations: {
    id: 'CCM-M02',
    severity: 'error',
    title: 'annotations of capability and profile',
    why: 'the cluster version operator leaves out what is in no profile',
    fix: 'annotate it with capability.openshift.io/name and include.release.openshift.io/…',
  },
  networkPolicy: {
    id: 'CCM-M03',
    severity: 'warning',
    title: 'a policy that denies by default',
    why: 'pods that somebody else puts into the namespace could talk to everybody',
    fix: 'add NetworkPolicy default-deny to both namespaces',
  },
} as const satisfies Readonly<Record<string, RuleText>>;
