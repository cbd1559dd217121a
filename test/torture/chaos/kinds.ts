import * as z from 'zod';
import type { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import type { ApplyOf } from '../../../src/api/object.ts';
import { defineKind, type KindOf } from '../../../src/api/schema/define-kind.ts';
import { conditions } from '../../../src/api/schema/extensions.ts';
import { ownedBy } from '../../../src/object/owner-references.ts';

const GROUP = 'chaos.slipway.example';
const shared = { group: GROUP, version: 'v1', scope: 'Namespaced' } as const;
export const NAMESPACE = 'default';
export const BOX_LABEL = `${GROUP}/box`;
export const TALLY_LABEL = `${GROUP}/tally`;

/** Owns as many ConfigMaps as it says. */
export const Box = defineKind({
  ...shared,
  kind: 'Box',
  plural: 'boxes',
  spec: z.object({ copies: z.int32().min(0).max(9), text: z.string().max(100), tally: z.string().max(63) }),
  status: z
    .object({ generation: z.int32(), copies: z.int32(), text: z.string().max(100), conditions: conditions() })
    .partial(),
});
export type Box = KindOf<typeof Box>;

/** Stands for something outside the cluster. */
export const Disk = defineKind({
  ...shared,
  kind: 'Disk',
  plural: 'disks',
  spec: z.object({ size: z.int32().min(1) }),
  status: z.object({ generation: z.int32(), size: z.int32(), conditions: conditions() }).partial(),
});
export type Disk = KindOf<typeof Disk>;

/** Counts the ConfigMaps that carry its name. */
export const Tally = defineKind({
  ...shared,
  kind: 'Tally',
  plural: 'tallies',
  spec: z.object({ note: z.string().max(100) }),
  status: z.object({ generation: z.int32(), count: z.int32(), letters: z.int32() }).partial(),
});
export type Tally = KindOf<typeof Tally>;

export const KINDS = [Box, Disk, Tally] as const;

/** What a box asks for: the one truth for its controller and for the check of the world. */
export function mapsOf(box: Box): readonly ApplyOf<ConfigMap>[] {
  const { copies, text, tally } = box.spec;
  return Array.from({ length: copies }, (_, index) => ({
    metadata: {
      name: `${box.metadata.name}-${index}`,
      namespace: NAMESPACE,
      labels: { [BOX_LABEL]: box.metadata.name, [TALLY_LABEL]: tally },
      ...ownedBy(box),
    },
    data: { text, index: String(index) },
  }));
}

export interface Counted {
  readonly count: number;
  readonly letters: number;
}

/** What a tally says of the maps that carry its name. */
export const talliedOf = (maps: readonly { readonly data?: ConfigMap['data'] }[]): Counted => ({
  count: maps.length,
  letters: maps.reduce((sum, { data }) => sum + (data?.['text']?.length ?? 0), 0),
});
