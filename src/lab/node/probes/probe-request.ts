import type { Container, EnvVar, HTTPGetAction, HTTPHeader } from '../../../api/generated/core-v1-types.ts';
import { expanded } from '../environment/expansion.ts';

/** A probe that cannot be made as it is written. */
export class ProbeProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProbeProblem';
  }
}

/** Pure: a number, or the port of the container with that name. Throws a ProbeProblem. */
export function containerPort(port: number | string, { name, ports = [] }: Container): number {
  const found = typeof port === 'number' ? port : ports.find((one) => one.name === port)?.containerPort;
  if (found === undefined) throw new ProbeProblem(`port "${port}" not found in container ${name}`);
  if (!Number.isInteger(found) || found <= 0 || found > 65_535) {
    throw new ProbeProblem(`invalid port number: ${found}; allowed are 1 to 65535`);
  }
  return found;
}

export interface HttpRequest {
  readonly url: URL;
  /** In the order given; a name may come more than once. */
  readonly headers: readonly HTTPHeader[];
}

/** Pure: the request of an HTTP probe (N21). Throws a ProbeProblem. */
export function httpRequest(
  action: HTTPGetAction,
  container: Container,
  { host, userAgent }: { readonly host: string; readonly userAgent: string },
): HttpRequest {
  const { scheme = 'HTTP', path = '/', httpHeaders = [] } = action;
  const port = containerPort(action.port, container);
  const origin = `${scheme.toLowerCase()}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const url = URL.parse(path, origin);
  if (url === null) throw new ProbeProblem(`"${path}" at ${origin} is no URL that can be asked for`);
  // A path that names another server, as //there/x does, still goes to this one.
  const own = new URL(origin);
  own.pathname = url.pathname;
  own.search = url.search;
  return { url: own, headers: withDefaults(httpHeaders, { 'User-Agent': userAgent, Accept: '*/*' }) };
}

/** A header that is given without a value is not sent. */
function withDefaults(given: readonly HTTPHeader[], defaults: Readonly<Record<string, string>>): HTTPHeader[] {
  const names = new Set(given.map(({ name }) => name.toLowerCase()));
  const missing = Object.entries(defaults).filter(([name]) => !names.has(name.toLowerCase()));
  const isDefault = (name: string) =>
    Object.keys(defaults).some((one) => one.toLowerCase() === name.toLowerCase());
  return [
    ...missing.map(([name, value]) => ({ name, value })),
    ...given.filter(({ name, value }) => value !== '' || !isDefault(name)),
  ];
}

/**
 * Pure: the command of an exec probe. Only values that stand in the manifest are known (N21): one that comes from
 * elsewhere counts as empty, as upstream has it.
 */
export function probeCommand(command: readonly string[], env: readonly EnvVar[]): readonly string[] {
  const values = new Map(env.map(({ name, value = '' }) => [name, value]));
  return command.map((text) => expanded(text, (name) => values.get(name)));
}
