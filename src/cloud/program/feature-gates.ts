/** Gates that a deployment may name, and what they are without it. */
const GATES = {
  AllAlpha: false,
  AllBeta: false,
  CloudControllerManagerWatchBasedRoutesReconciliation: true,
  CloudControllerManagerWebhook: false,
  CloudNodeAdditionalLabelsReconciliation: false,
  ContextualLogging: true,
  LoggingAlphaOptions: false,
  LoggingBetaOptions: true,
} as const;

export type FeatureGate = keyof typeof GATES;

export interface FeatureGates {
  /** What was said, else what holds without it. */
  isOn(gate: FeatureGate): boolean;
  readonly problems: readonly string[];
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** Reads `--feature-gates`: `Name=true` each, the last of two wins. */
export function readFeatureGates(entries: readonly string[]): FeatureGates {
  const said = new Map<string, boolean>();
  const problems: string[] = [];
  for (const entry of entries) {
    const [name = '', value] = entry.split('=', 2).map((part) => part.trim());
    const problem = problemOf(name, value);
    if (problem !== undefined) problems.push(problem);
    else said.set(name, TRUE.has(value ?? ''));
  }
  return { problems, isOn: (gate) => said.get(gate) ?? GATES[gate] };
}

function problemOf(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return `missing bool value for ${name}`;
  if (!TRUE.has(value) && !FALSE.has(value)) return `invalid value of ${name}=${value}: it is not true or false`;
  if (Object.hasOwn(GATES, name)) return undefined;
  return `unrecognized feature gate: ${name}; known are ${Object.keys(GATES).join(', ')}`;
}
