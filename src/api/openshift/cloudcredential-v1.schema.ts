import * as z from 'zod';
import { defineKind } from '../schema/define-kind.ts';
import { mapAtomic, preserveUnknown } from '../schema/extensions.ts';
import { CredentialsRequest } from './cloudcredential-v1.ts';

export const CredentialsRequestDefinition = defineKind({
  ...CredentialsRequest,
  isForeign: true,
  description: 'Asks for a Secret with rights in the cloud.',
  spec: z.object({
    secretRef: mapAtomic(z.object({ namespace: z.string(), name: z.string() }).partial()),
    serviceAccountNames: z.array(z.string()).optional(),
    cloudTokenPath: z.string().optional(),
    providerSpec: preserveUnknown().optional(),
  }),
  status: z.object({
    provisioned: z.boolean(),
    lastSyncGeneration: z.int(),
    conditions: z
      .array(
        z.object({
          type: z.string(),
          status: z.string(),
          lastTransitionTime: z.iso.datetime({ offset: true }).optional(),
          reason: z.string().optional(),
          message: z.string().optional(),
        }),
      )
      .optional(),
  }),
});
