import { type FieldError, invalid, notSupported, required } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import { dnsSubdomainProblems, pathSegmentProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkEach, checkRule } from './checks.ts';
import { ensureObject, listAt, objectAt, objectsAt, setDefaultText, textAt, textsAt } from './fields.ts';
import { type KindRules, kindStrategy } from './kind-strategy.ts';
import { checkSelector } from './label-selectors.ts';

const GROUP = 'rbac.authorization.k8s.io';

const rbacKind = (rules: KindRules): Strategy =>
  kindStrategy({ nameRule: 'path-segment', createsOnUpdate: true, ...rules });

export const roleStrategy = (): Strategy =>
  rbacKind({
    type: 'rbac.v1.Role',
    validate: (role) =>
      checkEach(objectsAt(role, 'rules'), 'rules', (rule, path) => checkPolicyRule(rule, path, true)),
  });

export const clusterRoleStrategy = (): Strategy =>
  rbacKind({
    type: 'rbac.v1.ClusterRole',
    validate: (role) => [
      ...checkEach(objectsAt(role, 'rules'), 'rules', (rule, path) => checkPolicyRule(rule, path, false)),
      ...checkEach(
        objectsAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors'),
        'aggregationRule.clusterRoleSelectors',
        checkSelector,
      ),
    ],
  });

function checkPolicyRule(rule: JsonObject, path: string, isNamespaced: boolean): readonly FieldError[] {
  const verbs =
    listAt(rule, 'verbs').length === 0 ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : [];
  const urls = textsAt(rule, 'nonResourceURLs');
  const urlsPath = `${path}.nonResourceURLs`;
  if (urls.length > 0) {
    const hasResources = ['apiGroups', 'resources', 'resourceNames'].some((key) => listAt(rule, key).length > 0);
    if (isNamespaced)
      return [...verbs, invalid(urlsPath, [...urls], 'namespaced rules cannot apply to non-resource URLs')];
    return hasResources
      ? [
          ...verbs,
          invalid(urlsPath, [...urls], 'rules cannot apply to both regular resources and non-resource URLs'),
        ]
      : verbs;
  }
  return [
    ...verbs,
    ...(listAt(rule, 'apiGroups').length === 0
      ? [required(`${path}.apiGroups`, 'resource rules must supply at least one api group')]
      : []),
    ...(listAt(rule, 'resources').length === 0
      ? [required(`${path}.resources`, 'resource rules must supply at least one resource')]
      : []),
  ];
}

export const roleBindingStrategy = (): Strategy =>
  bindingStrategy('rbac.v1.RoleBinding', ['Role', 'ClusterRole'], true);

export const clusterRoleBindingStrategy = (): Strategy =>
  bindingStrategy('rbac.v1.ClusterRoleBinding', ['ClusterRole'], false);

const bindingStrategy = (type: string, kinds: readonly string[], isNamespaced: boolean): Strategy =>
  rbacKind({
    type,
    setDefaults(binding) {
      setDefaultText(ensureObject(binding, 'roleRef'), 'apiGroup', GROUP);
      for (const subject of objectsAt(binding, 'subjects')) {
        if (['User', 'Group'].includes(textAt(subject, 'kind'))) setDefaultText(subject, 'apiGroup', GROUP);
      }
    },
    validate: (binding) => [
      ...checkRoleRef(objectAt(binding, 'roleRef'), kinds),
      ...checkEach(objectsAt(binding, 'subjects'), 'subjects', (subject, path) =>
        checkSubject(subject, path, isNamespaced),
      ),
    ],
    validateChange: checkSameRole,
  });

function checkRoleRef(reference: JsonObject, kinds: readonly string[]): readonly FieldError[] {
  const group = textAt(reference, 'apiGroup');
  const kind = textAt(reference, 'kind');
  const name = textAt(reference, 'name');
  return [
    ...(group === GROUP ? [] : [notSupported('roleRef.apiGroup', group, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : checkRule('roleRef.name', name, pathSegmentProblems)),
  ];
}

const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'];

function checkSubject(subject: JsonObject, path: string, isNamespaced: boolean): readonly FieldError[] {
  const kind = textAt(subject, 'kind');
  const name = textAt(subject, 'name');
  const group = textAt(subject, 'apiGroup');
  if (!SUBJECT_KINDS.includes(kind)) {
    return [...(name === '' ? [required(`${path}.name`)] : []), notSupported(`${path}.kind`, kind, SUBJECT_KINDS)];
  }
  const isAccount = kind === 'ServiceAccount';
  const wanted = isAccount ? '' : GROUP;
  return [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...(isAccount && name !== '' ? checkRule(`${path}.name`, name, dnsSubdomainProblems) : []),
    ...(group === wanted ? [] : [notSupported(`${path}.apiGroup`, group, [wanted])]),
    ...(isAccount && !isNamespaced && textAt(subject, 'namespace') === '' ? [required(`${path}.namespace`)] : []),
  ];
}

/** apiserver/Z4: a binding never changes what it grants. */
function checkSameRole(binding: JsonObject, old: JsonObject): readonly FieldError[] {
  if (jsonEqual(binding['roleRef'], old['roleRef'])) return [];
  const reference = objectAt(binding, 'roleRef');
  const shown = {
    APIGroup: textAt(reference, 'apiGroup'),
    Kind: textAt(reference, 'kind'),
    Name: textAt(reference, 'name'),
  };
  return [invalid('roleRef', undefined, `${JSON.stringify(shown)}: cannot change roleRef`)];
}
