import { type FieldError, invalid, notSupported, required } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkImmutable, checkNotNegative } from './checks.ts';
import {
  ensureObject,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  setDefault,
  setDefaultText,
  specOf,
  statusOf,
  textAt,
} from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { podSpecDefaults } from './pod-defaults.ts';
import { checkPodTemplate } from './pod-validation.ts';
import { scheduleProblem } from './schedules.ts';
import { checkTemplateLabels } from './workload-validation.ts';

const LARGEST_INT32 = 2_147_483_647;
const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid'];
const NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name'];
const SELECTOR_LABEL = 'batch.kubernetes.io/controller-uid';
const JOB_NUMBERS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
];

export const jobStrategy = (): Strategy =>
  kindStrategy({
    type: 'batch.v1.Job',
    tracksGeneration: true,
    defaultPropagation: 'Orphan',
    selectableFields: { 'status.successful': (job) => String(numberAt(statusOf(job), 'succeeded') ?? 0) },
    newStatus: () => ({}),
    setDefaults: jobDefaults,
    onCreate: generateSelector,
    validate: (job) => checkJob(job),
    validateChange: (job, old) => checkJobChange(specOf(job), specOf(old)),
  });

function jobDefaults(job: JsonObject): void {
  const spec = specOf(job);
  if (!has(spec, 'completions') && !has(spec, 'parallelism')) spec['completions'] = 1;
  setDefault(spec, 'parallelism', 1);
  setDefault(spec, 'backoffLimit', has(spec, 'backoffLimitPerIndex') ? LARGEST_INT32 : 6);
  // Upstream shares the map: labels it adds to the template appear on the job as well.
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  if (Object.keys(labels).length > 0) setDefault(ensureObject(job, 'metadata'), 'labels', labels);
  setDefault(spec, 'completionMode', 'NonIndexed');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'podReplacementPolicy', has(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed');
  setDefault(spec, 'manualSelector', false);
  jobSpecDefaults(spec);
}

/** What the templates of cron jobs get as well. */
function jobSpecDefaults(spec: JsonObject): void {
  podSpecDefaults(objectAt(objectAt(spec, 'template'), 'spec'));
  for (const rule of objectsAt(objectAt(spec, 'podFailurePolicy'), 'rules')) {
    for (const pattern of objectsAt(rule, 'onPodConditions')) setDefaultText(pattern, 'status', 'True');
  }
}

/** A job selects its pods by its own uid, unless its author wants to do so himself. */
function generateSelector(job: JsonObject): void {
  const spec = specOf(job);
  if (spec['manualSelector'] === true) return;
  const metadata = metadataOf(job);
  const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels');
  const isShared = metadata['labels'] === labels || !has(metadata, 'labels');
  for (const label of NAME_LABELS) setDefault(labels, label, nameOf(job));
  for (const label of UID_LABELS) setDefault(labels, label, textAt(metadata, 'uid'));
  setDefault(ensureObject(ensureObject(spec, 'selector'), 'matchLabels'), SELECTOR_LABEL, textAt(metadata, 'uid'));
  if (isShared) metadata['labels'] = { ...labels };
}

function checkJob(job: JsonObject): readonly FieldError[] {
  const spec = specOf(job);
  const isIndexed = textAt(spec, 'completionMode') === 'Indexed';
  return [
    ...checkJobSpec(spec, 'spec'),
    ...(isIndexed && !has(spec, 'completions')
      ? [required('spec.completions', 'when completion mode is Indexed')]
      : []),
    ...checkGenerated(job, spec),
    ...checkTemplateLabels(spec),
  ];
}

function checkJobSpec(spec: JsonObject, path: string): readonly FieldError[] {
  const template = objectAt(spec, 'template');
  const isEndless = textAt(objectAt(template, 'spec'), 'restartPolicy') === 'Always';
  const policyPath = `${path}.template.spec.restartPolicy`;
  return [
    ...JOB_NUMBERS.flatMap((key) => checkNotNegative(spec, key, path)),
    ...checkPodTemplate(template, `${path}.template`),
    ...(isEndless ? [required(policyPath, 'valid values: "OnFailure", "Never"')] : []),
  ];
}

function checkGenerated(job: JsonObject, spec: JsonObject): readonly FieldError[] {
  if (spec['manualSelector'] === true) return [];
  const selector = objectAt(spec, 'selector');
  const uid = textAt(metadataOf(job), 'uid');
  const isOwn = jsonEqual(selector, { matchLabels: { [SELECTOR_LABEL]: uid } });
  return isOwn ? [] : [invalid('spec.selector', selector, '`selector` not auto-generated')];
}

function checkJobChange(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const isElastic =
    textAt(spec, 'completionMode') === 'Indexed' && jsonEqual(spec['completions'], spec['parallelism']);
  // A suspended job that has not started may still be moved to other nodes.
  const isSuspended = old['suspend'] === true;
  const fixed = [
    'selector',
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ];
  return [
    ...(isElastic ? [] : checkImmutable(spec, old, 'completions', 'spec')),
    ...fixed.flatMap((key) => checkImmutable(spec, old, key, 'spec')),
    ...(isSuspended ? [] : checkImmutable(spec, old, 'template', 'spec')),
  ];
}

export const cronJobStrategy = (): Strategy =>
  kindStrategy({
    type: 'batch.v1.CronJob',
    tracksGeneration: true,
    newStatus: () => ({}),
    setDefaults(object) {
      const spec = specOf(object);
      setDefaultText(spec, 'concurrencyPolicy', 'Allow');
      setDefault(spec, 'suspend', false);
      setDefault(spec, 'successfulJobsHistoryLimit', 3);
      setDefault(spec, 'failedJobsHistoryLimit', 1);
      jobSpecDefaults(objectAt(objectAt(spec, 'jobTemplate'), 'spec'));
    },
    validate: (object) => checkCronJob(specOf(object)),
  });

const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];

function checkCronJob(spec: JsonObject): readonly FieldError[] {
  const schedule = textAt(spec, 'schedule');
  const problem = schedule === '' ? undefined : scheduleProblem(schedule);
  const policy = textAt(spec, 'concurrencyPolicy');
  return [
    ...(schedule === '' ? [required('spec.schedule')] : []),
    ...(problem === undefined ? [] : [invalid('spec.schedule', schedule, problem)]),
    ...(CONCURRENCY.includes(policy) ? [] : [notSupported('spec.concurrencyPolicy', policy, CONCURRENCY)]),
    ...['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'].flatMap((key) =>
      checkNotNegative(spec, key, 'spec'),
    ),
    ...checkJobSpec(objectAt(objectAt(spec, 'jobTemplate'), 'spec'), 'spec.jobTemplate.spec'),
  ];
}
