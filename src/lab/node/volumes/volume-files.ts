import type {
  ConfigMap,
  Pod,
  Secret,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
} from '../../../api/generated/core-v1-types.ts';
import { downwardFiles } from './downward-files.ts';
import { type FilePayload, payloadPath } from './file-payload.ts';
import { configMapFiles, secretFiles } from './keyed-files.ts';
import { VolumeProblem } from './pod-volumes.ts';

const DEFAULT_MODE = 0o644;
/** Who runs as a known user is the only one to read the token. */
const OWN_TOKEN_MODE = 0o600;

/** An object of the API that a volume is made from. */
export interface VolumeReference {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
}

/** What was read for a volume before its files are made. */
export interface VolumeFacts {
  readonly configMap: (name: string) => ConfigMap | undefined;
  readonly secret: (name: string) => Secret | undefined;
  readonly token: (projection: ServiceAccountTokenProjection) => string;
  /** Of the node. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Volumes whose files the node writes itself: read-only for containers, and swapped as a whole (N27). */
export const isWritten = ({ configMap, secret, downwardAPI, projected }: Volume): boolean =>
  [configMap, secret, downwardAPI, projected].some((source) => source !== undefined);

export function referencesOf({ configMap, secret, projected }: Volume): readonly VolumeReference[] {
  const sources = [
    { configMap, secret: secret && { name: secret.secretName ?? '' } },
    ...(projected?.sources ?? []),
  ];
  return sources.flatMap((source): VolumeReference[] => [
    ...(source.configMap === undefined ? [] : [{ kind: 'ConfigMap' as const, name: source.configMap.name ?? '' }]),
    ...(source.secret === undefined ? [] : [{ kind: 'Secret' as const, name: source.secret.name ?? '' }]),
  ]);
}

export const tokensOf = ({ projected }: Volume): readonly ServiceAccountTokenProjection[] =>
  (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []);

/** The files of a volume that the node writes. Throws a VolumeProblem for what is missing and not optional. */
export function filesOf(pod: Pod, volume: Volume, facts: VolumeFacts): FilePayload {
  const { configMap, secret, downwardAPI, projected } = volume;
  const { defaultMode = DEFAULT_MODE } = configMap ?? secret ?? downwardAPI ?? projected ?? {};
  const sources: readonly VolumeProjection[] = projected?.sources ?? [
    {
      ...(configMap !== undefined && { configMap }),
      ...(downwardAPI !== undefined && { downwardAPI }),
      ...(secret !== undefined && { secret: { ...secret, name: secret.secretName ?? '' } }),
    },
  ];
  const files = sources.map((source) => [...sourceFiles(source, { pod, facts, defaultMode })]);
  return new Map(files.flat());
}

interface Making {
  readonly pod: Pod;
  readonly facts: VolumeFacts;
  readonly defaultMode: number;
}

function sourceFiles(source: VolumeProjection, { pod, facts, defaultMode }: Making): FilePayload {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (configMap !== undefined) {
    const { name = '', items, optional = false } = configMap;
    return configMapFiles(facts.configMap(name), { name, items, defaultMode, isOptional: optional });
  }
  if (secret !== undefined) {
    const { name = '', items, optional = false } = secret;
    return secretFiles(facts.secret(name), { name, items, defaultMode, isOptional: optional });
  }
  if (downwardAPI !== undefined) {
    return downwardFiles(downwardAPI.items ?? [], defaultMode, { pod, allocatable: facts.allocatable });
  }
  if (serviceAccountToken !== undefined) {
    const bytes = Buffer.from(facts.token(serviceAccountToken), 'utf8');
    const mode = hasKnownUser(pod) ? OWN_TOKEN_MODE : defaultMode;
    return new Map([[payloadPath(serviceAccountToken.path), { bytes, mode }]]);
  }
  const [kind = 'nothing'] = Object.keys(source);
  throw new VolumeProblem(
    'FailedMount',
    `the lab does not project ${kind}; it projects configMap, secret, downwardAPI and serviceAccountToken`,
  );
}

/** All containers run as the same user, and the pod says which. */
function hasKnownUser({ spec }: Pod): boolean {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const users = containers.map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  return users[0] !== undefined && users.every((user) => user === users[0]);
}
