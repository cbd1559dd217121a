import { type FieldError, forbidden, invalid, notFoundValue, required } from '../../object/field-error.ts';
import type { Json, JsonObject } from '../../object/json.ts';
import { dnsLabelProblems } from '../../object/names.ts';
import {
  checkChoice,
  checkEach,
  checkName,
  checkNotNegative,
  checkPortNumber,
  checkRule,
  checkUnique,
  NOT_NEGATIVE,
} from './checks.ts';
import { has, numberAt, objectAt, objectsAt, optionalAt, textAt } from './fields.ts';
import { configKeyProblems, portNameProblems, portNumberProblems, variableNameProblems } from './name-rules.ts';
import { canonicalAmount, isAbove, isNegative } from './quantities.ts';

export interface ContainerRules {
  readonly volumes: ReadonlySet<string>;
  readonly isHostNetwork: boolean;
  /** Init containers that are not sidecars run to their end: nothing may probe them. */
  readonly isInit: boolean;
}

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

export function checkContainer(container: JsonObject, path: string, rules: ContainerRules): readonly FieldError[] {
  return [
    ...checkName(`${path}.name`, textAt(container, 'name'), dnsLabelProblems),
    ...checkImage(textAt(container, 'image'), `${path}.image`),
    ...checkChoice(container, 'imagePullPolicy', path, ['Always', 'IfNotPresent', 'Never']),
    ...checkChoice(container, 'terminationMessagePolicy', path, ['FallbackToLogsOnError', 'File']),
    ...checkPorts(container, path, rules),
    ...checkEach(objectsAt(container, 'env'), `${path}.env`, checkVariable),
    ...checkMounts(container, path, rules.volumes),
    ...checkResources(objectAt(container, 'resources'), `${path}.resources`),
    ...checkProbes(container, path, rules.isInit),
    ...checkHooks(objectAt(container, 'lifecycle'), `${path}.lifecycle`),
  ];
}

function checkImage(image: string, path: string): readonly FieldError[] {
  if (image === '') return [required(path)];
  return image === image.trim() ? [] : [invalid(path, image, 'must not have leading or trailing whitespace')];
}

function checkPorts(
  container: JsonObject,
  path: string,
  { isHostNetwork }: ContainerRules,
): readonly FieldError[] {
  const ports = objectsAt(container, 'ports');
  const names = ports.map((port) => textAt(port, 'name'));
  return [
    ...checkUnique(names, (index) => `${path}.ports[${index}].name`),
    ...checkEach(ports, `${path}.ports`, (port, portPath) => checkContainerPort(port, portPath, isHostNetwork)),
  ];
}

