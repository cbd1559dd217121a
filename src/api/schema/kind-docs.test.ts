import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { defineKind } from './define-kind.ts';
import { cel, embeddedResource, intOrString, listMap } from './extensions.ts';

const Boat = defineKind({
  group: 'a.example',
  version: 'v1',
  kind: 'Boat',
  plural: 'boats',
  scope: 'Cluster',
  description: 'Floats.',
  spec: z.object({
    name: z.string().min(1).max(9).describe('What it is called,\n| written on the bow.'),
    sails: z.int32().min(0).default(2),
    kind: z.enum(['sloop', 'ketch']).optional(),
    crew: listMap(['name'], z.object({ name: z.string() }))
      .max(5)
      .optional(),
    tags: z.record(z.string(), z.string()).optional(),
    berth: intOrString().optional(),
    at: z.iso.datetime().optional(),
    template: embeddedResource().optional(),
  }),
  rules: { spec: [cel('self.sails > 0', 'has sails')] },
});

describe('docs', () => {
  it('lists the fields with type, default, bounds and description in a Markdown table', () => {
    assert.equal(
      Boat.docs(),
      `## Boat

\`a.example/v1\`, cluster-scoped.

Floats.

| Field | Type | Default | Description |
|---|---|---|---|
| \`spec\` * | object |  | has sails |
| \`spec.at\` | string (date-time) |  |  |
| \`spec.berth\` | integer or string |  |  |
| \`spec.crew\` | list of object |  | (5 items at most) |
| \`spec.crew[].name\` * | string |  |  |
| \`spec.kind\` | \`"sloop"\`, \`"ketch"\` |  |  |
| \`spec.name\` * | string |  | What it is called, \\| written on the bow. (1 characters at least, 9 characters at most) |
| \`spec.sails\` | integer | \`2\` | (at least 0) |
| \`spec.tags\` | map of string |  |  |
| \`spec.template\` | object of any kind |  |  |
`,
    );
  });
});
