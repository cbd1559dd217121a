// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './events-v1-types.ts';

export type * from './events-v1-types.ts';

export type Event = types.Event;
export const Event: Kind<Event, CreateOf<Event>> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
};
