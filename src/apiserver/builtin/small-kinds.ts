import { type FieldError, forbidden, invalid, notSupported, required } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkAtMostAll, checkChoice, checkCount, checkImmutable } from './checks.ts';
import {
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  optionalAt,
  setDefault,
  setDefaultText,
  specOf,
  textAt,
} from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { checkSelector } from './label-selectors.ts';
import { systemPriority } from './pod-admission.ts';

// Kinds with little to say: leases, budgets, priorities and those that are only kept.

/** apiserver/G14 */
export const leaseStrategy = (): Strategy =>
  kindStrategy({
    type: 'coordination.v1.Lease',
    createsOnUpdate: true,
    allowsUnconditionalUpdate: false,
    onCreate: dropElection,
    onUpdate: dropElection,
    validate: (object) => checkLease(specOf(object)),
  });

/** Fields of coordinated leader election, which is off in this version of Kubernetes. */
function dropElection(lease: JsonObject): void {
  const spec = specOf(lease);
  delete spec['strategy'];
  delete spec['preferredHolder'];
}

function checkLease(spec: JsonObject): readonly FieldError[] {
  const duration = numberAt(spec, 'leaseDurationSeconds');
  const transitions = numberAt(spec, 'leaseTransitions');
  return [
    ...(duration !== undefined && duration <= 0
      ? [invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
      : []),
    ...(transitions !== undefined && transitions < 0
      ? [invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
  ];
}

export const podDisruptionBudgetStrategy = (): Strategy =>
  kindStrategy({
    type: 'policy.v1.PodDisruptionBudget',
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    newStatus: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
    validate: (object) => checkBudget(specOf(object)),
  });

function checkBudget(spec: JsonObject): readonly FieldError[] {
  const { minAvailable, maxUnavailable } = spec;
  return [
    ...(has(spec, 'minAvailable') && has(spec, 'maxUnavailable') ? [bothLimits(spec)] : []),
    ...checkCount(minAvailable, 'spec.minAvailable'),
    ...checkAtMostAll(minAvailable, 'spec.minAvailable'),
    ...checkCount(maxUnavailable, 'spec.maxUnavailable'),
    ...checkAtMostAll(maxUnavailable, 'spec.maxUnavailable'),
    ...checkSelector(objectAt(spec, 'selector'), 'spec.selector'),
    ...checkChoice(spec, 'unhealthyPodEvictionPolicy', 'spec', ['AlwaysAllow', 'IfHealthyBudget']),
  ];
}

/** Upstream shows the Go struct. */
function bothLimits(spec: JsonObject): FieldError {
  const shown = {
    MinAvailable: spec['minAvailable'] ?? null,
    Selector: spec['selector'] ?? null,
    MaxUnavailable: spec['maxUnavailable'] ?? null,
    UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
  };
  return invalid(
    'spec',
    undefined,
    `${JSON.stringify(shown)}: minAvailable and maxUnavailable cannot be both set`,
  );
}

const HIGHEST_PRIORITY = 1_000_000_000;
const PREEMPTION = ['PreemptLowerPriority', 'Never'];

export const priorityClassStrategy = (): Strategy =>
  kindStrategy({
    type: 'scheduling.v1.PriorityClass',
    setDefaults: (object) => setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority'),
    // It gets a generation that never counts (M8).
    onCreate: (object) => {
      metadataOf(object)['generation'] = 1;
    },
    validate: checkPriority,
    validateChange: (object, old) => [
      ...(jsonEqual(object['value'], old['value'])
        ? []
        : [forbidden('value', 'may not be changed in an update.')]),
      ...checkImmutable(object, old, 'preemptionPolicy'),
    ],
  });

function checkPriority(object: JsonObject): readonly FieldError[] {
  const name = nameOf(object);
  const value = numberAt(object, 'value') ?? 0;
  const policy = textAt(object, 'preemptionPolicy');
  return [
    ...checkSystemName(name, value),
    ...(value > HIGHEST_PRIORITY && !name.startsWith('system-')
      ? [forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`)]
      : []),
    ...(PREEMPTION.includes(policy) ? [] : [notSupported('preemptionPolicy', policy, PREEMPTION)]),
  ];
}

function checkSystemName(name: string, value: number): readonly FieldError[] {
  if (!name.startsWith('system-')) return [];
  const known = systemPriority(name);
  const why = "priority class names with 'system-' prefix are reserved for system use only. error: ";
  if (known === undefined) {
    return [forbidden('metadata.name', `${why}${name} is not a known system priority class`)];
  }
  return known.value === value
    ? []
    : [forbidden('metadata.name', `${why}value of ${name} PriorityClass must be ${known.value}`)];
}

export const runtimeClassStrategy = (): Strategy =>
  kindStrategy({
    type: 'node.v1.RuntimeClass',
    createsOnUpdate: true,
    allowsUnconditionalUpdate: false,
    validate: (object) => (textAt(object, 'handler') === '' ? [required('handler')] : []),
    validateChange: (object, old) => checkImmutable(object, old, 'handler'),
  });

export const flowSchemaStrategy = (): Strategy =>
  kindStrategy({
    type: 'flowcontrol.v1.FlowSchema',
    tracksGeneration: true,
    newStatus: () => ({}),
    setDefaults: (object) => setDefaultText(specOf(object), 'matchingPrecedence', 1000),
  });

export const priorityLevelStrategy = (): Strategy =>
  kindStrategy({
    type: 'flowcontrol.v1.PriorityLevelConfiguration',
    tracksGeneration: true,
    newStatus: () => ({}),
    setDefaults: priorityLevelDefaults,
  });

function priorityLevelDefaults(object: JsonObject): void {
  const spec = specOf(object);
  for (const [key, shares] of [['limited', 30] as const, ['exempt', 0] as const]) {
    const level = optionalAt(spec, key);
    if (level !== undefined) {
      setDefault(level, 'nominalConcurrencyShares', shares);
      setDefault(level, 'lendablePercent', 0);
    }
  }
  const queuing = optionalAt(objectAt(objectAt(spec, 'limited'), 'limitResponse'), 'queuing');
  if (queuing === undefined) return;
  setDefaultText(queuing, 'queues', 64);
  setDefaultText(queuing, 'handSize', 8);
  setDefaultText(queuing, 'queueLengthLimit', 50);
}

export const apiServiceStrategy = (): Strategy =>
  kindStrategy({
    type: 'apiregistration.v1.APIService',
    allowsUnconditionalUpdate: false,
    newStatus: () => ({}),
    setDefaults(object) {
      const service = optionalAt(specOf(object), 'service');
      if (service !== undefined) setDefault(service, 'port', 443);
    },
  });
