// Shapes that kinds of assisted-service, Hive and our providers share.
import * as z from 'zod';
import { mapAtomic } from '../schema/extensions.ts';

const KERNEL_ARGUMENT = /^(?:(?:[^ \t\n\r"]+)|(?:"[^"]*"))+$/;

export const localReference = () =>
  mapAtomic(z.object({ name: z.string().default('').describe('Name, in the same namespace.') }));

export const proxySettings = () =>
  z
    .object({
      httpProxy: z.string().describe('URL of the proxy for HTTP.'),
      httpsProxy: z.string().describe('URL of the proxy for HTTPS.'),
      noProxy: z.string().describe('Names and networks that are reached directly, separated by commas.'),
    })
    .partial();

export const kernelArguments = () =>
  z.array(
    z
      .object({
        operation: z.enum(['append', 'replace', 'delete']).describe('What happens with the argument.'),
        value: z.string().regex(KERNEL_ARGUMENT).describe('The argument: `key`, `key=value` or text in quotes.'),
      })
      .partial(),
  );

export const diskEncryption = () =>
  z.object({
    enableOn: z
      .enum([
        'none',
        'all',
        'masters',
        'arbiters',
        'workers',
        'masters,arbiters',
        'masters,workers',
        'arbiters,workers',
        'masters,arbiters,workers',
      ])
      .default('none')
      .describe('Hosts whose disks are encrypted.'),
    mode: z.enum(['tpmv2', 'tang']).optional().describe('Where the keys are: in the TPM, or on Tang servers.'),
    tangServers: z.string().optional().describe('The Tang servers as a JSON list.'),
  });

const time = () => z.iso.datetime({ offset: true });

const assistedCondition = () =>
  z.object({
    type: z.string(),
    status: z.string(),
    reason: z.string().optional(),
    message: z.string().optional(),
    lastTransitionTime: time().optional(),
  });

/** Conditions as Hive writes them. */
export const probedConditions = () => z.array(assistedCondition().extend({ lastProbeTime: time().optional() }));

/** Conditions as assisted-service writes them. */
export const heartbeatConditions = () =>
  z.array(assistedCondition().extend({ lastHeartbeatTime: time().optional() }));

export const clusterMetadata = () =>
  z.object({
    clusterID: z.string(),
    infraID: z.string(),
    adminKubeconfigSecretRef: localReference(),
    adminPasswordSecretRef: localReference().optional(),
  });
