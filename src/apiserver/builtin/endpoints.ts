import { isIPv4, isIPv6 } from 'node:net';
import { type FieldError, invalid, keyPath, notSupported, required } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { endpointAddressProblem } from './addresses.ts';
import {
  checkChoice,
  checkEach,
  checkImmutable,
  checkIp,
  checkPortNumber,
  checkRule,
  checkUnique,
} from './checks.ts';
import { PROTOCOLS } from './container-validation.ts';
import { numberAt, objectsAt, setDefault, setDefaultText, textAt, textsAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';

export const endpointsStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.Endpoints',
    createsOnUpdate: true,
    setDefaults(object) {
      for (const subset of objectsAt(object, 'subsets')) {
        for (const port of objectsAt(subset, 'ports')) setDefaultText(port, 'protocol', 'TCP');
      }
    },
    validate: (object) => checkEach(objectsAt(object, 'subsets'), 'subsets', checkSubset),
  });

function checkSubset(subset: JsonObject, path: string): readonly FieldError[] {
  const ready = objectsAt(subset, 'addresses');
  const waiting = objectsAt(subset, 'notReadyAddresses');
  return [
    ...(ready.length + waiting.length === 0
      ? [required(path, 'must specify `addresses` or `notReadyAddresses`')]
      : []),
    ...checkEach(ready, `${path}.addresses`, checkAddress),
    ...checkEach(waiting, `${path}.notReadyAddresses`, checkAddress),
    ...checkEach(objectsAt(subset, 'ports'), `${path}.ports`, (port, portPath) => [
      ...checkPortNumber(`${portPath}.port`, numberAt(port, 'port') ?? 0),
      ...checkChoice(port, 'protocol', portPath, PROTOCOLS),
    ]),
  ];
}

function checkAddress(address: JsonObject, path: string): readonly FieldError[] {
  const ip = textAt(address, 'ip');
  const problem = endpointAddressProblem(ip);
  return [...checkIp(`${path}.ip`, ip), ...(problem === undefined ? [] : [invalid(`${path}.ip`, ip, problem)])];
}

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];

export const endpointSliceStrategy = (): Strategy =>
  kindStrategy({
    type: 'discovery.v1.EndpointSlice',
    tracksGeneration: true,
    // They say which service it belongs to.
    countedMetadata: 'labels',
    setDefaults(object) {
      for (const port of objectsAt(object, 'ports')) {
        setDefault(port, 'name', '');
        setDefault(port, 'protocol', 'TCP');
      }
    },
    validate: checkSlice,
    validateChange: (object, old) => checkImmutable(object, old, 'addressType'),
  });

function checkSlice(slice: JsonObject): readonly FieldError[] {
  const type = textAt(slice, 'addressType');
  if (type === '') return [required('addressType')];
  const ports = objectsAt(slice, 'ports');
  const names = ports.map((port) => textAt(port, 'name'));
  return [
    ...(ADDRESS_TYPES.includes(type) ? [] : [notSupported('addressType', type, ADDRESS_TYPES)]),
    ...checkUnique(names, (index) => `ports[${index}].name`),
    ...checkEach(ports, 'ports', (port, path) => [
      ...(textAt(port, 'name') === '' ? [] : checkRule(`${path}.name`, textAt(port, 'name'), dnsLabelProblems)),
      ...checkChoice(port, 'protocol', path, PROTOCOLS),
    ]),
    ...checkEach(objectsAt(slice, 'endpoints'), 'endpoints', (item, path) => checkEndpoint(item, path, type)),
  ];
}

function checkEndpoint(endpoint: JsonObject, path: string, type: string): readonly FieldError[] {
  const addresses = textsAt(endpoint, 'addresses');
  const listPath = `${path}.addresses`;
  if (addresses.length === 0) return [required(listPath, 'must contain at least 1 address')];
  return addresses.flatMap((address, index) => checkTyped(address, type, listPath, keyPath(listPath, index)));
}

function checkTyped(address: string, type: string, listPath: string, path: string): readonly FieldError[] {
  if (type === 'FQDN') return checkRule(path, address, dnsSubdomainProblems);
  const isRight = type === 'IPv4' ? isIPv4(address) : isIPv6(address);
  const problem = endpointAddressProblem(address);
  return [
    ...(isRight ? [] : [invalid(listPath, address, `must be an ${type} address`)]),
    ...(problem === undefined ? [] : [invalid(path, address, problem)]),
  ];
}
