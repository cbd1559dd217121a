import { isIP } from 'node:net';
import {
  childPath,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { dnsSubdomainProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { isCidr, isStrictlyInside } from './addresses.ts';
import { checkChoice, checkEach, checkImmutable, checkPortNumber, checkRule } from './checks.ts';
import { checkPort } from './container-validation.ts';
import { has, numberAt, objectAt, objectsAt, optionalAt, setDefault, specOf, textAt, textsAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { checkSelector } from './label-selectors.ts';

export const networkPolicyStrategy = (): Strategy =>
  kindStrategy({
    type: 'networking.v1.NetworkPolicy',
    tracksGeneration: true,
    setDefaults(object) {
      const spec = specOf(object);
      for (const rule of rulesOf(spec))
        for (const port of objectsAt(rule, 'ports')) setDefault(port, 'protocol', 'TCP');
      const hasEgress = objectsAt(spec, 'egress').length > 0;
      setDefault(spec, 'policyTypes', hasEgress ? ['Ingress', 'Egress'] : ['Ingress']);
    },
    validate: (object) => checkPolicy(specOf(object)),
  });

const rulesOf = (spec: JsonObject): readonly JsonObject[] => [
  ...objectsAt(spec, 'ingress'),
  ...objectsAt(spec, 'egress'),
];

function checkPolicy(spec: JsonObject): readonly FieldError[] {
  const types = textsAt(spec, 'policyTypes');
  return [
    ...checkSelector(objectAt(spec, 'podSelector'), 'spec.podSelector'),
    ...checkEach(objectsAt(spec, 'ingress'), 'spec.ingress', (rule, path) => checkTraffic(rule, path, 'from')),
    ...checkEach(objectsAt(spec, 'egress'), 'spec.egress', (rule, path) => checkTraffic(rule, path, 'to')),
    ...types.flatMap((type, index) =>
      type === 'Ingress' || type === 'Egress'
        ? []
        : [notSupported(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress'])],
    ),
  ];
}

const checkTraffic = (rule: JsonObject, path: string, peers: string): readonly FieldError[] => [
  ...checkEach(objectsAt(rule, 'ports'), `${path}.ports`, checkPolicyPort),
  ...checkEach(objectsAt(rule, peers), `${path}.${peers}`, checkPeer),
];

function checkPolicyPort(port: JsonObject, path: string): readonly FieldError[] {
  const number = port['port'];
  const end = numberAt(port, 'endPort');
  const isBackwards = typeof number === 'number' && end !== undefined && end < number;
  return [
    ...checkChoice(port, 'protocol', path, ['TCP', 'UDP', 'SCTP']),
    ...(has(port, 'port') ? checkPort(number, `${path}.port`) : []),
    ...(isBackwards ? [invalid(`${path}.endPort`, number, 'must be greater than or equal to `port`')] : []),
  ];
}

function checkPeer(peer: JsonObject, path: string): readonly FieldError[] {
  const given = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((key) => has(peer, key));
  if (given.length === 0) return [required(path, 'must specify a peer')];
  const block = optionalAt(peer, 'ipBlock');
  return [
    ...['podSelector', 'namespaceSelector'].flatMap((key) => checkSelector(objectAt(peer, key), `${path}.${key}`)),
    ...(block === undefined ? [] : checkBlock(block, `${path}.ipBlock`)),
    ...(block !== undefined && given.length > 1
      ? [forbidden(path, 'may not specify both ipBlock and another peer')]
      : []),
  ];
}

const CIDR_TEXT = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function checkBlock(block: JsonObject, path: string): readonly FieldError[] {
  const cidr = textAt(block, 'cidr');
  if (cidr === '') return [required(`${path}.cidr`)];
  if (!isCidr(cidr)) return [invalid(`${path}.cidr`, cidr, CIDR_TEXT)];
  return textsAt(block, 'except').flatMap((part, index) => {
    const partPath = `${path}.except[${index}]`;
    if (!isCidr(part)) return [invalid(partPath, part, CIDR_TEXT)];
    return isStrictlyInside(part, cidr) ? [] : [invalid(partPath, part, 'must be a strict subset of `cidr`')];
  });
}

export const ingressStrategy = (): Strategy =>
  kindStrategy({
    type: 'networking.v1.Ingress',
    tracksGeneration: true,
    newStatus: () => ({ loadBalancer: {} }),
    validate: (object) => checkIngress(specOf(object)),
  });

function checkIngress(spec: JsonObject): readonly FieldError[] {
  const rules = objectsAt(spec, 'rules');
  const isEmpty = rules.length === 0 && !has(spec, 'defaultBackend');
  const backend = optionalAt(spec, 'defaultBackend');
  return [
    ...(isEmpty ? [invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')] : []),
    ...(backend === undefined ? [] : checkBackend(backend, 'spec.defaultBackend')),
    ...checkEach(rules, 'spec.rules', (rule, path) => [
      ...checkHost(textAt(rule, 'host'), `${path}.host`),
      ...(has(rule, 'http') ? checkPaths(objectAt(rule, 'http'), `${path}.http.paths`) : []),
    ]),
  ];
}

function checkHost(host: string, path: string): readonly FieldError[] {
  if (host === '') return [];
  if (isIP(host) !== 0) return [invalid(path, host, 'must be a DNS name, not an IP address')];
  if (!host.includes('*')) return checkRule(path, host, dnsSubdomainProblems);
  const pattern = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
  const isWild = host.startsWith('*.') && dnsSubdomainProblems(host.slice(2)).length === 0;
  const why = `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${pattern}')`;
  return isWild ? [] : [invalid(path, host, why)];
}

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

function checkPaths(http: JsonObject, path: string): readonly FieldError[] {
  const paths = objectsAt(http, 'paths');
  return paths.length === 0 ? [required(path)] : checkEach(paths, path, checkHttpPath);
}

function checkHttpPath(item: JsonObject, path: string): readonly FieldError[] {
  if (!has(item, 'pathType')) return [required(`${path}.pathType`, 'pathType must be specified')];
  const type = textAt(item, 'pathType');
  const place = textAt(item, 'path');
  const isRelative = type !== 'ImplementationSpecific' && PATH_TYPES.includes(type) && !place.startsWith('/');
  return [
    ...checkChoice(item, 'pathType', path, PATH_TYPES),
    ...(isRelative ? [invalid(`${path}.path`, place, 'must be an absolute path')] : []),
    ...checkBackend(objectAt(item, 'backend'), `${path}.backend`),
  ];
}

function checkBackend(backend: JsonObject, path: string): readonly FieldError[] {
  const service = optionalAt(backend, 'service');
  if (service === undefined) {
    return has(backend, 'resource') ? [] : [invalid(path, '', 'resource or service backend is required')];
  }
  if (has(backend, 'resource')) {
    return [invalid(path, '', 'cannot set both resource and service backends')];
  }
  const port = objectAt(service, 'port');
  const number = numberAt(port, 'number') ?? 0;
  const portPath = `${path}.service.port`;
  return [
    ...(textAt(service, 'name') === '' ? [required(`${path}.service.name`)] : []),
    ...(number === 0 && textAt(port, 'name') === ''
      ? [required(portPath, 'port name or number is required')]
      : []),
    ...(number === 0 ? [] : checkPortNumber(`${portPath}.number`, number)),
  ];
}

export const ingressClassStrategy = (): Strategy =>
  kindStrategy({
    type: 'networking.v1.IngressClass',
    tracksGeneration: true,
    setDefaults(object) {
      const parameters = optionalAt(specOf(object), 'parameters');
      if (parameters !== undefined) setDefault(parameters, 'scope', 'Cluster');
    },
    validate: (object) =>
      textAt(specOf(object), 'controller') === '' ? [required(childPath('spec', 'controller'))] : [],
    validateChange: (object, old) => checkImmutable(specOf(object), specOf(old), 'controller', 'spec'),
  });
