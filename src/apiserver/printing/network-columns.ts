import { isIPv6 } from 'node:net';
import type { JsonObject } from '../../object/json.ts';
import {
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  optionalAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from '../builtin/fields.ts';
import { AGE, ageOf, count, firstFew, labelsText, NAME, selectorText, tableOf, text, wide } from './cells.ts';

const MOST = 3;

export const serviceColumns = tableOf(
  [NAME, text('Type'), text('Cluster-IP'), text('External-IP'), text('Port(s)'), AGE, wide('Selector')],
  (service, now) => {
    const spec = specOf(service);
    return [
      nameOf(service),
      textAt(spec, 'type'),
      textsAt(spec, 'clusterIPs')[0] ?? '<none>',
      externalText(spec, statusOf(service)),
      portsText(spec) || '<none>',
      ageOf(service, now),
      labelsText(objectAt(spec, 'selector')),
    ];
  },
);

const portsText = (spec: JsonObject): string =>
  objectsAt(spec, 'ports')
    .map((port) => {
      const nodePort = count(port, 'nodePort');
      return `${count(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textAt(port, 'protocol')}`;
    })
    .join(',');

function externalText(spec: JsonObject, status: JsonObject): string {
  const external = textsAt(spec, 'externalIPs');
  switch (textAt(spec, 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    case 'LoadBalancer':
      return [...balancerPoints(status), ...external].join(',') || '<pending>';
    case 'ExternalName':
      return textAt(spec, 'externalName');
    default:
      return '<unknown>';
  }
}

/** Addresses and names of a load balancer, each once, sorted. */
function balancerPoints(status: JsonObject): readonly string[] {
  const points = objectsAt(objectAt(status, 'loadBalancer'), 'ingress').map(
    (point) => textAt(point, 'ip') || textAt(point, 'hostname'),
  );
  return [...new Set(points.filter((point) => point !== ''))].sort();
}

export const endpointsColumns = tableOf([NAME, text('Endpoints'), AGE], (object, now) => [
  nameOf(object),
  endpointsText(objectsAt(object, 'subsets')),
  ageOf(object, now),
]);

function endpointsText(subsets: readonly JsonObject[]): string {
  if (subsets.length === 0) return '<none>';
  const all = subsets.flatMap((subset) => {
    const ips = objectsAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
    const ports = objectsAt(subset, 'ports');
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => joined(ip, count(port, 'port'))));
  });
  return firstFew(all, MOST);
}

const joined = (ip: string, port: number): string => (isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`);

export const endpointSliceColumns = tableOf(
  [NAME, text('AddressType'), text('Ports'), text('Endpoints'), AGE],
  (object, now) => {
    const ports = objectsAt(object, 'ports').map((port) => {
      const number = numberAt(port, 'port');
      return number === undefined ? textAt(port, 'name') || '*' : String(number);
    });
    const addresses = objectsAt(object, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses'));
    return [
      nameOf(object),
      textAt(object, 'addressType'),
      firstFew(ports, MOST) || '<unset>',
      firstFew(addresses, MOST) || '<unset>',
      ageOf(object, now),
    ];
  },
);

export const ingressColumns = tableOf(
  [NAME, text('Class'), text('Hosts'), text('Address'), text('Ports'), AGE],
  (object, now) => {
    const spec = specOf(object);
    return [
      nameOf(object),
      has(spec, 'ingressClassName') ? textAt(spec, 'ingressClassName') : '<none>',
      hostsText(objectsAt(spec, 'rules')),
      balancerPoints(statusOf(object)).join(','),
      objectsAt(spec, 'tls').length > 0 ? '80, 443' : '80',
      ageOf(object, now),
    ];
  },
);

function hostsText(rules: readonly JsonObject[]): string {
  const hosts = rules.map((rule) => textAt(rule, 'host')).filter((host) => host !== '');
  if (hosts.length === 0) return '*';
  // Rules behind the last host that fits are counted, also those without one.
  const fits = hosts.slice(0, MOST).length === MOST && rules.length > MOST;
  return fits ? `${hosts.slice(0, MOST).join(',')} + ${rules.length - MOST} more...` : hosts.join(',');
}

const isDefault = (object: JsonObject, annotation: string): boolean =>
  textAt(objectAt(metadataOf(object), 'annotations'), annotation) === 'true';

export const ingressClassColumns = tableOf([NAME, text('Controller'), text('Parameters'), AGE], (object, now) => {
  const mark = isDefault(object, 'ingressclass.kubernetes.io/is-default-class') ? ' (default)' : '';
  return [
    `${nameOf(object)}${mark}`,
    textAt(specOf(object), 'controller'),
    parametersText(optionalAt(specOf(object), 'parameters')),
    ageOf(object, now),
  ];
});

function parametersText(parameters: JsonObject | undefined): string {
  if (parameters === undefined) return '<none>';
  const group = has(parameters, 'apiGroup') ? `.${textAt(parameters, 'apiGroup')}` : '';
  return `${textAt(parameters, 'kind')}${group}/${textAt(parameters, 'name')}`;
}

export const networkPolicyColumns = tableOf([NAME, text('Pod-Selector'), AGE], (object, now) => [
  nameOf(object),
  selectorText(objectAt(specOf(object), 'podSelector')),
  ageOf(object, now),
]);

export const serviceCidrColumns = tableOf([NAME, text('CIDRs'), AGE], (object, now) => [
  nameOf(object),
  textsAt(specOf(object), 'cidrs').join(','),
  ageOf(object, now),
]);

/** Upstream gives a third cell, the age, without a column for it; so do we. */
export const ipAddressColumns = tableOf([NAME, text('ParentRef')], (object, now) => [
  nameOf(object),
  parentText(optionalAt(specOf(object), 'parentRef')),
  ageOf(object, now),
]);

function parentText(parent: JsonObject | undefined): string {
  if (parent === undefined) return '<none>';
  const group = textAt(parent, 'group');
  const resource = `${textAt(parent, 'resource')}${group === '' ? '' : `.${group}`}`.toLowerCase();
  return [resource, textAt(parent, 'namespace'), textAt(parent, 'name')].filter((part) => part !== '').join('/');
}
