import { isIPv6 } from 'node:net';
import type { Service, ServicePort } from '../../../api/generated/core-v1-types.ts';

/** Where the API server is found; told to every container, whatever its pod says about service links. */
export const API_SERVICE = { namespace: 'default', name: 'kubernetes' } as const;

type Variable = readonly [name: string, value: string];

/**
 * Pure: the variables by which a container finds services (N24), `<NAME>_SERVICE_HOST` and those that Docker made for
 * links. Services without an address of their own have none.
 */
export const serviceVariables = (services: readonly Service[]): readonly Variable[] =>
  services.flatMap(({ metadata: { name }, spec }) => {
    const { clusterIP = '', ports = [] } = spec ?? {};
    const [first] = ports;
    if (clusterIP === '' || clusterIP === 'None' || first === undefined) return [];
    const prefix = variableName(name);
    const named = ports.flatMap((port): Variable[] =>
      port.name === undefined || port.name === ''
        ? []
        : [[`${prefix}_SERVICE_PORT_${variableName(port.name)}`, String(port.port)]],
    );
    return [
      [`${prefix}_SERVICE_HOST`, clusterIP],
      [`${prefix}_SERVICE_PORT`, String(first.port)],
      ...named,
      [`${prefix}_PORT`, urlOf(clusterIP, first)],
      ...ports.flatMap((port) => linkVariables(prefix, clusterIP, port)),
    ];
  });

function linkVariables(prefix: string, address: string, port: ServicePort): readonly Variable[] {
  const name = `${prefix}_PORT_${port.port}_${protocolOf(port).toUpperCase()}`;
  return [
    [name, urlOf(address, port)],
    [`${name}_PROTO`, protocolOf(port)],
    [`${name}_PORT`, String(port.port)],
    [`${name}_ADDR`, address],
  ];
}

const variableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();

const protocolOf = ({ protocol = 'TCP' }: ServicePort): string => protocol.toLowerCase();

const urlOf = (address: string, port: ServicePort): string =>
  `${protocolOf(port)}://${isIPv6(address) ? `[${address}]` : address}:${port.port}`;
