// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { ObjectMeta } from '../object.ts';
import type { EventSource, ObjectReference } from './core-v1-types.ts';

export interface Event {
  readonly action?: string;
  readonly apiVersion: 'events.k8s.io/v1';
  readonly deprecatedCount?: number;
  readonly deprecatedFirstTimestamp?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedSource?: EventSource;
  readonly eventTime: string;
  readonly kind: 'Event';
  readonly metadata: ObjectMeta;
  readonly note?: string;
  readonly reason?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly series?: EventSeries;
  readonly type?: string;
}

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}
