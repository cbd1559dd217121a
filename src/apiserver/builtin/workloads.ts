import { type FieldError, forbidden, invalid, required } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkAtMostAll, checkCount, checkImmutable, checkNotNegative, isZeroCount } from './checks.ts';
import { ensureObject, has, numberAt, objectAt, setDefault, setDefaultText, specOf, textAt } from './fields.ts';
import { type KindRules, kindStrategy } from './kind-strategy.ts';
import { podSpecDefaults } from './pod-defaults.ts';
import { checkPodTemplate } from './pod-validation.ts';
import { checkTemplate, goStrategy } from './workload-validation.ts';

const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

const templateDefaults = (holder: JsonObject): void =>
  podSpecDefaults(objectAt(objectAt(holder, 'template'), 'spec'));

/** What every kind with a template of pods has in common. */
const workload = (rules: KindRules): Strategy => kindStrategy({ tracksGeneration: true, ...rules });

const checkSelectorKept = (object: JsonObject, old: JsonObject): readonly FieldError[] =>
  checkImmutable(specOf(object), specOf(old), 'selector', 'spec');

export const deploymentStrategy = (): Strategy =>
  workload({
    type: 'apps.v1.Deployment',
    // The controller copies them to its replica sets.
    countedMetadata: 'annotations',
    newStatus: () => ({}),
    setDefaults(object) {
      const spec = specOf(object);
      setDefault(spec, 'replicas', 1);
      const strategy = ensureObject(spec, 'strategy');
      setDefaultText(strategy, 'type', 'RollingUpdate');
      if (textAt(strategy, 'type') === 'RollingUpdate') {
        const rolling = ensureObject(strategy, 'rollingUpdate');
        setDefault(rolling, 'maxUnavailable', '25%');
        setDefault(rolling, 'maxSurge', '25%');
      }
      setDefault(spec, 'revisionHistoryLimit', 10);
      setDefault(spec, 'progressDeadlineSeconds', 600);
      templateDefaults(spec);
    },
    validate: (object) => checkDeployment(specOf(object)),
    validateChange: checkSelectorKept,
  });

function checkDeployment(spec: JsonObject): readonly FieldError[] {
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  const isLate = deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0);
  return [
    ...['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'].flatMap((key) =>
      checkNotNegative(spec, key, 'spec'),
    ),
    ...(isLate ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')] : []),
    ...checkTemplate(spec, { kind: 'deployment', needsSelector: true }),
    ...checkDeploymentStrategy(objectAt(spec, 'strategy')),
  ];
}

function checkDeploymentStrategy(strategy: JsonObject): readonly FieldError[] {
  const path = 'spec.strategy.rollingUpdate';
  switch (textAt(strategy, 'type')) {
    case 'Recreate':
      return has(strategy, 'rollingUpdate')
        ? [forbidden(path, "may not be specified when strategy `type` is 'Recreate'")]
        : [];
    case 'RollingUpdate':
      return checkRolling(objectAt(strategy, 'rollingUpdate'), path);
    default:
      return [
        {
          reason: 'FieldValueNotSupported',
          field: 'spec.strategy',
          message: `Unsupported value: ${goStrategy(strategy)}: supported values: "Recreate", "RollingUpdate"`,
        },
      ];
  }
}

