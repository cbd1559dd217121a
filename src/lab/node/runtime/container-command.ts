import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import type { ContainerStart } from './container-runtime.ts';
import type { CatalogueImage } from './image-catalogue.ts';

/**
 * Program and arguments of a container (N11): `command` replaces the entrypoint and drops CMD, `args` replaces CMD. A
 * program that the image maps is that of this machine; `bind` comes last (X8).
 */
export function containerArgv(
  { argv, entrypoint = 1, bind = [], programs = {} }: CatalogueImage,
  { command, args, address }: Pick<ContainerStart, 'command' | 'args' | 'address'>,
): readonly string[] {
  const defaults = command === undefined ? argv.slice(entrypoint) : [];
  const [program = '', ...rest] = [...(command ?? argv.slice(0, entrypoint)), ...(args ?? defaults)];
  const bound = bind.map((text) => text.replaceAll('{{wire}}', () => address?.wire ?? ''));
  return [Object.hasOwn(programs, program) ? (programs[program] ?? program) : program, ...rest, ...bound];
}

const LONGEST_HOSTNAME = 63;

/** What the containers of a pod think their machine is called. */
export function podHostname({ metadata, spec }: Pod): string {
  if (spec.hostNetwork === true) return spec.nodeName ?? metadata.name;
  return spec.hostname ?? metadata.name.slice(0, LONGEST_HOSTNAME).replace(/[-.]+$/, '');
}

/** Why a container that must not run as root may not start (P11); undefined when it may. */
export function nonRootProblem(pod: Pod, container: Container, image: CatalogueImage): string | undefined {
  const { runAsNonRoot, runAsUser } = { ...pod.spec.securityContext, ...container.securityContext };
  if (runAsNonRoot !== true || (runAsUser ?? image.user ?? 0) !== 0) return undefined;
  const { name, namespace = '', uid = '' } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
  return runAsUser === 0
    ? `container's runAsUser breaks non-root policy ${where}`
    : `container has runAsNonRoot and image will run as root ${where}; give the image another user in the catalogue`;
}

const ENFORCED = new Set(['runAsNonRoot']);

/** What the lab takes note of and does not enforce, as field paths (P11). */
export function unenforced({ spec }: Pod): readonly string[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const own = containers.flatMap(({ resources, securityContext }) => [
    ...(resources?.limits === undefined ? [] : ['resources.limits']),
    ...contextFields(securityContext),
  ]);
  return [...new Set([...own, ...contextFields(spec.securityContext)])].toSorted();
}

const contextFields = (context: object = {}): readonly string[] =>
  Object.keys(context)
    .filter((field) => !ENFORCED.has(field))
    .map((field) => `securityContext.${field}`);
