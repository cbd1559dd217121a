import type { JsonObject } from '../../object/json.ts';
import { kubernetesVersion } from '../builtin-data/builtin-resources.ts';

export interface Release {
  /** Ours, such as `0.1.0`. */
  readonly version: string;
  readonly commit: string;
  /** RFC 3339. */
  readonly buildDate: string;
  /** `24.21.0`. */
  readonly nodeVersion: string;
  /** `linux/amd64`. */
  readonly platform: string;
}

/** `GET /version` (U8): the Kubernetes we behave like, and who we really are behind the plus sign. */
export function serverVersion({ version, commit, buildDate, nodeVersion, platform }: Release): JsonObject {
  const [major = '', minor = ''] = kubernetesVersion().slice(1).split('.');
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `v${major}.${minor}.0+slipway.${version}`,
    gitCommit: commit,
    gitTreeState: 'clean',
    buildDate,
    goVersion: `node${nodeVersion}`,
    compiler: 'v8',
    platform,
  };
}
