import { type FieldError, forbidden, notSupported, required } from '../../object/field-error.ts';
import { cloneJson, type JsonObject, jsonEqual } from '../../object/json.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkEach, checkRule } from './checks.ts';
import { ensureObject, has, objectAt, objectsAt, specOf, statusOf, textAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Nodes: a new one may bring its status, and nothing is scheduled to it before it is ready. */
export const nodeStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.Node',
    keepsStatus: true,
    selectableFields: { 'spec.unschedulable': (node) => String(specOf(node)['unschedulable'] === true) },
    setDefaults(node) {
      const status = statusOf(node);
      if (has(status, 'capacity') && !has(status, 'allocatable')) {
        status['allocatable'] = cloneJson(objectAt(status, 'capacity'));
      }
    },
    onCreate: addTaint,
    validate: (node) => checkTaints(objectsAt(specOf(node), 'taints')),
    validateChange: (node, old) => checkNodeChange(specOf(node), specOf(old)),
  });

function addTaint(node: JsonObject): void {
  const spec = ensureObject(node, 'spec');
  const taints = [...objectsAt(spec, 'taints')];
  const isThere = taints.some(
    (taint) => textAt(taint, 'key') === NOT_READY.key && textAt(taint, 'effect') === NOT_READY.effect,
  );
  if (!isThere) spec['taints'] = [...taints, { ...NOT_READY }];
}

function checkTaints(taints: readonly JsonObject[]): readonly FieldError[] {
  const seen = new Set<string>();
  return checkEach(taints, 'metadata.taints', (taint, path) => {
    const key = textAt(taint, 'key');
    const effect = textAt(taint, 'effect');
    const pair = `${key}:${effect}`;
    const isSeen = seen.has(pair);
    seen.add(pair);
    return [
      ...checkRule(`${path}.key`, key, qualifiedNameProblems),
      ...checkRule(`${path}.value`, textAt(taint, 'value'), labelValueProblems),
      ...checkEffect(effect, `${path}.effect`),
      ...(isSeen ? [sameTaint(taint, path)] : []),
    ];
  });
}

function checkEffect(effect: string, path: string): readonly FieldError[] {
  if (effect === '') return [required(path)];
  return EFFECTS.includes(effect) ? [] : [notSupported(path, effect, EFFECTS)];
}

/** Upstream shows its Go struct. */
function sameTaint(taint: JsonObject, field: string): FieldError {
  const shown = { Key: taint['key'], Value: textAt(taint, 'value'), Effect: taint['effect'], TimeAdded: null };
  const message = `Duplicate value: ${JSON.stringify(shown)}: taints must be unique by key and effect pair`;
  return { reason: 'FieldValueDuplicate', field, message };
}

function checkNodeChange(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const isSet = textAt(old, 'providerID') !== '' && textAt(old, 'providerID') !== textAt(spec, 'providerID');
  const isMoved = has(old, 'podCIDRs') && !jsonEqual(old['podCIDRs'], spec['podCIDRs']);
  return [
    ...(isSet
      ? [forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')]
      : []),
    ...(isMoved
      ? [forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid')]
      : []),
  ];
}
