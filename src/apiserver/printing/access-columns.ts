import { humanDuration } from '../../object/human-duration.ts';
import type { JsonObject } from '../../object/json.ts';
import {
  has,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  optionalAt,
  specOf,
  statusOf,
  textAt,
} from '../builtin/fields.ts';
import type { Columns } from '../registry/resource.ts';
import {
  AGE,
  ageOf,
  boolean,
  conditionStatus,
  count,
  integer,
  NAME,
  selectorText,
  tableOf,
  text,
  wide,
} from './cells.ts';

/** Bindings show their subjects by kind. */
export const bindingColumns: Columns = tableOf(
  [NAME, text('Role'), AGE, wide('Users'), wide('Groups'), wide('ServiceAccounts')],
  (object, now) => {
    const role = objectAt(object, 'roleRef');
    const subjects = objectsAt(object, 'subjects');
    const ofKind = (kind: string): readonly JsonObject[] =>
      subjects.filter((item) => textAt(item, 'kind') === kind);
    const names = (kind: string): string =>
      ofKind(kind)
        .map((item) => textAt(item, 'name'))
        .join(', ');
    const accounts = ofKind('ServiceAccount').map(
      (item) => `${textAt(item, 'namespace')}/${textAt(item, 'name')}`,
    );
    return [
      nameOf(object),
      `${textAt(role, 'kind')}/${textAt(role, 'name')}`,
      ageOf(object, now),
      names('User'),
      names('Group'),
      accounts.join(', '),
    ];
  },
);

export const webhookColumns = tableOf([NAME, integer('Webhooks'), AGE], (object, now) => [
  nameOf(object),
  objectsAt(object, 'webhooks').length,
  ageOf(object, now),
]);

/** Policies of admission: how many rules, and what parameterizes them. */
export const admissionPolicyColumns = (name: string, key: string): Columns =>
  tableOf([NAME, integer(name), text('ParamKind'), AGE], (object, now) => {
    const kind = optionalAt(specOf(object), 'paramKind');
    return [
      nameOf(object),
      objectsAt(specOf(object), key).length,
      kind === undefined ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`,
      ageOf(object, now),
    ];
  });

export const admissionBindingColumns = tableOf(
  [NAME, text('PolicyName'), text('ParamRef'), AGE],
  (object, now) => [
    nameOf(object),
    textAt(specOf(object), 'policyName'),
    parameterText(objectAt(specOf(object), 'paramRef')),
    ageOf(object, now),
  ],
);

function parameterText(reference: JsonObject): string {
  const name = textAt(reference, 'name');
  if (name !== '') return `${textAt(reference, 'namespace') || '*'}/${name}`;
  return has(reference, 'selector') ? selectorText(reference['selector']) : '<unset>';
}

export const certificateRequestColumns = tableOf(
  [NAME, AGE, text('SignerName'), text('Requestor'), text('RequestedDuration'), text('Condition')],
  (object, now) => {
    const spec = specOf(object);
    const seconds = numberAt(spec, 'expirationSeconds');
    return [
      nameOf(object),
      ageOf(object, now),
      textAt(spec, 'signerName') || '<none>',
      textAt(spec, 'username'),
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
      conditionText(statusOf(object)),
    ];
  },
);

function conditionText(status: JsonObject): string {
  const has_ = (type: string): boolean => conditionStatus(status, type) !== undefined;
  const decision = ['Denied', 'Approved'].find(has_) ?? 'Pending';
  const isIssued = textAt(status, 'certificate') !== '';
  return [decision, ...(has_('Failed') ? ['Failed'] : []), ...(isIssued ? ['Issued'] : [])].join(',');
}

export const leaseColumns = tableOf([NAME, text('Holder'), AGE], (object, now) => [
  nameOf(object),
  textAt(specOf(object), 'holderIdentity'),
  ageOf(object, now),
]);

export const priorityClassColumns = tableOf(
  [NAME, integer('Value'), boolean('Global-Default'), AGE, text('PreemptionPolicy')],
  (object, now) => [
    nameOf(object),
    count(object, 'value'),
    object['globalDefault'] === true,
    ageOf(object, now),
    textAt(object, 'preemptionPolicy'),
  ],
);

export const runtimeClassColumns = tableOf([NAME, text('Handler'), AGE], (object, now) => [
  nameOf(object),
  textAt(object, 'handler'),
  ageOf(object, now),
]);

export const flowSchemaColumns = tableOf(
  [NAME, text('PriorityLevel'), text('MatchingPrecedence'), text('DistinguisherMethod'), AGE, text('MissingPL')],
  (object, now) => {
    const spec = specOf(object);
    return [
      nameOf(object),
      textAt(objectAt(spec, 'priorityLevelConfiguration'), 'name'),
      count(spec, 'matchingPrecedence'),
      textAt(objectAt(spec, 'distinguisherMethod'), 'type') || '<none>',
      ageOf(object, now),
      conditionStatus(statusOf(object), 'Dangling') ?? '?',
    ];
  },
);

export const priorityLevelColumns = tableOf(
  [NAME, ...['Type', 'NominalConcurrencyShares', 'Queues', 'HandSize', 'QueueLengthLimit'].map(text), AGE],
  (object, now) => {
    const spec = specOf(object);
    const limited = objectAt(spec, 'limited');
    const queuing = objectAt(objectAt(limited, 'limitResponse'), 'queuing');
    return [
      nameOf(object),
      textAt(spec, 'type'),
      numberAt(limited, 'nominalConcurrencyShares') ?? '<none>',
      ...['queues', 'handSize', 'queueLengthLimit'].map((key) => numberAt(queuing, key) ?? '<none>'),
      ageOf(object, now),
    ];
  },
);

export const apiServiceColumns = tableOf([NAME, text('Service'), text('Available'), AGE], (object, now) => {
  const service = optionalAt(specOf(object), 'service');
  const available = objectsAt(statusOf(object), 'conditions').find((item) => textAt(item, 'type') === 'Available');
  return [
    nameOf(object),
    service === undefined ? 'Local' : `${textAt(service, 'namespace')}/${textAt(service, 'name')}`,
    availableText(available),
    ageOf(object, now),
  ];
});

function availableText(condition: JsonObject | undefined): string {
  if (condition === undefined) return 'Unknown';
  const status = textAt(condition, 'status');
  return status === 'True' ? status : `${status} (${textAt(condition, 'reason')})`;
}
