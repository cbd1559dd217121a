import type { JourneyEvent } from '../../api/journey.ts';
import { redactedText } from '../../base/log.ts';

/** The event without anything that looks like a secret: every view, file and page is made of what this returns (experience X13). */
export function redactedEvent(event: JourneyEvent): JourneyEvent {
  // JSON round trips lose nothing here: events are plain data. The reviver sees every string, however deep.
  return JSON.parse(JSON.stringify(event), (_key, value: unknown) =>
    typeof value === 'string' ? redactedText(value) : value,
  ) as JourneyEvent;
}
