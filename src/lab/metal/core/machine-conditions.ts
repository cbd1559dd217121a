import type { Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import type { Node } from '../../../api/generated/core-v1.ts';
import { fieldAt } from '../../../api/unstructured.ts';
import { mirrorCondition } from '../../../object/condition-dialects.ts';
import { type ConditionFields, type ConditionStatus, findCondition } from '../../../object/conditions.ts';
import type { External } from './external-objects.ts';
import { dataSecretFor, isProvisioned, type MachineFacts, type NodeFact } from './machine-facts.ts';
import { conditionOf, doneField } from './provider-contract.ts';
import { condition, deleting, paused, summary, type Told, v1beta1 } from './told-conditions.ts';

/** Everything core says of a Machine (S6–S8). Pure. */
export function machineConditions(machine: Machine, facts: MachineFacts, now: Date): Told {
  const isBooted = dataSecretFor(machine, facts.config) !== undefined;
  const isReady = isProvisioned(machine, facts.infrastructure);
  const config = bootstrapReady(machine, facts.config, isBooted);
  const infrastructure = infrastructureReady(facts.infrastructure, isReady);
  const [nodeReady, nodeHealthy] = nodeConditions(facts.node);
  const deletion = deleting(facts.deletion?.reason, facts.deletion?.message);
  const ready = summary('Ready', [config, infrastructure, nodeHealthy, deletion]);
  const isHealthy = nodeHealthy.status === 'True';
  return {
    conditions: [
      available(machine, ready, now),
      ready,
      config,
      infrastructure,
      nodeHealthy,
      nodeReady,
      deletion,
      paused(false),
    ],
    v1beta1: [
      v1beta1('Ready', isBooted && isReady && isHealthy, 'WaitingForNodeRef', ready.message),
      v1beta1('BootstrapReady', isBooted, 'WaitingForDataSecret', config.message),
      v1beta1('InfrastructureReady', isReady, 'WaitingForInfrastructure', infrastructure.message),
      v1beta1('NodeHealthy', isHealthy, 'WaitingForNodeRef', nodeHealthy.message),
    ],
  };
}

function bootstrapReady({ spec }: Machine, config: External | undefined, isBooted: boolean): ConditionFields {
  const type = 'BootstrapConfigReady';
  if (spec.bootstrap.configRef === undefined)
    return condition(type, { status: isBooted ? 'True' : 'False', reason: 'DataSecretProvided' });
  return objectReady(type, { object: config, isDone: isBooted, field: 'dataSecretCreated' });
}

const infrastructureReady = (infrastructure: External | undefined, isReady: boolean): ConditionFields =>
  objectReady('InfrastructureReady', { object: infrastructure, isDone: isReady, field: 'provisioned' });

interface Referenced {
  readonly object: External | undefined;
  readonly isDone: boolean;
  readonly field: string;
}

/** What the object says of itself; where it says nothing, what its contract field says. */
function objectReady(type: string, { object, isDone, field }: Referenced): ConditionFields {
  if (object === undefined)
    return isDone
      ? condition(type, { status: 'False', reason: 'ObjectDeleted', message: 'the object was deleted' })
      : condition(type, { status: 'False', reason: 'ObjectDoesNotExist', message: 'the object is not there yet' });
  const said = conditionOf(object, 'Ready');
  if (said !== undefined) return mirrorCondition(said, type, object.kind.kind);
  if (isDone) return condition(type, { status: 'True', reason: 'Ready' });
  const message = `${object.kind.kind} ${doneField(object.contract, field)} is false`;
  return condition(type, { status: 'False', reason: 'NotReady', message });
}

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

function nodeConditions(fact: NodeFact): readonly [ready: ConditionFields, healthy: ConditionFields] {
  const both = (status: ConditionStatus, reason: string, message: string) =>
    [
      condition('NodeReady', { status, reason, message }),
      condition('NodeHealthy', { status, reason, message }),
    ] as const;
  switch (fact.state) {
    case 'unexpected':
      return both('Unknown', 'InspectionFailed', 'Waiting for the infrastructure to be provisioned');
    case 'absent':
      return both(
        'Unknown',
        'InspectionFailed',
        'Waiting for a Node with spec.providerID of the Machine to exist',
      );
    case 'unknown':
      return both('Unknown', 'ConnectionDown', fact.why);
    case 'found':
      return foundNode(fact.node);
  }
}

function foundNode(node: Node): readonly [ready: ConditionFields, healthy: ConditionFields] {
  const told = node.status?.conditions ?? [];
  const { status = 'Unknown', message = 'not reported yet' } = told.find(({ type }) => type === 'Ready') ?? {};
  // The API knows no other values.
  const state = status as ConditionStatus;
  const ready = condition('NodeReady', {
    status: state,
    reason: { True: 'NodeReady', False: 'NodeNotReady', Unknown: 'NodeReadyUnknown' }[state],
    message: state === 'True' ? '' : message,
  });
  const bad = told.filter(({ type, status: found }) => PRESSURES.includes(type) && found !== 'False');
  const problems = [
    ...(state === 'True' ? [] : [`Node.Ready: ${message}`]),
    ...bad.map(({ type, message: text = '' }) => `Node.${type}: ${text}`),
  ];
  return [ready, nodeHealthy(bad.length > 0 ? 'False' : state, problems.join('; '))];
}

const nodeHealthy = (status: ConditionStatus, message: string): ConditionFields =>
  condition('NodeHealthy', {
    status,
    reason: { True: 'NodeHealthy', False: 'NodeNotHealthy', Unknown: 'NodeHealthyUnknown' }[status],
    message,
  });

/** Ready for as long as the Machine asks for. */
function available(machine: Machine, ready: ConditionFields, now: Date): ConditionFields {
  if (ready.status !== 'True') return condition('Available', { status: 'False', reason: 'NotReady' });
  return readyForMs(machine, now) >= 0
    ? condition('Available', { status: 'True', reason: 'Available' })
    : condition('Available', { status: 'False', reason: 'WaitingForMinReadySeconds' });
}

/** How long it has been available; below zero what is missing to it. */
export function readyForMs(machine: Machine, now: Date): number {
  const seconds = fieldAt(machine, 'spec', 'minReadySeconds');
  const wantedMs = typeof seconds === 'number' ? seconds * 1000 : 0;
  const ready = findCondition(machine, 'Ready');
  const sinceMs = ready?.status === 'True' ? Date.parse(ready.lastTransitionTime) : now.getTime();
  return now.getTime() - sinceMs - wantedMs;
}
