import * as z from 'zod';
import { defineKind, type KindOf } from '../../src/api/schema/define-kind.ts';
import {
  anyValue,
  cel,
  conditions,
  duration,
  embeddedResource,
  int64,
  intOrString,
  listAtomic,
  listMap,
  listSet,
  mapAtomic,
  preserveUnknown,
  quantity,
  withRules,
} from '../../src/api/schema/extensions.ts';
import { taggedUnion } from '../../src/api/schema/tagged-union.ts';

const port = z.object({
  port: z.int32().min(1).max(65_535),
  proto: z.enum(['TCP', 'UDP']).default('TCP'),
  target: intOrString().optional(),
});

/** A kind with every feature of a definition. */
export const Widget = defineKind({
  group: 'kinds.slipway.example',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  description: 'A thing with every feature that a definition can have.',
  spec: z.object({
    color: z.enum(['red', 'green']).optional().describe('What it looks like.'),
    replicas: z.int32().min(0).default(1).describe('How many there are.'),
    ports: listMap(['port', 'proto'], port).max(8).optional(),
    names: listSet(z.string().min(1).max(20)).max(5).optional(),
    steps: listAtomic(z.string().max(20)).optional(),
    labels: mapAtomic(z.record(z.string(), z.string())).optional(),
    limits: z.record(z.string(), quantity()).optional(),
    timeout: duration().default('1m30s'),
    size: int64().optional(),
    weight: z.float64().min(0).optional(),
    template: embeddedResource().optional(),
    extra: preserveUnknown().optional(),
    config: preserveUnknown(z.object({ level: z.int32().default(3) })).optional(),
    anything: anyValue().optional(),
    zone: z.string().max(63).nullable().optional(),
    at: z.iso.datetime({ offset: true }).optional(),
    address: z.ipv4().optional(),
    path: z
      .string()
      .max(100)
      .regex(/^\/[a-z/]*$/)
      .optional(),
    strategy: z
      .object({ kind: z.enum(['Fast', 'Safe']).default('Safe'), pause: z.int().min(0).optional() })
      .prefault({}),
    source: taggedUnion('type', {
      file: z.object({ path: z.string().max(100).default('/etc/widget') }),
      import: z.object({ url: z.url().max(200) }),
    }).optional(),
    window: withRules(
      z.object({ from: z.int32(), to: z.int32() }),
      cel('self.from <= self.to', 'from comes before to'),
    ).optional(),
  }),
  status: z.object({ replicas: z.int32().default(0), conditions: conditions() }).partial(),
  rules: {
    spec: [cel('!has(oldSelf.color) || has(self.color)', 'color is sticky')],
    root: [
      cel('self.metadata.name.size() <= 40', { message: 'the name is too long', reason: 'FieldValueInvalid' }),
    ],
  },
  subresources: {
    status: true,
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
  columns: [
    { name: 'Color', type: 'string', jsonPath: '.spec.color' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  shortNames: ['wd'],
  categories: ['all'],
  selectableFields: ['.spec.color'],
});
export type Widget = KindOf<typeof Widget>;
