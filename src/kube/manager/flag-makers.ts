import type { Flag, FlagType } from './flag-parser.ts';

const flag =
  (type: FlagType) =>
  (name: string, standard: string, description: string): Flag => ({ name, type, default: standard, description });

export const textFlag = flag('text');
export const switchFlag = flag('switch');
export const listFlag = flag('list');
export const itemsFlag = flag('items');
export const durationFlag = flag('duration');

export const portFlag = (name: string, standard: string, description: string): Flag => ({
  ...flag('number')(name, standard, description),
  range: [0, 65_535],
});

/** Any whole number: for what it must not be, the program has words of its own. */
export const wholeFlag = (name: string, standard: string, description: string): Flag => ({
  ...flag('number')(name, standard, description),
  range: [-2_147_483_648, 2_147_483_647],
});

export const choiceFlag = (
  [name, standard]: readonly [string, string],
  choices: readonly string[],
  description: string,
): Flag => ({ ...flag('choice')(name, standard, description), choices });

/** How a program with the flags of upstream reaches the API server. */
export const API_PLACE_FLAGS: readonly Flag[] = [
  textFlag('kubeconfig', '', 'Kubeconfig file; else KUBECONFIG, the pod, ~/.kube/config.'),
  textFlag(
    'apiserver-env-file',
    '',
    'File whose KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT win over those of the pod; ignored when missing.',
  ),
];

/** What a program with the flags of upstream logs. */
export const LOG_FLAGS: readonly Flag[] = [
  {
    ...flag('number')('v', '0', 'How much is logged: 4 or more for everything.'),
    range: [0, 10],
  },
  choiceFlag(['logging-format', 'text'], ['text', 'json'], 'How it is logged.'),
];
