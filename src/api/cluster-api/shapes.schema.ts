// Shapes that many kinds of Cluster API and its providers share.
import * as z from 'zod';
import { listAtomic, mapAtomic } from '../schema/extensions.ts';

const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const KIND_NAME = /^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/;

/** An object that says something when it is there. */
export const notEmpty = <Shape extends z.ZodRawShape>(object: z.ZodObject<Shape>): z.ZodObject<Shape> =>
  object.meta({ minProperties: 1 });

export const dnsName = () => z.string().min(1).max(253).regex(DNS_NAME);

export const contractReference = () =>
  z.object({
    apiGroup: dnsName().describe('API group of the object, without a version.'),
    kind: z.string().min(1).max(63).regex(KIND_NAME).describe('Kind of the object.'),
    name: dnsName().describe('Name of the object, which is in the same namespace.'),
  });

const seconds = (what: string) => z.int32().min(0).describe(`${what} 0 means without limit.`);

export const machineDeletion = () =>
  notEmpty(
    z
      .object({
        nodeDrainTimeoutSeconds: seconds('Seconds that draining the node may take.'),
        nodeVolumeDetachTimeoutSeconds: seconds('Seconds that detaching the volumes of the node may take.'),
        nodeDeletionTimeoutSeconds: seconds('Seconds that deleting the Node object is tried.'),
      })
      .partial(),
  );

/** A condition as Cluster API wrote it before v1beta2. */
export const v1beta1Conditions = () =>
  z.array(
    z.object({
      type: z.string().min(1).max(256).describe('What the condition is about.'),
      status: z.string().describe('`True`, `False` or `Unknown`.'),
      severity: z.string().max(32).optional().describe('How bad it is that the status is not `True`.'),
      lastTransitionTime: z.iso.datetime({ offset: true }).describe('When the condition changed.'),
      reason: z.string().min(1).max(256).optional().describe('The cause in one word.'),
      message: z.string().min(1).max(10_240).optional().describe('The cause in a sentence.'),
    }),
  );

export const deprecatedStatus = () =>
  z.object({ v1beta1: z.object({ conditions: v1beta1Conditions() }).partial() }).partial();

export const labelSelector = () =>
  mapAtomic(
    z
      .object({
        matchLabels: z.record(z.string(), z.string()).describe('Labels that an object must have.'),
        matchExpressions: listAtomic(
          z.object({
            key: z.string().describe('Key of the label.'),
            operator: z.string().describe('`In`, `NotIn`, `Exists` or `DoesNotExist`.'),
            values: listAtomic(z.string()).optional().describe('Values that the operator compares with.'),
          }),
        ).describe('What else the labels of an object must be.'),
      })
      .partial(),
  );

export const templateMeta = () =>
  z
    .object({
      labels: z.record(z.string(), z.string()).describe('Labels of what is made from the template.'),
      annotations: z.record(z.string(), z.string()).describe('Annotations of what is made from the template.'),
    })
    .partial();

export const apiEndpoint = () =>
  notEmpty(z.object({ host: z.string().min(1).max(512), port: z.int32().min(1).max(65_535) }).partial());

export const failureDomains = () =>
  z
    .array(
      z.object({
        name: z.string().min(1).max(256),
        controlPlane: z.boolean().optional(),
        attributes: z.record(z.string(), z.string()).optional(),
      }),
    )
    .min(1)
    .max(100)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] });

export const machineAddress = () =>
  z.object({
    type: z.enum(['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS']),
    address: z.string().min(1).max(256),
  });

/** Of a provider: which of its versions follows which contract. Core looks at these labels only. */
export const contractLabels = (versions: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(versions).map(([contract, version]) => [`cluster.x-k8s.io/${contract}`, version]),
  );
