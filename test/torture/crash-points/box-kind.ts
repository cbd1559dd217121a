import { z } from 'zod';
import { defineKind, type KindOf } from '../../../src/api/schema/define-kind.ts';
import { conditions } from '../../../src/api/schema/extensions.ts';

/** What the controllers of the scenarios are for: a box of some size, with some children. */
export const Box = defineKind({
  group: 'crash.example.com',
  version: 'v1',
  kind: 'Box',
  plural: 'boxes',
  scope: 'Namespaced',
  spec: z.object({ size: z.int().min(1).max(100), children: z.int().min(0).max(5).default(1) }),
  status: z
    .object({
      conditions: conditions(),
      size: z.int(),
      machine: z.string(),
      child: z.string(),
      isDone: z.boolean(),
    })
    .partial(),
});
export type Box = KindOf<typeof Box>;

export const NAMESPACE = 'default';
export const FINALIZER = 'crash.example.com/machine';
const BOX_LABEL = 'crash.example.com/box';

export const placeOf = ({ metadata: { name } }: Box, suffix = '') => ({
  name: `${name}${suffix}`,
  namespace: NAMESPACE,
});

export const labelsOf = ({ metadata: { name } }: Box) => ({ [BOX_LABEL]: name });

/** What a child says of its box. */
export const dataOf = ({ spec: { size } }: Box) => ({ size: String(size) });