function checkRolling(rolling: JsonObject, path: string): readonly FieldError[] {
  const { maxUnavailable, maxSurge } = rolling;
  const isStuck = isZeroCount(maxUnavailable) && isZeroCount(maxSurge);
  return [
    ...checkCount(maxUnavailable, `${path}.maxUnavailable`),
    ...checkCount(maxSurge, `${path}.maxSurge`),
    ...(isStuck
      ? [invalid(`${path}.maxUnavailable`, maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...checkAtMostAll(maxUnavailable, `${path}.maxUnavailable`),
  ];
}

export const daemonSetStrategy = (): Strategy =>
  workload({
    type: 'apps.v1.DaemonSet',
    newStatus: () => ({
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    }),
    setDefaults(object) {
      const spec = specOf(object);
      const strategy = ensureObject(spec, 'updateStrategy');
      setDefaultText(strategy, 'type', 'RollingUpdate');
      if (textAt(strategy, 'type') === 'RollingUpdate') {
        const rolling = ensureObject(strategy, 'rollingUpdate');
        setDefault(rolling, 'maxUnavailable', 1);
        setDefault(rolling, 'maxSurge', 0);
      }
      setDefault(spec, 'revisionHistoryLimit', 10);
      templateDefaults(spec);
      const annotations = ensureObject(ensureObject(object, 'metadata'), 'annotations');
      setDefaultText(annotations, GENERATION_ANNOTATION, '0');
    },
    onCreate: (object) => setTemplateGeneration(object, 1),
    onUpdate(object, old) {
      const before =
        Number(textAt(objectAt(objectAt(old, 'metadata'), 'annotations'), GENERATION_ANNOTATION)) || 0;
      const isSame = jsonEqual(specOf(object)['template'], specOf(old)['template']);
      setTemplateGeneration(object, isSame ? before : before + 1);
    },
    validate: (object) => [
      ...checkTemplate(specOf(object), { kind: 'daemonset', needsSelector: false }),
      ...checkDaemonStrategy(objectAt(specOf(object), 'updateStrategy')),
      ...['minReadySeconds', 'revisionHistoryLimit'].flatMap((key) =>
        checkNotNegative(specOf(object), key, 'spec'),
      ),
    ],
    validateChange: checkSelectorKept,
  });

/** A count older versions kept in the spec; upstream still writes it as an annotation. */
function setTemplateGeneration(object: JsonObject, generation: number): void {
  ensureObject(ensureObject(object, 'metadata'), 'annotations')[GENERATION_ANNOTATION] = String(generation);
}

function checkDaemonStrategy(strategy: JsonObject): readonly FieldError[] {
  const type = textAt(strategy, 'type');
  if (type === 'OnDelete') return [];
  if (type === 'RollingUpdate') {
    const rolling = objectAt(strategy, 'rollingUpdate');
    const path = 'spec.updateStrategy.rollingUpdate';
    return [
      ...checkCount(rolling['maxUnavailable'], `${path}.maxUnavailable`),
      ...checkCount(rolling['maxSurge'], `${path}.maxSurge`),
    ];
  }
  return [
    {
      reason: 'FieldValueNotSupported',
      field: 'spec.updateStrategy',
      message: `Unsupported value: ${goStrategy(strategy)}: supported values: "RollingUpdate", "OnDelete"`,
    },
  ];
}

export const replicaSetStrategy = (): Strategy =>
  workload({
    type: 'apps.v1.ReplicaSet',
    newStatus: () => ({ replicas: 0 }),
    setDefaults(object) {
      setDefault(specOf(object), 'replicas', 1);
      templateDefaults(specOf(object));
    },
    validate: (object) => [
      ...['replicas', 'minReadySeconds'].flatMap((key) => checkNotNegative(specOf(object), key, 'spec')),
      ...checkTemplate(specOf(object), { kind: 'deployment', needsSelector: true }),
    ],
    validateChange: checkSelectorKept,
  });

export const replicationControllerStrategy = (): Strategy =>
  workload({
    type: 'core.v1.ReplicationController',
    defaultPropagation: 'Orphan',
    newStatus: () => ({ replicas: 0 }),
    setDefaults(object) {
      const spec = specOf(object);
      setDefault(spec, 'replicas', 1);
      templateDefaults(spec);
      const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
      if (Object.keys(labels).length === 0) return;
      setDefault(spec, 'selector', { ...labels });
      setDefault(ensureObject(object, 'metadata'), 'labels', { ...labels });
    },
    validate: (object) => checkController(specOf(object)),
  });

function checkController(spec: JsonObject): readonly FieldError[] {
  const selector = objectAt(spec, 'selector');
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  const isMatch = Object.entries(selector).every(([key, value]) => labels[key] === value);
  return [
    ...checkNotNegative(spec, 'replicas', 'spec'),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...(isMatch
      ? []
      : [invalid('spec.template.metadata.labels', { ...labels }, '`selector` does not match template `labels`')]),
    ...(has(spec, 'template')
      ? checkPodTemplate(objectAt(spec, 'template'), 'spec.template')
      : [required('spec.template')]),
  ];
}

export const podTemplateStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.PodTemplate',
    tracksGeneration: true,
    returnsDeletedObject: true,
    setDefaults: templateDefaults,
    validate: (object) => checkPodTemplate(objectAt(object, 'template'), 'template'),
  });

export const controllerRevisionStrategy = (): Strategy =>
  kindStrategy({
    type: 'apps.v1.ControllerRevision',
    validate: (object) => [
      ...((numberAt(object, 'revision') ?? 0) < 0
        ? [invalid('revision', object['revision'] ?? 0, 'must be greater than or equal to 0')]
        : []),
      ...(has(object, 'data') ? [] : [required('data', 'data is mandatory')]),
    ],
    validateChange: (object, old) => checkImmutable(object, old, 'data'),
  });
