import { type FieldError, invalid, notSupported, required } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../object/names.ts';
import { checkChoice, checkEach, checkLabels, checkNotNegative, checkRule, checkUnique } from './checks.ts';
import { type ContainerRules, checkContainer } from './container-validation.ts';
import { has, isTrue, listAt, numberAt, objectAt, objectsAt, textAt } from './fields.ts';
import { checkVolumes } from './volume-validation.ts';

const LARGEST_INT32 = 2_147_483_647;
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];

/** The spec of a pod or of a template of one; `claims` are volumes the workload makes for each pod. */
export function checkPodSpec(
  spec: JsonObject,
  path: string,
  claims: readonly string[] = [],
): readonly FieldError[] {
  return [
    ...checkVolumes(spec, path),
    ...checkContainers(spec, path, claims),
    ...checkChoice(spec, 'restartPolicy', path, RESTART_POLICIES),
    ...checkDns(spec, path),
    ...checkLabels(objectAt(spec, 'nodeSelector'), `${path}.nodeSelector`),
    ...checkNames(spec, path),
    ...checkDeadline(spec, path),
    ...checkNotNegative(spec, 'terminationGracePeriodSeconds', path),
    ...checkEach(objectsAt(spec, 'tolerations'), `${path}.tolerations`, checkToleration),
  ];
}

function checkContainers(spec: JsonObject, path: string, claims: readonly string[]): readonly FieldError[] {
  const containers = objectsAt(spec, 'containers');
  const initContainers = objectsAt(spec, 'initContainers');
  const shared = {
    volumes: new Set([...claims, ...objectsAt(spec, 'volumes').map((volume) => textAt(volume, 'name'))]),
    isHostNetwork: isTrue(spec, 'hostNetwork'),
  };
  const inMain: ContainerRules = { ...shared, isInit: false };
  const inInit: ContainerRules = { ...shared, isInit: true };
  const names = [...containers, ...initContainers].map((container) => textAt(container, 'name'));
  const pathOf = (index: number): string =>
    index < containers.length
      ? `${path}.containers[${index}].name`
      : `${path}.initContainers[${index - containers.length}].name`;
  return [
    ...(containers.length === 0 ? [required(`${path}.containers`)] : []),
    ...checkUnique(names, pathOf),
    ...checkEach(containers, `${path}.containers`, (item, itemPath) => checkContainer(item, itemPath, inMain)),
    ...checkEach(initContainers, `${path}.initContainers`, (item, itemPath) =>
      checkContainer(item, itemPath, inInit),
    ),
  ];
}

function checkDns(spec: JsonObject, path: string): readonly FieldError[] {
  const policy = textAt(spec, 'dnsPolicy');
  if (!DNS_POLICIES.includes(policy)) return [notSupported(`${path}.dnsPolicy`, policy, DNS_POLICIES)];
  if (policy !== 'None') return [];
  const config = objectAt(spec, 'dnsConfig');
  if (!has(spec, 'dnsConfig'))
    return [required(`${path}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  return listAt(config, 'nameservers').length > 0
    ? []
    : [
        required(
          `${path}.dnsConfig.nameservers`,
          'must provide at least one DNS nameserver when `dnsPolicy` is None',
        ),
      ];
}

function checkNames(spec: JsonObject, path: string): readonly FieldError[] {
  const rules = [
    ['hostname', dnsLabelProblems],
    ['subdomain', dnsLabelProblems],
    ['serviceAccountName', dnsSubdomainProblems],
    ['nodeName', dnsSubdomainProblems],
    ['priorityClassName', dnsSubdomainProblems],
    ['runtimeClassName', dnsSubdomainProblems],
  ] as const;
  return rules.flatMap(([key, rule]) => {
    const value = textAt(spec, key);
    return value === '' ? [] : checkRule(`${path}.${key}`, value, rule);
  });
}

function checkDeadline(spec: JsonObject, path: string): readonly FieldError[] {
  const seconds = numberAt(spec, 'activeDeadlineSeconds');
  if (seconds === undefined || (seconds >= 1 && seconds <= LARGEST_INT32)) return [];
  const why = `must be between 1 and ${LARGEST_INT32}, inclusive`;
  return [invalid(`${path}.activeDeadlineSeconds`, seconds, why)];
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function checkToleration(toleration: JsonObject, path: string): readonly FieldError[] {
  const key = textAt(toleration, 'key');
  const operator = textAt(toleration, 'operator');
  const effect = textAt(toleration, 'effect');
  const errors: FieldError[] = key === '' ? [] : [...checkRule(`${path}.key`, key, qualifiedNameProblems)];
  if (key === '' && operator !== 'Exists') {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(`${path}.operator`, operator, why));
  }
  if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    errors.push(invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  errors.push(...checkOperator(toleration, path));
  return [...errors, ...(effect === '' ? [] : checkChoice(toleration, 'effect', path, EFFECTS))];
}

function checkOperator(toleration: JsonObject, path: string): readonly FieldError[] {
  const operator = textAt(toleration, 'operator');
  const value = textAt(toleration, 'value');
  if (operator === '' || operator === 'Equal') return checkRule(`${path}.operator`, value, labelValueProblems);
  if (operator !== 'Exists') return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists'])];
  return value === ''
    ? []
    : [invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'")];
}

/** The template of pods inside a workload: labels of its own and a spec. */
export const checkPodTemplate = (
  template: JsonObject,
  path: string,
  claims: readonly string[] = [],
): readonly FieldError[] => [
  ...checkLabels(objectAt(objectAt(template, 'metadata'), 'labels'), `${path}.labels`),
  ...checkPodSpec(objectAt(template, 'spec'), `${path}.spec`, claims),
];
