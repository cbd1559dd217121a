import { labelValueProblems, qualifiedNameProblems } from './names.ts';

const KUBERNETES_DOMAINS = ['kubernetes.io', 'k8s.io'];
/** Of these a kubelet takes every label for its own node. */
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const KUBELET_LABELS = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
const ROLE_DOMAIN = 'node-role.kubernetes.io';

const domainOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));

const isBelow = (domain: string, parents: readonly string[]): boolean =>
  parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));

/**
 * A role of the node. The kubelet of Kubernetes refuses to give itself one, while that of OpenShift is started with some:
 * which ones a kubelet takes depends on whose it is.
 */
export const isRoleLabel = (key: string): boolean => domainOf(key) === ROLE_DOMAIN;

/** Pure: `a=b,c=d` as a kubelet reads its flag `--node-labels`. */
export const nodeLabelsOf = (text: string): readonly (readonly [key: string, value: string])[] =>
  text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [part.trim(), ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    });

/** Pure: why no kubelet starts with a label of this key; empty when one may. */
export function kubeletKeyProblems(key: string): readonly string[] {
  const problems = qualifiedNameProblems(key);
  const isForeign = isBelow(domainOf(key), KUBERNETES_DOMAINS) && !isRoleLabel(key);
  if (!isForeign || isBelow(domainOf(key), KUBELET_DOMAINS) || KUBELET_LABELS.includes(key)) return problems;
  const domains = KUBELET_DOMAINS.map((domain) => `${domain}/`).join(' or ');
  return [
    ...problems,
    `of the labels of ${KUBERNETES_DOMAINS.join(' and ')} it takes those that begin with ${domains}, and ${KUBELET_LABELS.join(', ')}`,
  ];
}

/** The same for the whole label. */
export const kubeletLabelProblems = (key: string, value: string): readonly string[] => [
  ...kubeletKeyProblems(key),
  ...labelValueProblems(value),
];
