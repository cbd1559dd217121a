import { type FieldError, invalid } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkEach, checkUnique } from './checks.ts';
import { checkAmounts } from './container-validation.ts';
import { ensureObject, has, objectAt, objectsAt, setDefault, specOf, textAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { isAbove } from './quantities.ts';

export const limitRangeStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.LimitRange',
    createsOnUpdate: true,
    setDefaults(object) {
      for (const limit of objectsAt(specOf(object), 'limits')) limitDefaults(limit);
    },
    validate: (object) => checkLimits(objectsAt(specOf(object), 'limits')),
  });

function limitDefaults(limit: JsonObject): void {
  if (textAt(limit, 'type') !== 'Container') return;
  const fallback = ensureObject(limit, 'default');
  const request = ensureObject(limit, 'defaultRequest');
  fill(fallback, objectAt(limit, 'max'));
  fill(request, fallback);
  fill(request, objectAt(limit, 'min'));
  for (const key of ['default', 'defaultRequest'])
    if (Object.keys(objectAt(limit, key)).length === 0) delete limit[key];
}

const fill = (target: JsonObject, source: JsonObject): void => {
  for (const [key, value] of Object.entries(source)) setDefault(target, key, value);
};

function checkLimits(limits: readonly JsonObject[]): readonly FieldError[] {
  const types = limits.map((limit) => textAt(limit, 'type'));
  return [
    ...checkUnique(types, (index) => `spec.limits[${index}].type`),
    ...checkEach(limits, 'spec.limits', checkLimit),
  ];
}

/** Pairs that must be in order: the first not above the second. `shown` is the one whose field is named. */
const ORDERED = [
  { low: 'min', high: 'max', field: 'min', value: 'min', text: ['min value', 'max value'] },
  {
    low: 'min',
    high: 'defaultRequest',
    field: 'defaultRequest',
    value: 'defaultRequest',
    text: ['min value', 'default request value'],
  },
  {
    low: 'defaultRequest',
    high: 'max',
    field: 'defaultRequest',
    value: 'defaultRequest',
    text: ['default request value', 'max value'],
  },
  {
    low: 'defaultRequest',
    high: 'default',
    field: 'defaultRequest',
    value: 'defaultRequest',
    text: ['default request value', 'default limit value'],
  },
  { low: 'min', high: 'default', field: 'default', value: 'min', text: ['min value', 'default value'] },
  { low: 'default', high: 'max', field: 'default', value: 'max', text: ['default value', 'max value'] },
] as const;

function checkLimit(limit: JsonObject, path: string): readonly FieldError[] {
  return ORDERED.flatMap(({ low, high, field, value, text }) => {
    const [lows, highs] = [objectAt(limit, low), objectAt(limit, high)];
    const above = Object.keys(lows).filter((key) => has(highs, key) && isAbove(lows[key], highs[key]));
    return above.map((key) => {
      const why = `${text[0]} ${textAt(lows, key)} is greater than ${text[1]} ${textAt(highs, key)}`;
      return invalid(`${path}.${field}[${key}]`, objectAt(limit, value)[key] ?? '', why);
    });
  });
}

export const resourceQuotaStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.ResourceQuota',
    returnsDeletedObject: true,
    newStatus: () => ({}),
    validate: (object) => checkAmounts(objectAt(specOf(object), 'hard'), 'spec.hard'),
  });
