import type { JsonObject } from '../../object/json.ts';

/** What every config of ours says; hosts translate it upwards, so the lowest version that has all we need. */
export const IGNITION_VERSION = '3.1.0';

const EXECUTABLE = 0o755;
const EXECUTABLE_BY_ROOT = 0o700;

/** A unit and the script that it runs. */
export interface NodeStep {
  readonly unit: JsonObject;
  readonly file: JsonObject;
}

export interface StepOptions {
  readonly unit: string;
  /** Lines of the section Unit behind its description. */
  readonly description: string;
  readonly ordering: readonly string[];
  /** Lines of the section Service besides Type. */
  readonly service: readonly string[];
  readonly path: string;
  readonly script: string;
  /** Commands of users may hold secrets: nobody but root reads them. */
  readonly isPrivate?: boolean;
}

/** One thing that is done once per boot, before or after kubelet starts. */
export function nodeStep(options: StepOptions): NodeStep {
  const { unit, description, ordering, service, path, script, isPrivate = false } = options;
  const contents = [
    '[Unit]',
    `Description=${description}`,
    ...ordering,
    '',
    '[Service]',
    'Type=oneshot',
    ...service,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
  return {
    unit: { contents, enabled: true, name: unit },
    file: scriptFile(path, script, isPrivate ? EXECUTABLE_BY_ROOT : EXECUTABLE),
  };
}

const scriptFile = (path: string, text: string, mode: number): JsonObject => ({
  overwrite: true,
  path,
  user: { name: 'root' },
  contents: { source: `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString('base64')}` },
  mode,
});
