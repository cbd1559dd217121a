import { type FieldError, forbidden, invalid, keyPath, required } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { endpointAddressProblem, isCidr } from './addresses.ts';
import {
  checkChoice,
  checkEach,
  checkForbidden,
  checkIp,
  checkLabels,
  checkName,
  checkPortNumber,
  checkRule,
  checkUnique,
} from './checks.ts';
import { checkPort, PROTOCOLS } from './container-validation.ts';
import {
  has,
  numberAt,
  objectAt,
  objectsAt,
  optionalAt,
  setDefault,
  setDefaultText,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import {
  alignAddresses,
  allocateService,
  dropForType,
  isExternal,
  keepAllocated,
  needsClusterIp,
  releaseService,
  type ServicePools,
  setFamilies,
  settleService,
} from './service-addresses.ts';

const AFFINITY_SECONDS = 10_800;
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'";

/** Services; addresses and node ports come from the pools (§19). */
export const serviceStrategy = (pools: ServicePools): Strategy =>
  kindStrategy({
    type: 'core.v1.Service',
    nameRule: 'label',
    createsOnUpdate: true,
    returnsDeletedObject: true,
    selectableFields: {
      'spec.clusterIP': (service) => textAt(specOf(service), 'clusterIP'),
      'spec.type': (service) => textAt(specOf(service), 'type'),
    },
    newStatus: () => ({ loadBalancer: {} }),
    setDefaults: serviceDefaults,
    onCreate(service) {
      alignAddresses(specOf(service), undefined);
      setFamilies(specOf(service));
    },
    onUpdate(service, old) {
      const spec = specOf(service);
      alignAddresses(spec, specOf(old));
      dropForType(spec, specOf(old));
      keepAllocated(spec, specOf(old));
      setFamilies(spec);
      if (textAt(spec, 'type') !== 'LoadBalancer') service['status'] = { ...statusOf(old), loadBalancer: {} };
    },
    allocate: (service, old, { isDryRun }) => allocateService(service, old, pools, isDryRun),
    settle: (service, old) => settleService(service, old, pools),
    release: (service) => releaseService(service, pools),
    validate: (service) => checkService(specOf(service)),
    validateChange: (service, old) => checkServiceChange(specOf(service), specOf(old)),
  });

function serviceDefaults(service: JsonObject): void {
  const spec = specOf(service);
  setDefaultText(spec, 'sessionAffinity', 'None');
  affinityDefaults(spec);
  setDefaultText(spec, 'type', 'ClusterIP');
  for (const port of objectsAt(spec, 'ports')) {
    setDefaultText(port, 'protocol', 'TCP');
    setDefaultText(port, 'targetPort', port['port'] ?? 0);
  }
  if (isExternal(spec)) setDefaultText(spec, 'externalTrafficPolicy', 'Cluster');
  const type = textAt(spec, 'type');
  if (type !== 'ExternalName' && TYPES.includes(type)) setDefault(spec, 'internalTrafficPolicy', 'Cluster');
  if (type !== 'LoadBalancer') return;
  setDefault(spec, 'allocateLoadBalancerNodePorts', true);
  for (const point of objectsAt(objectAt(statusOf(service), 'loadBalancer'), 'ingress')) {
    if (textAt(point, 'ip') !== '') setDefault(point, 'ipMode', 'VIP');
  }
}

function affinityDefaults(spec: JsonObject): void {
  const affinity = textAt(spec, 'sessionAffinity');
  if (affinity === 'None') delete spec['sessionAffinityConfig'];
  if (affinity !== 'ClientIP') return;
  const client = optionalAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP');
  if (client === undefined || !has(client, 'timeoutSeconds')) {
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
  }
}

function checkService(spec: JsonObject): readonly FieldError[] {
  return [
    ...checkPorts(spec),
    ...checkLabels(objectAt(spec, 'selector'), 'spec.selector'),
    ...checkChoice(spec, 'sessionAffinity', 'spec', ['ClientIP', 'None']),
    ...checkChoice(spec, 'type', 'spec', TYPES),
    ...checkAddresses(spec),
    ...textsAt(spec, 'externalIPs').flatMap((ip, index) =>
      checkExternalIp(keyPath('spec.externalIPs', index), ip),
    ),
    ...checkPolicies(spec),
    ...checkBalancer(spec),
    ...(textAt(spec, 'type') === 'ExternalName' ? checkExternalName(spec) : []),
  ];
}

function checkExternalIp(path: string, ip: string): readonly FieldError[] {
  const errors = checkIp(path, ip);
  const problem = endpointAddressProblem(ip);
  return errors.length > 0 || problem === undefined ? errors : [invalid(path, ip, problem)];
}

const checkExternalName = (spec: JsonObject): readonly FieldError[] =>
  checkName('spec.externalName', textAt(spec, 'externalName').replace(/\.$/, ''), dnsSubdomainProblems);

function checkPorts(spec: JsonObject): readonly FieldError[] {
  const ports = objectsAt(spec, 'ports');
  const isOptional = textAt(spec, 'clusterIP') === 'None' || !needsClusterIp(spec);
  if (ports.length === 0) return isOptional ? [] : [required('spec.ports')];
  const names = ports.map((port) => textAt(port, 'name'));
  const type = textAt(spec, 'type');
  const isNameNeeded = ports.length > 1;
  return [
    ...checkUnique(names, (index) => `spec.ports[${index}].name`),
    ...checkEach(ports, 'spec.ports', (port, path) => checkServicePort(port, path, { type, isNameNeeded })),
    ...checkSamePorts(ports),
  ];
}

interface PortRules {
  readonly type: string;
  readonly isNameNeeded: boolean;
}

function checkServicePort(
  port: JsonObject,
  path: string,
  { type, isNameNeeded }: PortRules,
): readonly FieldError[] {
  const name = textAt(port, 'name');
  return [
    ...(name === '' && isNameNeeded ? [required(`${path}.name`)] : []),
    ...(name === '' ? [] : checkRule(`${path}.name`, name, dnsLabelProblems)),
    ...checkPortNumber(`${path}.port`, numberAt(port, 'port') ?? 0),
    ...checkChoice(port, 'protocol', path, PROTOCOLS),
    ...checkPort(port['targetPort'], `${path}.targetPort`),
    ...((numberAt(port, 'nodePort') ?? 0) > 0 && (type === 'ClusterIP' || type === 'ExternalName')
      ? [forbidden(`${path}.nodePort`, `may not be used when \`type\` is '${type}'`)]
      : []),
  ];
}

/** Upstream shows the Go struct it compares by, with everything but protocol and port left empty. */
function checkSamePorts(ports: readonly JsonObject[]): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const protocol = textAt(port, 'protocol');
    const key = `${protocol}/${numberAt(port, 'port')}`;
    const isSeen = seen.has(key);
    seen.add(key);
    if (!isSeen) return [];
    const shown = {
      Name: '',
      Protocol: protocol,
      AppProtocol: null,
      Port: port['port'],
      TargetPort: 0,
      NodePort: 0,
    };
    const message = `Duplicate value: ${JSON.stringify(shown)}`;
    return [{ reason: 'FieldValueDuplicate', field: `spec.ports[${index}]`, message } as const];
  });
}

