import { conditions, defineKind, type KindOf, z } from 'slipway/api';

/** What users write: whom to greet, and in which language. */
export const Greeting = defineKind({
  group: 'hello.example.com',
  version: 'v1',
  kind: 'Greeting',
  plural: 'greetings',
  scope: 'Namespaced',
  spec: z.object({
    who: z.string().min(1).max(100).describe('Whom to greet.'),
    language: z.enum(['en', 'de', 'fr']).default('en').describe('The language of the greeting.'),
  }),
  status: z.object({ conditions: conditions() }).partial(),
  subresources: { status: true },
  columns: [
    { name: 'Who', type: 'string', jsonPath: '.spec.who' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
});
export type Greeting = KindOf<typeof Greeting>;
