import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import { messageOf } from '../../../base/errors.ts';
import { ContainerProblem } from '../runtime/container-runtime.ts';
import { expanded } from './expansion.ts';
import { API_SERVICE, serviceVariables } from './service-variables.ts';
import type { StartSources } from './start-sources.ts';
import { ValueSources } from './value-sources.ts';

/** An event Warning of the pod; the container starts nevertheless. */
export interface StartWarning {
  readonly reason: 'InvalidEnvironmentVariableNames';
  readonly message: string;
}

/** What a container starts with; `command` and `args` are those of the image when they are absent. */
export interface ResolvedStart {
  readonly env: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly warnings: readonly StartWarning[];
}

/**
 * The environment, the command and the arguments of a container (N24): service variables, then `envFrom`, then `env`,
 * later ones win; references see what was defined before them. Rejects with a ContainerProblem
 * `CreateContainerConfigError` when something that is not optional is missing (N25): worth another try later.
 */
export async function resolveStart(pod: Pod, container: Container, sources: StartSources): Promise<ResolvedStart> {
  const services = new Map(serviceVariables(await linkedServices(pod, sources)));
  const values = new ValueSources(pod, container, sources);
  const { variables: own, warnings } = await imported(container, values);
  const valueOf = (name: string): string | undefined => own.get(name) ?? services.get(name);
  for (const { name, value = '', valueFrom } of container.env ?? []) {
    const found = value !== '' || valueFrom === undefined ? expanded(value, valueOf) : await values.of(valueFrom);
    if (found !== undefined) own.set(name, found);
  }
  const env = new Map([...services, ...own]);
  for (const [name, value] of env) checkProcessCanHave(name, value);
  const { command = [], args = [] } = container;
  const all = (texts: readonly string[]) => texts.map((text) => expanded(text, (name) => env.get(name)));
  return {
    env: Object.fromEntries(env),
    ...(command.length > 0 && { command: all(command) }),
    ...(args.length > 0 && { args: all(args) }),
    warnings,
  };
}

/** By name: a service of the pod's own namespace that is called as that of the API server takes its place. */
async function linkedServices(pod: Pod, sources: StartSources) {
  const { namespace = 'default' } = pod.metadata;
  const hasLinks = pod.spec.enableServiceLinks ?? true;
  try {
    const api = await sources.service(API_SERVICE);
    const own = hasLinks ? await sources.services(namespace) : [];
    const all = [...(api === undefined ? [] : [api]), ...own].filter(({ spec }) => hasAddress(spec?.clusterIP));
    return [...new Map(all.map((service) => [service.metadata.name, service])).values()];
  } catch (error) {
    // It runs without the API server (N37); what it finds there must not depend on it.
    if (isStatic(pod)) return [];
    throw new ContainerProblem('CreateContainerConfigError', `services cannot be read: ${messageOf(error)}`);
  }
}

const hasAddress = (clusterIP = ''): boolean => clusterIP !== '' && clusterIP !== 'None';

const CONFIG_SOURCE = 'kubernetes.io/config.source';

function isStatic({ metadata: { annotations = {} } }: Pod): boolean {
  const source = annotations[CONFIG_SOURCE];
  return source !== undefined && source !== 'api';
}

/** What the API server allows as a name: printable ASCII without an equals sign. */
const NAME = /^[ -<>-~]+$/;

async function imported({ envFrom = [] }: Container, values: ValueSources) {
  const variables = new Map<string, string>();
  const warnings: StartWarning[] = [];
  for (const source of envFrom) {
    const { what, entries } = await values.allOf(source);
    const named = entries.map(([key, value]) => [`${source.prefix ?? ''}${key}`, value] as const);
    const skipped = named.flatMap(([name]) => (NAME.test(name) ? [] : [name])).toSorted();
    for (const [name, value] of named) if (NAME.test(name)) variables.set(name, value);
    if (skipped.length > 0) warnings.push(skippedWarning(skipped, what));
  }
  return { variables, warnings };
}

const skippedWarning = (names: readonly string[], what: string): StartWarning => ({
  reason: 'InvalidEnvironmentVariableNames',
  message: `Keys [${names.join(', ')}] from the EnvFrom ${what} were skipped since they are considered invalid environment variable names.`,
});

/** An operating system ends a variable at its first NUL byte: a part of a value would go missing without a word. */
function checkProcessCanHave(name: string, value: string): void {
  if (!value.includes('\0')) return;
  const why = `environment variable ${name} holds a NUL byte, which no process can be given; mount it as a file instead`;
  throw new ContainerProblem('CreateContainerConfigError', why);
}
