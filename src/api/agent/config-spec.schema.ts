// `spec` of an OpenshiftAssistedConfig: the same fields are in its template and in control planes.
import * as z from 'zod';
import { kernelArguments, localReference, proxySettings } from '../assisted/shapes.schema.ts';
import { labelSelector } from '../cluster-api/shapes.schema.ts';
import { listAtomic } from '../schema/extensions.ts';

/** Absolute, of characters that need no quotes in a shell. */
const PATH = /^\/[a-zA-Z0-9_./-]+$/;

const registration = () =>
  z
    .object({
      name: z
        .string()
        .describe('Variable that holds the host name, such as `$METADATA_NAME`; it comes from the config drive.'),
      kubeletExtraLabels: z
        .array(z.string())
        .describe(
          'Labels of the node, `key=value`; the value may be a variable: `metal3.io/uuid=$METADATA_UUID`.',
        ),
    })
    .partial();

const common = {
  proxy: proxySettings().describe('The way to the internet during discovery.'),
  pullSecretRef: localReference().describe('Secret with the pull secret; without it a placeholder is used.'),
  additionalNTPSources: z.array(z.string()).describe('Names or addresses of further time servers.'),
  sshAuthorizedKey: z.string().describe('Public key that may log in to the host during discovery.'),
  nmStateConfigLabelSelector: labelSelector().describe(
    'NMStateConfigs with static network configuration of hosts.',
  ),
  cpuArchitecture: z.string().default('x86_64').describe('Architecture of the host.'),
  kernelArguments: kernelArguments().describe('Changes to the kernel arguments of the installed node.'),
  additionalTrustBundle: z.string().describe('Certificates in PEM that hosts trust besides those of the system.'),
  osImageVersion: z
    .string()
    .describe(
      'Version of the image for discovery. assisted-service refuses it for hosts of a cluster, which boot the version that fits.',
    ),
};

/** v1alpha1. */
export const commonConfigSpec = () =>
  z.object({ ...common, nodeRegistration: registration().describe('How the node registers itself.') }).partial();

const bootstrapCommands = (when: string) =>
  listAtomic(z.string()).describe(`Commands that run once on the node, ${when}.`);

/** v1alpha2. */
export const configSpec = () =>
  z
    .object({
      ...common,
      preBootstrapCommands: bootstrapCommands('before the kubelet starts'),
      postBootstrapCommands: bootstrapCommands('after the node has registered'),
      bootstrapCommandSentinelDir: z
        .string()
        .regex(PATH)
        .describe('Directory on the node where it is noted that commands ran; `/var/lib/capoa` when missing.'),
      postBootstrapKubeconfigPath: z
        .string()
        .regex(PATH)
        .describe(
          'kubeconfig on the node that tells when it has registered; `/var/lib/kubelet/kubeconfig` when missing.',
        ),
      nodeRegistration: registration()
        .extend({
          providerID: z
            .string()
            .optional()
            .describe('Provider ID of the node; may hold variables: `metal3://$METADATA_UUID`.'),
        })
        .describe('How the node registers itself.'),
    })
    .partial();