function checkAddresses(spec: JsonObject): readonly FieldError[] {
  const type = textAt(spec, 'type');
  return textsAt(spec, 'clusterIPs').flatMap((address, index) => {
    const path = keyPath('spec.clusterIPs', index);
    if (type === 'ExternalName') return [forbidden('spec.clusterIPs', 'may not be set for ExternalName services')];
    if (address !== 'None') return checkIp(path, address);
    const isAllowed = type === 'ClusterIP';
    return isAllowed ? [] : [invalid(path, address, `may not be set to 'None' for ${type} services`)];
  });
}

function checkPolicies(spec: JsonObject): readonly FieldError[] {
  const external = textAt(spec, 'externalTrafficPolicy');
  const choices = ['Cluster', 'Local'];
  return [
    ...checkChoice(spec, 'internalTrafficPolicy', 'spec', choices),
    ...(external !== '' && !isExternal(spec)
      ? [invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services')]
      : []),
    ...(external !== '' && isExternal(spec) ? checkChoice(spec, 'externalTrafficPolicy', 'spec', choices) : []),
    ...checkChoice(spec, 'ipFamilyPolicy', 'spec', ['SingleStack', 'PreferDualStack', 'RequireDualStack']),
  ];
}

function checkBalancer(spec: JsonObject): readonly FieldError[] {
  const ranges = textsAt(spec, 'loadBalancerSourceRanges');
  const badRange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
  if (textAt(spec, 'type') === 'LoadBalancer') {
    return ranges.flatMap((range, index) =>
      isCidr(range.trim()) ? [] : [invalid(`spec.LoadBalancerSourceRanges[${index}]`, range, badRange)],
    );
  }
  return [
    ...checkForbidden(spec, 'allocateLoadBalancerNodePorts', 'spec', BALANCER_ONLY),
    ...checkForbidden(spec, 'loadBalancerClass', 'spec', BALANCER_ONLY),
    ...(ranges.length > 0 ? [forbidden('spec.LoadBalancerSourceRanges', BALANCER_ONLY)] : []),
  ];
}

function checkServiceChange(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const isKept = needsClusterIp(spec) && needsClusterIp(old);
  const before = textsAt(old, 'clusterIPs');
  const now = textsAt(spec, 'clusterIPs');
  if (isKept && before.length > 0 && now[0] !== before[0]) {
    errors.push(invalid('spec.clusterIPs[0]', [...now], 'may not change once set'));
  }
  const areBalancers = textAt(spec, 'type') === 'LoadBalancer' && textAt(old, 'type') === 'LoadBalancer';
  if (areBalancers && !jsonEqual(spec['loadBalancerClass'], old['loadBalancerClass'])) {
    errors.push(invalid('spec.loadBalancerClass', spec['loadBalancerClass'] ?? null, 'may not change once set'));
  }
  return errors;
}
