import * as z from 'zod';
import { defineKind } from '../../../src/api/schema/define-kind.ts';
import { conditions, listMap, preserveUnknown } from '../../../src/api/schema/extensions.ts';

/** A kind of its own for each file of tests, so that files can share a cluster. */
export const gadgetOf = (group: string) =>
  defineKind({
    group: `${group}.runtime.slipway.test`,
    version: 'v1',
    kind: 'Gadget',
    plural: 'gadgets',
    scope: 'Namespaced',
    spec: z.object({
      size: z.int32().min(0).max(100).default(1),
      color: z.enum(['red', 'green', 'blue']).optional(),
      ports: listMap(['port'], z.object({ port: z.int32(), name: z.string().max(20).optional() })).optional(),
      extra: preserveUnknown().optional(),
    }),
    status: z.object({ replicas: z.int32(), note: z.string(), conditions: conditions() }).partial(),
    subresources: {
      status: true,
      scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' },
    },
  });

export const Gadget = gadgetOf('reading');
