import { z } from 'zod';

/** What of the objects of the lab cloud this provider reads (lab/C2); there may be more in them. */
const head = {
  id: z.string().min(1),
  name: z.string(),
  tags: z.record(z.string(), z.string()),
  state: z.string(),
};

export const instanceSchema = z.object({
  ...head,
  zone: z.string().min(1),
  type: z.string().min(1),
  providerID: z.string().min(1),
  privateAddress: z.string().min(1),
  publicAddress: z.string().min(1),
  hostname: z.string().min(1),
  networkId: z.string(),
});

export type LabInstance = z.output<typeof instanceSchema>;

export const balancerSchema = z.object({
  ...head,
  scheme: z.enum(['public', 'internal']),
  address: z.string().optional(),
  stateReason: z.object({ code: z.string(), message: z.string() }).optional(),
});

export type LabBalancer = z.output<typeof balancerSchema>;

export const routeSchema = z.object({
  ...head,
  destinationCidr: z.string().min(1),
  targetInstanceId: z.string().min(1),
});

export type LabRoute = z.output<typeof routeSchema>;

export const zoneSchema = z.object({ name: z.string().min(1), region: z.string().min(1), available: z.boolean() });

export type LabZone = z.output<typeof zoneSchema>;

export const tokenSchema = z.object({ token: z.string().min(1), expiresAt: z.iso.datetime() });
