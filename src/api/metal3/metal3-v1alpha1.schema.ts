// BareMetalHost as a lab serves it: what readers rely on is checked as Metal3 checks it, every other field is kept. The
// names come from metal3-v1alpha1.ts, and a test compares the fields.
import * as z from 'zod';
import { defineKind } from '../schema/define-kind.ts';
import { mapAtomic } from '../schema/extensions.ts';
import { BareMetalHost } from './metal3-v1alpha1.ts';

export const diskFormat = () => z.enum(['raw', 'qcow2', 'vdi', 'vmdk', 'live-iso']);
export const cleaningMode = () => z.enum(['metadata', 'disabled']);
export const secretReference = () => mapAtomic(z.object({ name: z.string(), namespace: z.string() }).partial());
const mac = () => z.string().regex(/[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}/);

const hostImage = () =>
  z.object({
    url: z.string(),
    checksum: z.string().optional(),
    checksumType: z.enum(['md5', 'sha256', 'sha512', 'auto']).optional(),
    format: diskFormat().optional(),
  });

const hardware = () =>
  z
    .object({
      hostname: z.string(),
      nics: z.array(z.object({ name: z.string(), mac: mac(), ip: z.string() }).partial()),
      systemVendor: z
        .object({ manufacturer: z.string(), productName: z.string(), serialNumber: z.string() })
        .partial(),
      cpu: z.object({ arch: z.string(), count: z.int() }).partial(),
      ramMebibytes: z.int(),
    })
    .partial();

export const BareMetalHostDefinition = defineKind({
  ...BareMetalHost,
  isForeign: true,
  description: 'A server that Metal3 switches on, inspects and writes images to.',
  shortNames: ['bmh', 'bmhost'],
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.operationalStatus', priority: 1 },
    { name: 'State', type: 'string', jsonPath: '.status.provisioning.state' },
    { name: 'Consumer', type: 'string', jsonPath: '.spec.consumerRef.name' },
    { name: 'BMC', type: 'string', jsonPath: '.spec.bmc.address', priority: 1 },
    { name: 'Online', type: 'string', jsonPath: '.spec.online' },
    { name: 'Error', type: 'string', jsonPath: '.status.errorType' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: z
    .object({
      online: z.boolean(),
      bootMACAddress: mac().optional(),
      bmc: z.object({ address: z.string(), credentialsName: z.string() }).optional(),
      image: hostImage().optional(),
      userData: secretReference().optional(),
      metaData: secretReference().optional(),
      networkData: secretReference().optional(),
      customDeploy: z.object({ method: z.string() }).optional(),
      consumerRef: mapAtomic(
        z.object({ apiVersion: z.string(), kind: z.string(), name: z.string(), namespace: z.string() }).partial(),
      ).optional(),
      automatedCleaningMode: cleaningMode().default('metadata'),
      hardwareProfile: z.string().optional(),
    })
    .optional(),
  status: z.object({
    provisioning: z.object({ state: z.string(), ID: z.string(), image: hostImage().optional() }),
    poweredOn: z.boolean(),
    hardware: hardware().optional(),
    errorMessage: z.string(),
    errorType: z
      .enum([
        'provisioned registration error',
        'registration error',
        'inspection error',
        'preparation error',
        'provisioning error',
        'power management error',
        'servicing error',
      ])
      .optional(),
    operationalStatus: z.enum(['', 'OK', 'discovered', 'error', 'delayed', 'detached', 'servicing']),
  }),
});