function checkContainerPort(port: JsonObject, path: string, isHostNetwork: boolean): readonly FieldError[] {
  const number = numberAt(port, 'containerPort') ?? 0;
  const hostPort = numberAt(port, 'hostPort') ?? 0;
  const name = textAt(port, 'name');
  const hostPath = `${path}.hostPort`;
  return [
    ...(name === '' ? [] : checkRule(`${path}.name`, name, portNameProblems)),
    ...(number === 0 ? [required(`${path}.containerPort`)] : checkPortNumber(`${path}.containerPort`, number)),
    ...(hostPort === 0 ? [] : checkPortNumber(hostPath, hostPort)),
    ...(isHostNetwork && hostPort !== 0 && hostPort !== number
      ? [invalid(hostPath, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
      : []),
    ...checkChoice(port, 'protocol', path, PROTOCOLS),
  ];
}

const VALUE_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

const POD_FIELDS = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.labels',
  'metadata.annotations',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

function checkVariable(variable: JsonObject, path: string): readonly FieldError[] {
  return [
    ...checkName(`${path}.name`, textAt(variable, 'name'), variableNameProblems),
    ...(has(variable, 'valueFrom') ? checkValueFrom(variable, `${path}.valueFrom`) : []),
  ];
}

function checkValueFrom(variable: JsonObject, path: string): readonly FieldError[] {
  const from = objectAt(variable, 'valueFrom');
  const given = VALUE_SOURCES.filter((name) => has(from, name));
  const errors: FieldError[] = [];
  if (given.length === 0) {
    const list = VALUE_SOURCES.map((name) => `\`${name}\``);
    errors.push(invalid(path, '', `must specify one of: ${list.slice(0, -1).join(', ')} or ${list.at(-1)}`));
  } else if (textAt(variable, 'value') !== '') {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (given.length > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  }
  errors.push(...checkFieldRef(objectAt(from, 'fieldRef'), `${path}.fieldRef`));
  for (const name of ['configMapKeyRef', 'secretKeyRef']) {
    if (has(from, name)) errors.push(...checkKeyRef(objectAt(from, name), `${path}.${name}`));
  }
  return errors;
}

function checkFieldRef(reference: JsonObject, path: string): readonly FieldError[] {
  const field = textAt(reference, 'fieldPath');
  if (!has(reference, 'fieldPath')) return [];
  const base = /^(metadata\.(?:labels|annotations))\['.*'\]$/.exec(field)?.[1] ?? field;
  if (field === '') return [required(`${path}.fieldPath`)];
  if (POD_FIELDS.has(base)) return [];
  return [invalid(`${path}.fieldPath`, field, `error converting fieldPath: field label not supported: ${field}`)];
}

const checkKeyRef = (reference: JsonObject, path: string): readonly FieldError[] => [
  ...(textAt(reference, 'name') === '' ? [required(`${path}.name`)] : []),
  ...checkName(`${path}.key`, textAt(reference, 'key'), configKeyProblems),
];

function checkMounts(container: JsonObject, path: string, volumes: ReadonlySet<string>): readonly FieldError[] {
  const seen = new Set<string>();
  return checkEach(objectsAt(container, 'volumeMounts'), `${path}.volumeMounts`, (mount, mountPath) => {
    const name = textAt(mount, 'name');
    const place = textAt(mount, 'mountPath');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${mountPath}.name`));
    if (!volumes.has(name)) errors.push(notFoundValue(`${mountPath}.name`, name));
    if (place === '') errors.push(required(`${mountPath}.mountPath`));
    if (seen.has(place)) errors.push(invalid(`${mountPath}.mountPath`, place, 'must be unique'));
    seen.add(place);
    return errors;
  });
}

function checkResources(resources: JsonObject, path: string): readonly FieldError[] {
  const limits = objectAt(resources, 'limits');
  const requests = objectAt(resources, 'requests');
  const above = Object.entries(requests).filter(
    ([name, value]) => has(limits, name) && isAbove(value, limits[name]),
  );
  return [
    ...checkAmounts(limits, `${path}.limits`),
    ...checkAmounts(requests, `${path}.requests`),
    ...above.map(([name, value]) =>
      invalid(`${path}.requests`, value, `must be less than or equal to ${name} limit of ${textAt(limits, name)}`),
    ),
  ];
}

/** Quantities by resource name; none may be negative. */
export function checkAmounts(amounts: JsonObject, path: string): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([name, value]) =>
    isNegative(value) ? [invalid(`${path}[${name}]`, canonicalAmount(value), NOT_NEGATIVE)] : [],
  );
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];

function checkProbes(container: JsonObject, path: string, isInit: boolean): readonly FieldError[] {
  const isPlainInit = isInit && textAt(container, 'restartPolicy') !== 'Always';
  return PROBES.flatMap((name) => {
    const probe = optionalAt(container, name);
    if (probe === undefined) return [];
    const probePath = `${path}.${name}`;
    if (isPlainInit) {
      return [forbidden(probePath, 'may not be set for init containers without restartPolicy=Always')];
    }
    const isOnce = name !== 'readinessProbe' && (numberAt(probe, 'successThreshold') ?? 1) !== 1;
    return [
      ...checkHandler(probe, probePath),
      ...PROBE_NUMBERS.flatMap((key) => checkNotNegative(probe, key, probePath)),
      ...(isOnce ? [invalid(`${probePath}.successThreshold`, probe['successThreshold'] ?? 0, 'must be 1')] : []),
    ];
  });
}

const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function checkHooks(lifecycle: JsonObject, path: string): readonly FieldError[] {
  return ['postStart', 'preStop'].flatMap((name) =>
    has(lifecycle, name) ? checkHandler(objectAt(lifecycle, name), `${path}.${name}`) : [],
  );
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];

/** Exactly one way to ask or tell a container something. */
function checkHandler(holder: JsonObject, path: string): readonly FieldError[] {
  const given = HANDLERS.filter((name) => has(holder, name));
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap((name, index) =>
    index > 0
      ? [forbidden(`${path}.${name}`, 'may not specify more than 1 handler type')]
      : checkHandlerFields(objectAt(holder, name), `${path}.${name}`, name),
  );
}

function checkHandlerFields(handler: JsonObject, path: string, name: string): readonly FieldError[] {
  if (name === 'exec') return has(handler, 'command') ? [] : [required(`${path}.command`)];
  if (name === 'sleep') return [];
  return [
    ...checkPort(handler['port'], `${path}.port`),
    ...(name === 'httpGet' ? checkChoice(handler, 'scheme', path, ['HTTP', 'HTTPS']) : []),
  ];
}

/** A port by number or by name. */
export function checkPort(port: Json | undefined, path: string): readonly FieldError[] {
  if (typeof port === 'string') return checkRule(path, port, portNameProblems);
  const number = typeof port === 'number' ? port : 0;
  return portNumberProblems(number).map((problem) => invalid(path, number, problem));
}
