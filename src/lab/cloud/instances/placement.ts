import { nearestWord } from '../../../object/nearest-word.ts';
import { CloudError, invalidArgument } from '../cloud-error.ts';
import type { Transaction } from '../resources/resource-kind.ts';
import { ZONES } from './zones.ts';

/** Something new can be made in this zone. */
export function requireZone(name: string, transaction: Transaction): void {
  const zone = transaction.get(ZONES, name);
  const known = transaction.list(ZONES).map(({ id }) => id);
  if (zone === undefined) throw unknownChoice('zone', name, known);
  if (!zone.fields.available)
    throw new CloudError('InsufficientCapacity', `zone ${name} has no room at the moment`, { target: 'zone' });
}

/** A word that is none of those that there are. */
export function unknownChoice(field: string, given: string, known: readonly string[]): CloudError {
  const meant = nearestWord(given, known);
  const hint = meant === undefined ? `known are ${known.toSorted().join(', ')}` : `did you mean ${meant}?`;
  return invalidArgument(field, `${field}: there is no "${given}": ${hint}`);
}
