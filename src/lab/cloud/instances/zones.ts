import { z } from 'zod';
import { defineKind } from '../resources/kind-definition.ts';
import type { KindFactory } from '../resources/resource-kind.ts';
import type { KindName } from '../resources/resource-record.ts';

interface ZoneFields {
  readonly region: string;
  /** Nothing new can be made in a zone that is not. */
  readonly available: boolean;
}

export const ZONES: KindName<ZoneFields> = { plural: 'zones' };

const REGION = 'lab';

/** The zones of the scenario; only an administrator of the lab can change them. The name is the identifier. */
export const zones =
  (names: readonly string[]): KindFactory =>
  () =>
    defineKind(ZONES, {
      singular: 'zone',
      idPrefix: 'zone',
      states: ['active'],
      name: { isFixed: true },
      changes: { available: z.boolean() },
      writeScope: 'admin',
      seed: (transaction) => {
        for (const name of names) {
          if (transaction.get(ZONES, name) !== undefined) continue;
          transaction.add(ZONES, { id: name, name, state: 'active', fields: { region: REGION, available: true } });
        }
      },
    });
